//! Any in lib0's binary form.
use super::Any;
use crate::error::Error;
use crate::read::Read;
use crate::write::Write;

/// How BigInts stand in an [`Any`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// As integers.
    Plain,
    /// As marked buffers.
    Marked,
}

pub(crate) fn read<R: Read>(_decoder: &mut R, _form: Form) -> Result<(Any, bool), Error> {
    unimplemented!()
}

pub(crate) fn write<W: Write>(_any: &Any, _w: &mut W, _form: Form) {
    unimplemented!()
}
