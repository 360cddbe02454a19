//! The macro [`any!`](crate::any!): a literal that looks like JSON becomes an [`Any`](crate::any::Any).
//!
//! Values are munched token by token: a bracketed value or `null` is taken at once, anything else up to the
//! next comma is an expression.

/// Makes an [`Any`](crate::any::Any) of a literal that looks like JSON.
///
/// Keys and values may be expressions: a key becomes a `String`, a value an `Any`, both by `Into`. An
/// expression that is a key must stand in parentheses unless it is a single token.
///
/// ```
/// use yatta_encoding::{Any, any};
///
/// let name = "bold";
/// let value = any!({ "size": 12, "tags": [true, null, "x"], (name): { "nested": 1.5 } });
/// let Any::Map(map) = &value else { panic!("an object") };
/// assert_eq!(map.get("size"), Some(&Any::from(12)));
/// assert_eq!(map.keys().collect::<Vec<_>>(), ["size", "tags", "bold"]);
/// ```
#[macro_export]
macro_rules! any {
    ($($value:tt)+) => { $crate::any_internal!($($value)+) };
}

#[doc(hidden)]
#[macro_export]
macro_rules! any_internal {
    // Elements of an array: the ones done, then what is left.
    (@array [$($done:expr,)*]) => { ::std::sync::Arc::from([$($done,)*]) };
    (@array [$($done:expr,)*] null $(, $($rest:tt)*)?) => {
        $crate::any_internal!(@array [$($done,)* $crate::any_internal!(null),] $($($rest)*)?)
    };
    (@array [$($done:expr,)*] [$($inner:tt)*] $(, $($rest:tt)*)?) => {
        $crate::any_internal!(@array [$($done,)* $crate::any_internal!([$($inner)*]),] $($($rest)*)?)
    };
    (@array [$($done:expr,)*] {$($inner:tt)*} $(, $($rest:tt)*)?) => {
        $crate::any_internal!(@array [$($done,)* $crate::any_internal!({$($inner)*}),] $($($rest)*)?)
    };
    (@array [$($done:expr,)*] $next:expr $(, $($rest:tt)*)?) => {
        $crate::any_internal!(@array [$($done,)* $crate::any_internal!($next),] $($($rest)*)?)
    };

    // Entries of an object.
    (@object $map:ident) => {};
    (@object $map:ident ($key:expr) : $($rest:tt)+) => {
        $crate::any_internal!(@value $map ($key) $($rest)+)
    };
    (@object $map:ident $key:tt : $($rest:tt)+) => {
        $crate::any_internal!(@value $map ($key) $($rest)+)
    };
    (@value $map:ident ($key:expr) null $(, $($rest:tt)*)?) => {
        $map.insert(($key).into(), $crate::any_internal!(null));
        $crate::any_internal!(@object $map $($($rest)*)?)
    };
    (@value $map:ident ($key:expr) [$($inner:tt)*] $(, $($rest:tt)*)?) => {
        $map.insert(($key).into(), $crate::any_internal!([$($inner)*]));
        $crate::any_internal!(@object $map $($($rest)*)?)
    };
    (@value $map:ident ($key:expr) {$($inner:tt)*} $(, $($rest:tt)*)?) => {
        $map.insert(($key).into(), $crate::any_internal!({$($inner)*}));
        $crate::any_internal!(@object $map $($($rest)*)?)
    };
    (@value $map:ident ($key:expr) $value:expr $(, $($rest:tt)*)?) => {
        $map.insert(($key).into(), $crate::any_internal!($value));
        $crate::any_internal!(@object $map $($($rest)*)?)
    };

    // A value.
    (null) => { $crate::any::Any::Null };
    ([]) => { $crate::any::Any::Array(::std::sync::Arc::new([])) };
    ([ $($inner:tt)+ ]) => { $crate::any::Any::Array($crate::any_internal!(@array [] $($inner)+)) };
    ({}) => { $crate::any::Any::Map($crate::any::AnyMap::new()) };
    ({ $($inner:tt)+ }) => {{
        let mut map = $crate::any::AnyMap::new();
        $crate::any_internal!(@object map $($inner)+);
        $crate::any::Any::Map(map)
    }};
    ($value:expr) => { $crate::any::Any::from($value) };
}
