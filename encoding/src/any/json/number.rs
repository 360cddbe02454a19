//! Numbers as ECMAScript writes them (`Number::toString`): shortest digits that read back the same.

use crate::any::Number;
use std::fmt::Write as _;

/// Appends a number; `null` for NaN and the infinities, as JSON wants.
pub(super) fn write(number: Number, out: &mut String) {
    match number {
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
    // Rust writes the same shortest digits, as `d.ddde-7`; only their arrangement differs.
    let start = out.len();
    push(out, format_args!("{:e}", float.abs()));
    let text = out.split_off(start);
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    let (first, more) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if float < 0.0 {
        out.push('-');
    }
    // Where the decimal point is, counted from the first digit.
    let point = exponent + 1;
    let digits = 1 + more.len();
    let all = || first.chars().chain(more.chars());
    match usize::try_from(point) {
        Ok(point @ 1..=21) if digits <= point => {
            out.extend(all());
            out.extend(std::iter::repeat_n('0', point - digits));
        }
        Ok(point @ 1..=21) => {
            out.extend(all().take(point));
            out.push('.');
            out.extend(all().skip(point));
        }
        _ if (-5..=0).contains(&point) => {
            out.push_str("0.");
            out.extend(std::iter::repeat_n('0', point.unsigned_abs() as usize));
            out.extend(all());
        }
        _ => {
            out.push_str(first);
            if !more.is_empty() {
                out.push('.');
                out.push_str(more);
            }
            push(out, format_args!("e{exponent:+}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(number: impl Into<Number>) -> String {
        let mut out = String::new();
        write(number.into(), &mut out);
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
