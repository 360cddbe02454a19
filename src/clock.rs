//! Time, as the engine sees it: a number that somebody else supplies.
//!
//! Nothing in the engine reads the time of the system but [`SystemClock`], which a caller may replace.

/// Milliseconds since 1970-01-01 UTC.
pub type Timestamp = u64;

/// A source of time. Every `Fn() -> Timestamp` is one.
pub trait Clock: Send + Sync {
    /// Returns the time in milliseconds.
    fn now(&self) -> Timestamp;
}

impl<F> Clock for F
where
    F: Fn() -> Timestamp + Send + Sync,
{
    #[inline]
    fn now(&self) -> Timestamp {
        self()
    }
}

/// The time of the operating system (in a browser, of the page), which may jump when somebody sets it.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

#[cfg(not(all(target_arch = "wasm32", target_os = "unknown")))]
impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let now = std::time::SystemTime::now();
        // a system that thinks it is before 1970 gets 0
        now.duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_millis() as Timestamp)
    }
}

/// The standard library has no clock there, and panics.
#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        js_sys::Date::now() as Timestamp
    }
}
