//! Counts connections, in all and by address.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use parking_lot::Mutex;

#[derive(Default)]
struct Inside {
    all: usize,
    by_address: HashMap<IpAddr, usize>,
}

/// Lets so many in.
pub(super) struct Door {
    all: usize,
    by_address: usize,
    inside: Mutex<Inside>,
}

/// The place of a connection: free again when it is dropped.
pub(super) struct Pass {
    door: Arc<Door>,
    address: IpAddr,
}

impl Door {
    pub(super) fn new(all: usize, by_address: usize) -> Arc<Self> {
        Arc::new(Self { all, by_address, inside: Mutex::default() })
    }

    /// Returns a place, if there is one.
    pub(super) fn enter(self: &Arc<Self>, address: IpAddr) -> Option<Pass> {
        // An IPv4 address that comes over IPv6 is the same one.
        let address = address.to_canonical();
        let mut inside = self.inside.lock();
        if inside.all >= self.all || inside.by_address.get(&address).is_some_and(|n| *n >= self.by_address) {
            return None;
        }
        inside.all += 1;
        *inside.by_address.entry(address).or_default() += 1;
        Some(Pass { door: Arc::clone(self), address })
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        let mut inside = self.door.inside.lock();
        inside.all -= 1;
        if let Some(count) = inside.by_address.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                inside.by_address.remove(&self.address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds() {
        let door = Door::new(3, 2);
        let (a, b): (IpAddr, IpAddr) = ([127, 0, 0, 1].into(), [127, 0, 0, 2].into());
        let first = door.enter(a).unwrap();
        let _second = door.enter("::ffff:127.0.0.1".parse().unwrap()).unwrap();
        assert!(door.enter(a).is_none(), "by address");
        let _third = door.enter(b).unwrap();
        assert!(door.enter(b).is_none(), "in all");
        drop(first);
        assert!(door.enter(a).is_some());
        assert_eq!(door.inside.lock().by_address.len(), 2);
    }
}
