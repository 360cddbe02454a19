//! Brings the delete set of a state into the order of Yjs, so that bytes can be compared.
//!
//! yrs writes the clients of a delete set in ascending order, Yjs and yatta in descending order; nothing
//! else in a state depends on it. The delete set is the tail of a state in both encodings, and its length
//! does not depend on the order, so it is cut off, sorted and put back. For one client nothing changes.
//! Written against the format alone, with no engine's help: it must not inherit an engine's mistake.

use crate::engine::Format;

/// The ranges that one client's items were deleted in: `(clock, len)`.
type Ranges = Vec<(u64, u64)>;

/// Returns `state` with its delete set in descending order of clients.
///
/// `delete_set` is the same delete set as V1 bytes, in the order in which the state holds it.
/// Returns `None` if it is not the tail of the state. Costs O(bytes).
pub fn canonical(state: &[u8], format: Format, delete_set: &[u8]) -> Option<Vec<u8>> {
    let mut clients = read(delete_set)?;
    let mut tail = Vec::with_capacity(delete_set.len());
    write(&clients, format, &mut tail);
    let structs = state.strip_suffix(tail.as_slice())?;

    clients.sort_unstable_by_key(|(client, _)| std::cmp::Reverse(*client));
    let mut sorted = structs.to_vec();
    write(&clients, format, &mut sorted);
    Some(sorted)
}

fn read(bytes: &[u8]) -> Option<Vec<(u64, Ranges)>> {
    let mut rest = bytes;
    let mut clients = Vec::new();
    for _ in 0..read_var(&mut rest)? {
        let client = read_var(&mut rest)?;
        let mut ranges = Ranges::new();
        for _ in 0..read_var(&mut rest)? {
            ranges.push((read_var(&mut rest)?, read_var(&mut rest)?));
        }
        clients.push((client, ranges));
    }
    rest.is_empty().then_some(clients)
}

fn write(clients: &[(u64, Ranges)], format: Format, out: &mut Vec<u8>) {
    write_var(clients.len() as u64, out);
    for (client, ranges) in clients {
        write_var(*client, out);
        write_var(ranges.len() as u64, out);
        let mut from = 0;
        for &(clock, len) in ranges {
            match format {
                Format::V1 => {
                    write_var(clock, out);
                    write_var(len, out);
                }
                // Each clock is told from the end of the range before; no range is empty.
                Format::V2 => {
                    write_var(clock.wrapping_sub(from), out);
                    write_var(len.wrapping_sub(1), out);
                    from = clock.wrapping_add(len);
                }
            }
        }
    }
}

/// Reads the first number of `bytes`: seven bits a byte, the least significant first.
pub fn read_var(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(first & 0x7f) << shift;
        if *first < 0x80 {
            return Some(value);
        }
    }
    None
}

fn write_var(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::canonical;
    use crate::engine::Format;

    /// Clients 1 (clock 2, len 3; clock 300, len 1) and 2 (clock 0, len 1), ascending.
    const ASCENDING: [u8; 12] = [2, 1, 2, 2, 3, 0xac, 2, 1, 2, 1, 0, 1];

    #[test]
    fn sorts_v1() {
        let state = [&[9, 9][..], &ASCENDING].concat();
        let sorted = canonical(&state, Format::V1, &ASCENDING).expect("the tail is there");
        assert_eq!(sorted, [9, 9, 2, 2, 1, 0, 1, 1, 2, 2, 3, 0xac, 2, 1]);
    }

    #[test]
    fn sorts_v2() {
        // 300 is 295 = 0xa7 0x02 after the end of the first range, 5.
        let state = [9, 9, 2, 1, 2, 2, 2, 0xa7, 2, 0, 2, 1, 0, 0];
        let sorted = canonical(&state, Format::V2, &ASCENDING).expect("the tail is there");
        assert_eq!(sorted, [9, 9, 2, 2, 1, 0, 0, 1, 2, 2, 2, 0xa7, 2, 0]);
    }

    #[test]
    fn refuses_another_tail() {
        assert_eq!(canonical(&[9, 9, 0], Format::V1, &ASCENDING), None);
        assert_eq!(canonical(&ASCENDING, Format::V1, &ASCENDING[..5]), None);
    }
}
