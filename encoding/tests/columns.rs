//! Laws of the primitives and the column codecs on random input.

use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use yatta_encoding::column::{
    IntDiffOptRleReader, IntDiffOptRleWriter, RleReader, RleWriter, StringReader, StringWriter,
    UintOptRleReader, UintOptRleWriter,
};
use yatta_encoding::{Cursor, Error, Read, Signed, Write, utf16};

/// Calls `law` with numbers that tend to repeat, to ascend evenly, or to be at a bound of their encoding.
fn for_random_columns(mut law: impl FnMut(&[u32])) {
    let mut rng = Pcg64::seed_from_u64(1);
    for _ in 0..2_000 {
        let mut numbers: Vec<u32> = Vec::new();
        for _ in 0..rng.random_range(0..6) {
            let bounds = [0, 1, 63, 64, 127, 128, 8191, 8192, u32::MAX - 100, u32::MAX / 2];
            let (start, step) =
                (*bounds.choose(&mut rng).expect("some"), *[0, 0, 1, 2, 7].choose(&mut rng).expect("some"));
            numbers.extend((0..rng.random_range(1..9)).map(|i: u32| start + i * step));
        }
        law(&numbers);
    }
}

#[test]
fn columns_read_what_was_written() {
    for_random_columns(|numbers| {
        let (mut rle, mut uint, mut diff) =
            (RleWriter::new(), UintOptRleWriter::new(), IntDiffOptRleWriter::new());
        for &n in numbers {
            rle.write(n as u8);
            uint.write(u64::from(n));
            diff.write(n);
        }
        let mut rle_reader = RleReader::new(rle.finish());
        let mut uint_reader = UintOptRleReader::new(uint.finish());
        let mut diff_reader = IntDiffOptRleReader::new(diff.finish());
        for &n in numbers {
            assert_eq!(rle_reader.read().unwrap(), n as u8, "{numbers:?}");
            assert_eq!(uint_reader.read().unwrap(), u64::from(n), "{numbers:?}");
            assert_eq!(diff_reader.read().unwrap(), n, "{numbers:?}");
        }
        assert!(matches!(uint_reader.read(), Err(Error::EndOfBuffer(_))), "{numbers:?}");
        assert!(matches!(diff_reader.read(), Err(Error::EndOfBuffer(_))), "{numbers:?}");
        // A column that is cleared is as good as new.
        uint.clear();
        uint.write(3);
        assert_eq!(uint.finish(), [3]);
    });
}

#[test]
fn strings_read_what_was_written() {
    let mut rng = Pcg64::seed_from_u64(2);
    for round in 0..2_000 {
        let alphabet: &[&str] =
            if round % 2 == 0 { &["a", "bc", ""] } else { &["a", "é", "€", "\u{1F600}", ""] };
        let strings: Vec<String> = (0..rng.random_range(0..8))
            .map(|_| (0..rng.random_range(0..4)).map(|_| *alphabet.choose(&mut rng).unwrap()).collect())
            .collect();
        let mut writer = StringWriter::new();
        for s in &strings {
            writer.write(s, s.encode_utf16().count() as u32);
        }
        let mut column = Vec::new();
        writer.finish_into(&mut column);
        let bytes = Cursor::new(&column).take_buf().unwrap();
        let mut reader = StringReader::new(bytes).unwrap();
        for s in &strings {
            let (read, len) = reader.read().unwrap();
            assert_eq!((&*read, len as usize), (s.as_str(), utf16::len(s)));
            assert!(matches!(read, std::borrow::Cow::Borrowed(_)), "no copy");
        }
        assert!(reader.read().is_err());
    }
}

#[test]
fn a_pair_cut_in_two_is_two_replacements() {
    // "x", then the halves of U+1F600 apart, then together with what follows: lengths 1, 1, 2.
    let mut column = vec![0; 0];
    column.write_string("x\u{1F600}y");
    column.extend([0x41, 0, 2]);
    let mut reader = StringReader::new(&column).unwrap();
    assert_eq!(reader.read().unwrap().0, "x");
    assert_eq!(reader.read().unwrap().0, "\u{fffd}");
    assert_eq!(reader.read().unwrap().0, "\u{fffd}y");
    assert!(reader.read().is_err());
    // A length beyond the joined string, also by one and inside of a pair.
    for lengths in [&[3_u8][..], &[4], &[63], &[0xbf, 0xff, 0xff, 0xff, 0x1f]] {
        let mut column = vec![0; 0];
        column.write_string("\u{1F600}");
        column.extend(lengths);
        assert!(StringReader::new(&column).unwrap().read().is_err(), "{lengths:?}");
    }
}

#[test]
fn utf16_lengths_and_offsets() {
    for s in ["", "abc", "é€", "a\u{1F600}b\u{1F601}", "\u{fffd}\u{ffff}\u{10000}\u{10ffff}"] {
        let units: Vec<u16> = s.encode_utf16().collect();
        assert_eq!(utf16::len(s), units.len());
        for cut in 0..=units.len() {
            let (rest, half) = utf16::cut_front(s, cut);
            let expected = String::from_utf16_lossy(&units[cut..]);
            let ours = if half { format!("\u{fffd}{rest}") } else { rest.to_owned() };
            assert_eq!(ours, expected, "{s} at {cut}");
            let (at, missing) = utf16::offset(s, cut);
            assert_eq!(utf16::len(&s[..at]) + missing, cut);
        }
        assert_eq!(utf16::offset(s, units.len() + 3), (s.len(), 3));
    }
}

#[test]
fn numbers_of_variable_length_that_do_not_fit() {
    let read = |bytes: &[u8]| Cursor::new(bytes).read_var::<u32>();
    assert_eq!(
        read(&[0x85, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0]).unwrap(),
        5,
        "overlong"
    );
    assert!(matches!(read(&[0xff, 0xff, 0xff, 0xff, 0x1f]), Err(Error::InvalidVarInt)), "33 bits");
    assert!(matches!(read(&[0x80; 64]), Err(Error::EndOfBuffer(_))), "endless");
    let wide = |bytes: &[u8]| Cursor::new(bytes).read_var::<u64>();
    assert_eq!(wide(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]).unwrap(), u64::MAX);
    assert!(matches!(
        wide(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 3]),
        Err(Error::InvalidVarInt)
    ));
    let mut min = Vec::new();
    min.write_var(i64::MIN + 1);
    assert_eq!(Cursor::new(&min).read_var::<i64>().unwrap(), i64::MIN + 1);
    assert!(Cursor::new(&[0xff_u8; 12]).read_var::<i64>().is_err());
    let zero: Signed<i32> = Cursor::new(&[0x40_u8]).read_var_signed().unwrap();
    assert_eq!((zero.value(), zero.is_negative()), (0, true));
    let big = u128::MAX - 5;
    let mut bytes = Vec::new();
    bytes.write_var(big);
    assert_eq!(Cursor::new(&bytes).read_var::<u128>().unwrap(), big);
}
