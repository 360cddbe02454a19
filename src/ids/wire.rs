//! The clock columns of a delete set, for the codecs and without a codec.
//!
//! A delete set inside an update goes through an [`Encoder`] or [`Decoder`]. One that stands alone
//! (a snapshot) has in V2 the same clock columns, but no header of an update in front, which
//! [`PlainV2Writer`] and [`PlainV2Reader`] stand for. Both ways share one path by [`ClockWriter`]
//! and [`ClockReader`].
//!
//! | | V1 | V2, per client beginning with `cur = 0` |
//! |---|---|---|
//! | clock | clock | clock - cur |
//! | len | len | len - 1; then cur = clock + len |

use std::ops::Range;
use yatta_encoding::{ClientID, Cursor, Decode, Decoder, DecoderV2, Encoder, Error, Read, Write};

/// Room is made for at most so many entries before any is read, whatever a count on the wire says:
/// enough for most messages, a few kilobytes at worst.
pub(crate) const RESERVE: u32 = 512;

/// Writes the ranges of a delete set.
pub(crate) trait ClockWriter: Write {
    /// Begins the ranges of the next client.
    fn next_client(&mut self);

    /// Writes a range, which is not empty and lies behind the one before.
    fn write_range(&mut self, range: &Range<u32>);
}

impl<E: Encoder> ClockWriter for E {
    #[inline]
    fn next_client(&mut self) {
        self.reset_ds_cur_val();
    }

    #[inline]
    fn write_range(&mut self, range: &Range<u32>) {
        self.write_ds_clock(range.start);
        self.write_ds_len(range.end - range.start);
    }
}

/// The V2 columns of a delete set that stands alone.
#[derive(Default)]
pub(crate) struct PlainV2Writer {
    buf: Vec<u8>,
    cur: u32,
}

impl PlainV2Writer {
    /// Returns the bytes written.
    pub(crate) fn into_vec(self) -> Vec<u8> {
        self.buf
    }
}

impl Write for PlainV2Writer {
    fn write_all(&mut self, buf: &[u8]) {
        self.buf.extend_from_slice(buf);
    }

    fn write_u8(&mut self, value: u8) {
        self.buf.push(value);
    }
}

impl ClockWriter for PlainV2Writer {
    fn next_client(&mut self) {
        self.cur = 0;
    }

    fn write_range(&mut self, range: &Range<u32>) {
        self.write_var(range.start - self.cur);
        self.write_var(range.end - range.start - 1);
        self.cur = range.end;
    }
}

/// Reads the ranges of a delete set.
pub(crate) trait ClockReader: Read {
    /// Begins the ranges of the next client.
    fn next_client(&mut self);

    /// Reads a range as clock and length.
    fn read_clock_and_len(&mut self) -> Result<(u32, u32), Error>;

    /// Reads a range, which may be empty.
    #[inline]
    fn read_range(&mut self) -> Result<Range<u32>, Error> {
        let (clock, len) = self.read_clock_and_len()?;
        let end = clock.checked_add(len).ok_or_else(|| clock_overflow(clock, u64::from(len)))?;
        Ok(clock..end)
    }
}

impl<D: Decoder> ClockReader for D {
    #[inline]
    fn next_client(&mut self) {
        self.reset_ds_cur_val();
    }

    #[inline]
    fn read_clock_and_len(&mut self) -> Result<(u32, u32), Error> {
        Ok((self.read_ds_clock()?, self.read_ds_len()?))
    }
}

/// The V2 columns of a delete set that stands alone.
pub(crate) struct PlainV2Reader<'a> {
    cursor: Cursor<'a>,
    cur: u32,
}

impl<'a> PlainV2Reader<'a> {
    /// Reads `data` from its beginning.
    pub(crate) fn new(data: &'a [u8]) -> Self {
        Self { cursor: Cursor::new(data), cur: 0 }
    }
}

impl Read for PlainV2Reader<'_> {
    fn read_exact(&mut self, len: usize) -> Result<&[u8], Error> {
        self.cursor.read_exact(len)
    }

    fn read_u8(&mut self) -> Result<u8, Error> {
        self.cursor.read_u8()
    }
}

impl ClockReader for PlainV2Reader<'_> {
    fn next_client(&mut self) {
        self.cur = 0;
    }

    fn read_clock_and_len(&mut self) -> Result<(u32, u32), Error> {
        let gap: u32 = self.read_var()?;
        let less_one: u32 = self.read_var()?;
        let start = self.cur.checked_add(gap).ok_or_else(|| clock_overflow(self.cur, u64::from(gap)))?;
        let len = u64::from(less_one) + 1;
        self.cur = u64::from(start)
            .checked_add(len)
            .and_then(|end| u32::try_from(end).ok())
            .ok_or_else(|| clock_overflow(start, len))?;
        Ok((start, self.cur - start))
    }
}

/// Reads a client id.
pub(crate) fn read_client<R: Read>(from: &mut R) -> Result<ClientID, Error> {
    client_id(from.read_var()?)
}

/// Makes a client id of a number from the wire.
pub(crate) fn client_id(value: u64) -> Result<ClientID, Error> {
    if value > ClientID::MAX.get() {
        return Err(Error::Custom(format!("client id {value} exceeds 53 bits")));
    }
    Ok(ClientID::new(value))
}

/// Decodes what yrs writes as the V2 form of something that stands alone: an update's header with
/// empty columns, then the value.
///
/// The header begins with two zeros (the feature flag, the length of the first column). Without
/// one, two zeros mean that everything is empty and that nothing follows, so that the two forms
/// cannot be taken for each other.
pub(crate) fn decode_with_header<T: Decode>(data: &[u8]) -> Option<T> {
    match data {
        [0, 0, _, ..] => T::decode(&mut DecoderV2::new(Cursor::new(data)).ok()?).ok(),
        _ => None,
    }
}

/// Encodes in V2 what stands alone: without the header of an update in front, as Yjs does.
pub(crate) fn encode_plain_v2(write: impl FnOnce(&mut PlainV2Writer)) -> Vec<u8> {
    let mut writer = PlainV2Writer::default();
    write(&mut writer);
    writer.into_vec()
}

/// Decodes from V2 what stands alone, with or without the header that yrs writes in front.
pub(crate) fn decode_plain_v2<T: Decode>(
    data: &[u8],
    read: impl FnOnce(&mut PlainV2Reader<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    match decode_with_header(data) {
        Some(value) => Ok(value),
        None => read(&mut PlainV2Reader::new(data)),
    }
}

#[cold]
fn clock_overflow(clock: u32, len: u64) -> Error {
    Error::Custom(format!("clock {clock} + {len} exceeds 32 bits"))
}
