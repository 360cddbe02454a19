//! `yatta inspect`: what stands in bytes of any kind, as a table or as JSON. Builds no document; cost O(bytes).

mod json;
mod sizes;
mod table;

use crate::failure::Failure;
use crate::input::Text;
use crate::kind::{self, AsFormat, Kind};
use crate::output;

/// What the subcommand takes.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// A file, or `-` for standard input.
    #[arg(default_value = "-")]
    input: String,
    #[command(flatten)]
    text: Text,
    /// What the input is, if it is not to be told by its bytes.
    #[arg(long, value_name = "KIND")]
    kind: Option<Kind>,
    #[command(flatten)]
    format: AsFormat,
    /// As JSON.
    #[arg(long)]
    json: bool,
    /// Of updates: only the sizes, not each block.
    #[arg(long)]
    sizes: bool,
}

/// Reads the input and prints what it is and holds.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let input = args.text.read(&args.input)?;
    let (parsed, left) = kind::read(&input, args.kind, args.format)?;
    let text = if args.json {
        let mut value = json::of(&parsed, args.sizes);
        value["kind"] = parsed.name().into();
        value["bytes"] = input.bytes.len().into();
        value["unread"] = left.into();
        format!("{value:#}\n")
    } else {
        let unread =
            if left > 0 { format!(", of which the last {left} are not read") } else { String::new() };
        format!("{}, {} bytes{unread}\n{}", parsed.name(), input.bytes.len(), table::of(&parsed, args.sizes))
    };
    output::print(text.as_bytes())
}
