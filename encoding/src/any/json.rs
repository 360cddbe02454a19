//! Any as JSON text.
use super::Any;
use crate::error::Error;

pub(super) fn parse(_src: &str) -> Result<Any, Error> {
    unimplemented!()
}

pub(super) fn write(_any: &Any, _buf: &mut String) {
    unimplemented!()
}
