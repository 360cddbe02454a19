//! Numbers as ECMAScript writes them (`Number::toString`): shortest digits that read back the same.

use super::Integers;
use crate::any::Number;
use std::fmt::Write as _;

/// Appends a number; `null` for NaN and the infinities, as JSON wants. Of an integer that JavaScript does not hold exactly
/// all digits, or those that JavaScript would write after reading them.
pub(super) fn write(number: Number, integers: Integers, out: &mut String) {
    match number {
        Number::Int(int) if integers == Integers::Safe && !integers.has(int) => write_float(int as f64, out),
        Number::Int(int) => push(out, format_args!("{int}")),
        Number::Float(0.0) => out.push('0'),
        Number::Float(float) if float.is_finite() => write_float(float, out),
        Number::Float(_) => out.push_str("null"),
    }
}

fn push(out: &mut String, args: std::fmt::Arguments<'_>) {
    out.write_fmt(args).expect("a String takes everything");
}

fn write_float(float: f64, out: &mut String) {
    // The digits are right (the standard library's are not: it rounds ties up), their arrangement is not.
    let mut buffer = zmij::Buffer::new();
    let text = buffer.format_finite(float.abs());
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let fraction = fraction.trim_end_matches('0');
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if float < 0.0 {
        out.push('-');
    }
    if exponent == 0 && (whole != "0" || !fraction.starts_with("000000")) {
        // As most numbers are.
        out.push_str(whole);
        if !fraction.is_empty() {
            out.push('.');
            out.push_str(fraction);
        }
        return;
    }
    let significant = format!("{whole}{fraction}");
    let digits = significant.trim_start_matches('0');
    // Where the point is, counted from the first of `digits`.
    let point = exponent + whole.len() as i32 - (significant.len() - digits.len()) as i32;
    arrange(digits.trim_end_matches('0'), point, out);
}

/// Writes `0.d1d2d3... * 10^point` as ECMAScript does.
fn arrange(digits: &str, point: i32, out: &mut String) {
    match point {
        1..=21 => {
            let whole = point as usize;
            out.push_str(digits.get(..whole).unwrap_or(digits));
            out.extend(std::iter::repeat_n('0', whole.saturating_sub(digits.len())));
            if let Some(fraction @ [_, ..]) = digits.as_bytes().get(whole..) {
                out.push('.');
                out.extend(fraction.iter().map(|digit| char::from(*digit)));
            }
        }
        -5..=0 => {
            out.push_str("0.");
            out.extend(std::iter::repeat_n('0', point.unsigned_abs() as usize));
            out.push_str(digits);
        }
        _ => {
            let (first, more) = digits.split_at_checked(1).unwrap_or((digits, ""));
            let dot = if more.is_empty() { "" } else { "." };
            push(out, format_args!("{first}{dot}{more}e{:+}", point - 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(number: impl Into<Number>) -> String {
        let mut out = String::new();
        write(number.into(), Integers::All, &mut out);
        out
    }

    #[test]
    fn as_javascript_writes_them() {
        for (number, expected) in [
            (0.0, "0"),
            (-0.0, "0"),
            (1.0, "1"),
            (-1.5, "-1.5"),
            (123.456, "123.456"),
            (1e20, "100000000000000000000"),
            (123456789012345680000.0, "123456789012345680000"),
            (1e21, "1e+21"),
            (1.5e21, "1.5e+21"),
            (1e-6, "0.000001"),
            (1.25e-6, "0.00000125"),
            (1e-7, "1e-7"),
            (-1.5e-7, "-1.5e-7"),
            (0.1, "0.1"),
            (f64::from_bits(0x4317_2a42_6fd6_1fcd), "1630097324214259.2"),
            (f64::from_bits(0xc28c_85b8_925d_5a40), "-3920081603499.2812"),
            (1e16, "10000000000000000"),
            (1.25e16, "12500000000000000"),
            (0.00001, "0.00001"),
            (5e-324, "5e-324"),
            (f64::MAX, "1.7976931348623157e+308"),
            (9007199254740991.0, "9007199254740991"),
            (f64::NAN, "null"),
            (f64::NEG_INFINITY, "null"),
        ] {
            assert_eq!(text(number), expected);
        }
        assert_eq!(text(i64::MIN), "-9223372036854775808");
    }
}
