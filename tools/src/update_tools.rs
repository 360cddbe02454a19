//! `yatta merge`, `diff`, `convert`, `state-vector` and `obfuscate`: updates in, bytes out, no document.

use yatta::updates::decoder::Decode;
use yatta::updates::encoder::Encode;
use yatta::updates::tools::{ObfuscateOptions, obfuscate_update_v1, obfuscate_update_v2};
use yatta_encoding::Error;
use yatta_encoding::update::{
    convert_v1_to_v2, convert_v2_to_v1, diff_updates_v1, diff_updates_v2, encode_state_vector_from_update_v1,
    encode_state_vector_from_update_v2, merge_updates_v1, merge_updates_v2,
};

use crate::failure::Failure;
use crate::input::{Input, Text};
use crate::kind::{self, AsFormat, Format, Parsed};
use crate::output::Output;

/// How updates are read, and where the result goes.
#[derive(clap::Args)]
struct Through {
    #[command(flatten)]
    text: Text,
    #[command(flatten)]
    format: AsFormat,
    #[command(flatten)]
    output: Output,
}

/// What commands on one update take.
#[derive(clap::Args)]
pub(crate) struct One {
    /// An update in a file, or `-` for standard input.
    #[arg(default_value = "-")]
    input: String,
    #[command(flatten)]
    through: Through,
}

/// What `yatta merge` takes.
#[derive(clap::Args)]
pub(crate) struct MergeArgs {
    /// Updates in files, in any order and of either format; one of them can be `-`.
    #[arg(required = true)]
    inputs: Vec<String>,
    /// The format of the result; without it that of the first update.
    #[arg(long, value_name = "FORMAT")]
    to: Option<Format>,
    #[command(flatten)]
    through: Through,
}

/// What `yatta diff` takes.
#[derive(clap::Args)]
pub(crate) struct DiffArgs {
    /// The update (a whole document, say) of which a part is wanted.
    input: String,
    /// What the receiver has: a state vector, or its document as an update.
    against: String,
    #[command(flatten)]
    through: Through,
}

/// What `yatta convert` takes.
#[derive(clap::Args)]
pub(crate) struct ConvertArgs {
    #[command(flatten)]
    one: One,
    /// The format of the result; without it the other one.
    #[arg(long, value_name = "FORMAT")]
    to: Option<Format>,
}

/// What `yatta obfuscate` takes.
#[derive(clap::Args)]
pub(crate) struct ObfuscateArgs {
    #[command(flatten)]
    one: One,
    /// Keep keys and values of formats.
    #[arg(long)]
    keep_formatting: bool,
    /// Keep names and options of sub-documents.
    #[arg(long)]
    keep_subdocs: bool,
    /// Keep names of XML elements and hooks.
    #[arg(long)]
    keep_xml: bool,
}

impl One {
    /// Reads the update, checks it to its end, and writes what `work` makes of it.
    fn run(&self, work: impl FnOnce(Format, &[u8]) -> Result<Vec<u8>, Error>) -> Result<(), Failure> {
        self.through.output.check()?;
        let input = self.through.text.read(&self.input)?;
        let (format, _) = kind::read_update(&input, self.through.format)?;
        let result = work(format, &input.bytes).map_err(|error| input.wrong(error))?;
        self.through.output.write(&result)
    }
}

/// Merges updates into one.
pub(crate) fn merge(args: &MergeArgs) -> Result<(), Failure> {
    args.through.output.check()?;
    let names: Vec<&str> = args.inputs.iter().map(String::as_str).collect();
    let inputs = args.through.text.read_all(&names)?;
    let mut to = args.to;
    let mut updates = Vec::with_capacity(inputs.len());
    for input in &inputs {
        let (format, _) = kind::read_update(input, args.through.format)?;
        updates.push(in_format(input, format, *to.get_or_insert(format))?);
    }
    let merged = match to {
        Some(Format::V2) => merge_updates_v2(&updates),
        _ => merge_updates_v1(&updates),
    };
    args.through.output.write(&merged.map_err(|error| Failure::Input(error.to_string()))?)
}

/// The bytes of an update in the format that is wanted.
fn in_format(input: &Input, from: Format, to: Format) -> Result<Vec<u8>, Failure> {
    let converted = match (from, to) {
        (Format::V1, Format::V2) => convert_v1_to_v2(&input.bytes),
        (Format::V2, Format::V1) => convert_v2_to_v1(&input.bytes),
        _ => Ok(input.bytes.clone()),
    };
    converted.map_err(|error| input.wrong(error))
}

/// Leaves out of an update what a receiver has.
pub(crate) fn diff(args: &DiffArgs) -> Result<(), Failure> {
    args.through.output.check()?;
    let mut inputs = args.through.text.read_all(&[&args.input, &args.against])?;
    let (Some(against), Some(input)) = (inputs.pop(), inputs.pop()) else { return Ok(()) };
    let (format, _) = kind::read_update(&input, args.through.format)?;
    let state = known(&against)?;
    let rest = match format {
        Format::V1 => diff_updates_v1(&input.bytes, &state),
        Format::V2 => diff_updates_v2(&input.bytes, &state),
    };
    args.through.output.write(&rest.map_err(|error| input.wrong(error))?)
}

/// The state vector that is given, or that of the document that is given.
fn known(input: &Input) -> Result<Vec<u8>, Failure> {
    let either = AsFormat::default();
    match kind::read(input, None, either)?.0 {
        Parsed::Update(format, _) => state_of(format, &input.bytes).map_err(|error| input.wrong(error)),
        Parsed::Snapshot(_, snapshot) => Ok(snapshot.state_map.encode_v1()),
        // A single client's may look like something else: it has been read to its last byte.
        other => match yatta::StateVector::decode_v1(&input.bytes) {
            Ok(state) if state.encode_v1().len() == input.bytes.len() => Ok(input.bytes.clone()),
            _ => Err(input.wrong(format!("a {}; a state vector or an update is needed", other.name()))),
        },
    }
}

fn state_of(format: Format, update: &[u8]) -> Result<Vec<u8>, Error> {
    match format {
        Format::V1 => encode_state_vector_from_update_v1(update),
        Format::V2 => encode_state_vector_from_update_v2(update),
    }
}

/// Writes an update in the other format.
pub(crate) fn convert(args: &ConvertArgs) -> Result<(), Failure> {
    args.one.run(|from, update| match (from, args.to) {
        (Format::V1, None | Some(Format::V2)) => convert_v1_to_v2(update),
        (Format::V2, None | Some(Format::V1)) => convert_v2_to_v1(update),
        _ => Ok(update.to_vec()),
    })
}

/// Writes the state vector of a document that has this update only.
pub(crate) fn state_vector(args: &One) -> Result<(), Failure> {
    args.run(state_of)
}

/// Replaces what an update says by numbers.
pub(crate) fn obfuscate(args: &ObfuscateArgs) -> Result<(), Failure> {
    let options = ObfuscateOptions {
        formatting: !args.keep_formatting,
        subdocs: !args.keep_subdocs,
        yxml: !args.keep_xml,
    };
    args.one.run(|format, update| match format {
        Format::V1 => obfuscate_update_v1(update, options),
        Format::V2 => obfuscate_update_v2(update, options),
    })
}
