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
    if (1e-6..1e21).contains(&float.abs()) {
        // Here Rust arranges the shortest digits as ECMAScript does.
        return push(out, format_args!("{float}"));
    }
    // All others are `d.ddde-7`, of which Rust only leaves out a plus sign.
    let start = out.len();
    push(out, format_args!("{float:e}"));
    let text = out.split_off(start);
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let plus = if exponent.starts_with('-') { "" } else { "+" };
    push(out, format_args!("{digits}e{plus}{exponent}"));
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
