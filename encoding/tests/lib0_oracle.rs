//! Bytes compared with those of the crate `lib0`, an independent implementation, where that is right.

/// The same calls, to be compiled against the traits of either crate.
macro_rules! script {
    ($name:ident, $write:path, $read:path, $cursor:path) => {
        mod $name {
            use $cursor as Cursor;
            use $read as Read;
            use $write as Write;

            pub(super) fn write(n: u32, out: &mut Vec<u8>) {
                out.write_var(n);
                out.write_var(u64::from(n) << 20);
                out.write_var(i64::from(n) - (1 << 31));
                out.write_string("h\u{e9}llo");
                out.write_buf(n.to_le_bytes());
                out.write_u16(n as u16);
                out.write_u32(n);
                out.write_u32_be(n);
                out.write_f32(n as f32);
                out.write_f64(f64::from(n));
                out.write_i64(i64::from(n) << 31);
                out.write_u64(u64::from(n) << 32);
            }

            pub(super) fn read(n: u32, bytes: &[u8]) {
                let mut cursor = Cursor::new(bytes);
                assert_eq!(cursor.read_var::<u32>().unwrap(), n);
                assert_eq!(cursor.read_var::<u64>().unwrap(), u64::from(n) << 20);
                assert_eq!(cursor.read_var::<i64>().unwrap(), i64::from(n) - (1 << 31));
                assert_eq!(cursor.read_string().unwrap(), "h\u{e9}llo");
                assert_eq!(cursor.read_buf().unwrap(), n.to_le_bytes());
                assert_eq!(cursor.read_u16().unwrap(), n as u16);
                assert_eq!(cursor.read_u32().unwrap(), n);
                assert_eq!(cursor.read_u32_be().unwrap(), n);
                assert_eq!(cursor.read_f32().unwrap(), n as f32);
                assert_eq!(cursor.read_f64().unwrap(), f64::from(n));
                assert_eq!(cursor.read_i64().unwrap(), i64::from(n) << 31);
                assert_eq!(cursor.read_u64().unwrap(), u64::from(n) << 32);
                assert!(cursor.read_u8().is_err());
            }
        }
    };
}

script!(ours, yatta_encoding::Write, yatta_encoding::Read, yatta_encoding::Cursor);
script!(theirs, lib0::encoding::Write, lib0::decoding::Read, lib0::decoding::Cursor);

#[test]
fn primitives() {
    for n in (0..32).flat_map(|bits| [1_u32 << bits, (1 << bits) - 1, (1_u32 << bits) | 1]).chain([u32::MAX])
    {
        let (mut a, mut b) = (Vec::new(), Vec::new());
        ours::write(n, &mut a);
        theirs::write(n, &mut b);
        assert_eq!(a, b, "{n}");
        ours::read(n, &b);
        theirs::read(n, &a);
    }
}

#[test]
fn values() {
    // No whole floats, no keys that are indices, no integers beyond 2^53: there lib0 differs from JavaScript.
    let ours = yatta_encoding::any!([null, true, 1, -70_000, 0.5, 0.1, "text", { "k": [] }, -63, 64]);
    let theirs = lib0::any!([null, true, 1, -70_000, 0.5, 0.1, "text", { "k": [] }, -63, 64]);
    let (mut a, mut b) = (Vec::new(), Vec::new());
    ours.encode(&mut a);
    theirs.encode(&mut b);
    assert_eq!(a, b);
    assert_eq!(yatta_encoding::Any::decode(&mut yatta_encoding::Cursor::new(&b)).unwrap(), ours);
}
