//! `Origin`: a small byte string that says where a transaction comes from, or names a subscription.

use std::pin::Pin;

use smallvec::SmallVec;
use yatta_encoding::ClientID;

/// Identifies who made a transaction, or a subscription. Made from numbers, strings, bytes or the address of a value.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Origin(SmallVec<[u8; size_of::<usize>()]>);

impl AsRef<[u8]> for Origin {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl std::fmt::Debug for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Origin({self})")
    }
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("0x")?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x?}"))
    }
}

impl<T> From<Pin<&T>> for Origin {
    fn from(value: Pin<&T>) -> Self {
        let address = std::ptr::from_ref(Pin::get_ref(value)).addr();
        Self(SmallVec::from_slice(&address.to_be_bytes()))
    }
}

impl From<&[u8]> for Origin {
    fn from(bytes: &[u8]) -> Self {
        Self(SmallVec::from_slice(bytes))
    }
}

impl From<&str> for Origin {
    fn from(text: &str) -> Self {
        Self(SmallVec::from_slice(text.as_bytes()))
    }
}

impl From<String> for Origin {
    fn from(text: String) -> Self {
        Self(SmallVec::from_vec(text.into_bytes()))
    }
}

impl From<ClientID> for Origin {
    fn from(client: ClientID) -> Self {
        Self(SmallVec::from_slice(&client.get().to_be_bytes()))
    }
}

macro_rules! origin_from_number {
    ($($number:ty)*) => {
        $(impl From<$number> for Origin {
            fn from(number: $number) -> Self {
                Self(SmallVec::from_slice(&number.to_be_bytes()))
            }
        })*
    };
}

origin_from_number!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);
