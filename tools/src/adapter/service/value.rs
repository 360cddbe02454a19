//! TJSON, the JSON of the protocol, to and from the engine's plain values.

use super::super::engine::{Any, Attrs, Number, object};
use super::super::json::{Json, hex, unhex};
use super::Failure;

/// Reads a plain value.
pub(crate) fn any(json: &Json) -> Result<Any, Failure> {
    Ok(match json {
        Json::Null => Any::Null,
        Json::Bool(value) => Any::Bool(*value),
        Json::Number(value) => number(*value),
        Json::String(text) => Any::String(text.as_str().into()),
        Json::Array(items) => Any::Array(items.iter().map(any).collect::<Result<Vec<_>, _>>()?.into()),
        Json::Object(entries) => match json.find("$").and_then(Json::as_str) {
            Some(tag) => special(tag, json)?,
            None => {
                let entries = entries.iter().map(|(key, value)| Ok((key.clone(), any(value)?)));
                object(entries.collect::<Result<Vec<_>, Failure>>()?)
            }
        },
    })
}

fn number(value: f64) -> Any {
    // beyond 2^53 a double is no longer an exact integer
    if value.fract() == 0.0
        && value.abs() <= 9_007_199_254_740_991.0
        && !(value == 0.0 && value.is_sign_negative())
    {
        Any::Number(Number::Int(value as i64))
    } else {
        Any::Number(Number::Float(value))
    }
}

fn special(tag: &str, json: &Json) -> Result<Any, Failure> {
    let text = json.get("v").as_str().unwrap_or_default();
    Ok(match tag {
        "undefined" => Any::Undefined,
        "f64" => Any::Number(Number::Float(match text {
            "NaN" => f64::NAN,
            "Infinity" => f64::INFINITY,
            "-Infinity" => f64::NEG_INFINITY,
            "-0" => -0.0,
            _ => return Err(Failure::error(format!("no special number {text}"))),
        })),
        "bigint" => {
            let value: i64 = text.parse().map_err(|_| Failure::unsupported("a bigint beyond 64 bits"))?;
            if value.unsigned_abs() <= 1 << 53 {
                return Err(Failure::unsupported("a small bigint, for which the API has no value,"));
            }
            Any::Number(Number::Int(value))
        }
        "bytes" => {
            Any::Buffer(unhex(json.get("hex").as_str().unwrap_or_default()).map_err(Failure::error)?.into())
        }
        _ => return Err(Failure::unsupported(&format!("a value of kind {tag} here"))),
    })
}

/// Writes a plain value.
pub(crate) fn json(any: &Any) -> Json {
    match any {
        Any::Null => Json::Null,
        Any::Undefined => Json::tagged("undefined", []),
        Any::Bool(value) => Json::Bool(*value),
        Any::Number(Number::Int(value)) if value.unsigned_abs() > 1 << 53 => {
            Json::tagged("bigint", [("v", value.to_string().into())])
        }
        Any::Number(Number::Int(value)) => Json::Number(*value as f64),
        Any::Number(Number::Float(value)) => special_float(*value),
        Any::String(text) => Json::String(text.to_string()),
        Any::Buffer(bytes) => Json::tagged("bytes", [("hex", hex(bytes).into())]),
        Any::Array(items) => Json::Array(items.iter().map(json).collect()),
        Any::Map(entries) => {
            Json::Object(entries.iter().map(|(key, value)| (key.to_string(), json(value))).collect())
        }
    }
}

fn special_float(value: f64) -> Json {
    let name = if value.is_nan() {
        "NaN"
    } else if value == f64::INFINITY {
        "Infinity"
    } else if value == f64::NEG_INFINITY {
        "-Infinity"
    } else if value == 0.0 && value.is_sign_negative() {
        "-0"
    } else {
        return Json::Number(value);
    };
    Json::tagged("f64", [("v", name.into())])
}

/// Reads formatting attributes; `None` if the key is absent, which means "inherit".
pub(super) fn attrs(json: Option<&Json>) -> Result<Option<Attrs>, Failure> {
    match json {
        Some(Json::Object(entries)) => {
            let entries = entries.iter().map(|(key, value)| Ok((key.as_str().into(), any(value)?)));
            Ok(Some(entries.collect::<Result<Attrs, Failure>>()?))
        }
        None | Some(Json::Null) => Ok(None),
        Some(other) => Err(Failure::error(format!("attributes are an object, not {other}"))),
    }
}

/// Writes formatting attributes.
pub(crate) fn attrs_json(attrs: &Attrs) -> Json {
    Json::Object(attrs.iter().map(|(key, value)| (key.to_string(), json(value))).collect())
}
