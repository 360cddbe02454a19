//! Numbers of variable length: [`VarInt`], [`SignedVarInt`] and [`Signed`].
//!
//! Unsigned numbers are LEB128. Signed ones have a first byte of `more | negative | 6 bits` (it is not
//! ZigZag), so `-0` exists, and [`Signed`] keeps it. Overlong forms are read as JavaScript reads them; a
//! number that does not fit its type is [`Error::InvalidVarInt`]. One-byte numbers take a short path.

use crate::error::Error;
use crate::read::Read;
use crate::write::Write;

/// A number that can be written and read at variable length.
pub trait VarInt: Sized + Copy {
    /// Writes the number.
    fn write<W: Write>(&self, w: &mut W);

    /// Reads a number.
    ///
    /// # Errors
    /// [`Error::InvalidVarInt`] if it does not fit, [`Error::EndOfBuffer`] if it is cut.
    fn read<R: Read>(r: &mut R) -> Result<Self, Error>;
}

/// A number that can be written and read with its sign, `-0` included.
pub trait SignedVarInt: Sized + Copy {
    /// Writes the number with its sign.
    fn write_signed<W: Write>(value: &Signed<Self>, w: &mut W);

    /// Reads a number and its sign.
    ///
    /// # Errors
    /// [`Error::InvalidVarInt`] if it does not fit, [`Error::EndOfBuffer`] if it is cut.
    fn read_signed<R: Read>(r: &mut R) -> Result<Signed<Self>, Error>;
}

/// A number with a sign of its own, so that `0` and `-0` differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signed<T: Sized + Copy> {
    value: T,
    is_negative: bool,
}

impl<T: Sized + Copy> Signed<T> {
    /// Pairs a value (itself negative if it is not zero and `is_negative`) with its sign.
    pub fn new(value: T, is_negative: bool) -> Self {
        Self { value, is_negative }
    }

    /// Tells whether the sign is plus.
    pub fn is_positive(&self) -> bool {
        !self.is_negative
    }

    /// Tells whether the sign is minus, also for `-0`.
    pub fn is_negative(&self) -> bool {
        self.is_negative
    }

    /// Returns the value.
    pub fn value(&self) -> T {
        self.value
    }

    /// Changes the value, not the sign.
    pub fn map<F, U>(&self, f: F) -> Signed<U>
    where
        F: FnOnce(T) -> U,
        U: Sized + Copy,
    {
        Signed::new(f(self.value), self.is_negative)
    }
}

/// Numbers below this take at most 8 bytes.
pub(crate) const WORD_MAX: u64 = 1 << 56;

/// Encodes a number below [`WORD_MAX`] into the low bytes of a word, and counts them: the reverse of [`decode_word`]. No
/// branch depends on the number, of which nobody can guess the length.
#[inline]
pub(crate) fn encode_word(value: u64) -> (u64, usize) {
    debug_assert!(value < WORD_MAX, "{value} takes more than 8 bytes");
    let len = (u64::BITS - (value | 1).leading_zeros()).div_ceil(7);
    // The 7-bit groups are pulled apart: by 28, by 14, by 7 bits.
    let mut word = (value & 0x0000_0000_0fff_ffff) | ((value & 0x00ff_ffff_f000_0000) << 4);
    word = (word & 0x0000_3fff_0000_3fff) | ((word & 0x0fff_c000_0fff_c000) << 2);
    word = (word & 0x007f_007f_007f_007f) | ((word & 0x3f80_3f80_3f80_3f80) << 1);
    // All bytes but the last say that more follow.
    let more = 0x8080_8080_8080_8080 & (u64::MAX >> (u64::BITS - 8 * len) >> 8);
    (word | more, len as usize)
}

#[inline]
fn write_u64<W: Write>(value: u64, w: &mut W) {
    if value < 0x80 {
        return w.write_u8(value as u8);
    }
    if value < WORD_MAX {
        let (word, len) = encode_word(value);
        return w.write_few(&word.to_le_bytes(), len);
    }
    write_long(value, w);
}

/// Writes a number byte by byte.
#[cold]
fn write_long<W: Write>(mut value: u64, w: &mut W) {
    while value >= 0x80 {
        w.write_u8(value as u8 | 0x80);
        value >>= 7;
    }
    w.write_u8(value as u8);
}

/// Reads an unsigned number byte by byte.
pub(crate) fn read_bytewise<R: Read>(r: &mut R) -> Result<u64, Error> {
    let (mut num, mut shift) = (0_u64, 0_u32);
    loop {
        let byte = r.read_u8()?;
        let bits = u64::from(byte & 0x7f);
        if shift < u64::BITS - 7 {
            num |= bits << shift;
        } else if bits != 0 {
            // Bits that would be shifted out make the number too large; zeros there are only overlong.
            let shifted = bits.checked_shl(shift).filter(|s| s >> shift == bits);
            let Some(shifted) = shifted else { return Err(Error::InvalidVarInt) };
            num |= shifted;
        }
        if byte < 0x80 {
            return Ok(num);
        }
        shift = shift.saturating_add(7);
    }
}

