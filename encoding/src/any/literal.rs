//! The macro `any!`.

/// Makes an [`Any`](crate::any::Any) of a literal that looks like JSON.
#[macro_export]
macro_rules! any {
    ($($any:tt)+) => { $crate::any_internal!($($any)+) };
}

#[macro_export]
#[doc(hidden)]
macro_rules! any_internal {
    (null) => {
        $crate::any::Any::Null
    };
    ($other:expr) => {
        $crate::any::Any::from($other)
    };
}