/// Decodes the number that `bytes` begins with, and counts its bytes, in a few instructions on a word.
///
/// `None` if it takes more than 8 bytes, or fewer than 8 are there to look at.
#[inline]
pub(crate) fn decode_word(bytes: &[u8]) -> Option<(u64, usize)> {
    let word = u64::from_le_bytes(*bytes.first_chunk()?);
    let stops = !word & 0x8080_8080_8080_8080;
    if stops == 0 {
        return None;
    }
    let len = stops.trailing_zeros() / 8 + 1;
    // The 7-bit groups of the number, which are then pushed together: to 14, to 28, to 56 bits.
    let mut num = word & (u64::MAX >> (u64::BITS - 8 * len)) & 0x7f7f_7f7f_7f7f_7f7f;
    num = (num & 0x007f_007f_007f_007f) | ((num & 0x7f00_7f00_7f00_7f00) >> 1);
    num = (num & 0x0000_3fff_0000_3fff) | ((num & 0x3fff_0000_3fff_0000) >> 2);
    num = (num & 0x0000_0000_0fff_ffff) | ((num & 0x0fff_ffff_0000_0000) >> 4);
    Some((num, len as usize))
}

#[inline]
fn write_i64<W: Write>(magnitude: u64, is_negative: bool, w: &mut W) {
    let sign = if is_negative { 0x40 } else { 0 };
    if magnitude < 0x40 {
        return w.write_u8(sign | magnitude as u8);
    }
    let (first, high) = (0x80 | sign | (magnitude as u8 & 0x3f), magnitude >> 6);
    if high < WORD_MAX >> 7 {
        let (word, len) = encode_word(high);
        return w.write_few(&(word << 8 | u64::from(first)).to_le_bytes(), len + 1);
    }
    w.write_u8(first);
    write_u64(high, w);
}

/// Reads the magnitude and the sign of a number.
#[inline]
fn read_i64<R: Read>(r: &mut R) -> Result<(i64, bool), Error> {
    let first = r.read_u8()?;
    let is_negative = first & 0x40 != 0;
    let mut num = u64::from(first & 0x3f);
    if first >= 0x80 {
        let high = r.read_var_u64()?;
        if high >> (u64::BITS - 6) != 0 {
            return Err(Error::InvalidVarInt);
        }
        num |= high << 6;
    }
    let num = i64::try_from(num).map_err(|_| Error::InvalidVarInt)?;
    Ok((if is_negative { -num } else { num }, is_negative))
}

macro_rules! unsigned {
    ($($t:ty),*) => {$(
        impl VarInt for $t {
            #[inline]
            fn write<W: Write>(&self, w: &mut W) {
                write_u64(*self as u64, w)
            }

            #[inline]
            fn read<R: Read>(r: &mut R) -> Result<Self, Error> {
                Self::try_from(r.read_var_u64()?).map_err(|_| Error::InvalidVarInt)
            }
        }
    )*};
}

macro_rules! signed {
    ($($t:ty),*) => {$(
        impl VarInt for $t {
            #[inline]
            fn write<W: Write>(&self, w: &mut W) {
                write_i64((*self as i64).unsigned_abs(), *self < 0, w)
            }

            #[inline]
            fn read<R: Read>(r: &mut R) -> Result<Self, Error> {
                Self::try_from(read_i64(r)?.0).map_err(|_| Error::InvalidVarInt)
            }
        }

        impl SignedVarInt for $t {
            #[inline]
            fn write_signed<W: Write>(value: &Signed<Self>, w: &mut W) {
                write_i64((value.value as i64).unsigned_abs(), value.is_negative, w)
            }

            #[inline]
            fn read_signed<R: Read>(r: &mut R) -> Result<Signed<Self>, Error> {
                let (value, is_negative) = read_i64(r)?;
                let value = Self::try_from(value).map_err(|_| Error::InvalidVarInt)?;
                Ok(Signed { value, is_negative })
            }
        }
    )*};
}

unsigned!(u8, u16, u32, u64, usize);
signed!(i8, i16, i32, i64, isize);

impl VarInt for u128 {
    fn write<W: Write>(&self, w: &mut W) {
        let mut value = *self;
        while value >= 0x80 {
            w.write_u8((value as u8 & 0x7f) | 0x80);
            value >>= 7;
        }
        w.write_u8(value as u8);
    }

    fn read<R: Read>(r: &mut R) -> Result<Self, Error> {
        let (mut num, mut shift) = (0_u128, 0_u32);
        loop {
            let byte = r.read_u8()?;
            let bits = Self::from(byte & 0x7f);
            if bits != 0 {
                let shifted = bits.checked_shl(shift).filter(|s| s >> shift == bits);
                let Some(shifted) = shifted else { return Err(Error::InvalidVarInt) };
                num |= shifted;
            }
            if byte < 0x80 {
                return Ok(num);
            }
            shift = shift.saturating_add(7);
        }
    }
}
