//! `yatta text` and `yatta json`: what a document says, root by root.

use yatta::types::ToJson;
use yatta::updates::decoder::Decode;
use yatta::updates::tools::decode_update_v1;
use yatta::{Any, Doc, GetString, ReadTxn, StateVector, Transact, Transaction, Update};

use crate::failure::Failure;
use crate::input::{Input, Text};
use crate::kind::{self, AsFormat, Format};
use crate::output;
use crate::roots::{self, RootKind};

/// What both commands take.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// A document as an update, in a file, or `-` for standard input.
    #[arg(default_value = "-")]
    input: String,
    /// The root type to print; without it all are.
    root: Option<String>,
    #[command(flatten)]
    text: Text,
    #[command(flatten)]
    format: AsFormat,
}

/// A document that was read.
struct Loaded {
    input: Input,
    doc: Doc,
    roots: Vec<(String, RootKind)>,
}

impl Loaded {
    fn new(args: &Args) -> Result<Self, Failure> {
        let input = args.text.read(&args.input)?;
        let (format, _) = kind::read_update(&input, args.format)?;
        let update = match format {
            Format::V1 => Update::decode_v1(&input.bytes),
            Format::V2 => Update::decode_v2(&input.bytes),
        };
        let update = update.map_err(|error| input.wrong(error))?;
        let doc = Doc::new();
        doc.transact_mut().apply_update(update).map_err(|error| input.wrong(error))?;
        let txn = doc.transact();
        if txn.has_missing_updates() {
            eprintln!("yatta: {}: updates are missing; what waits for them is not shown", input.name);
        }
        let state = txn.encode_diff_v1(&StateVector::default());
        let kinds = roots::kinds(&decode_update_v1(&state).map_err(|error| input.wrong(error))?);
        let kind = |name: &str| kinds.get(name).copied().unwrap_or(RootKind::Unknown);
        let mut roots: Vec<_> = txn.root_refs().map(|(name, _)| (name.to_owned(), kind(name))).collect();
        roots.sort();
        drop(txn);
        match &args.root {
            Some(wanted) if !roots.iter().any(|(name, _)| name == wanted) => {
                let names: Vec<&str> = roots.iter().map(|(name, _)| name.as_str()).collect();
                return Err(input.wrong(format!("no root `{wanted}`; there are: {}", names.join(", "))));
            }
            Some(wanted) => roots.retain(|(name, _)| name == wanted),
            None => {}
        }
        Ok(Self { input, doc, roots })
    }
}

/// Prints one text as it is, or all texts under their names.
pub(crate) fn text(args: &Args) -> Result<(), Failure> {
    let Loaded { input, doc, roots } = Loaded::new(args)?;
    let txn = doc.transact();
    let mut printed = String::new();
    for (name, kind) in &roots {
        let text = match kind {
            RootKind::Text | RootKind::Unknown => {
                txn.get_text(name.as_str()).map(|text| text.get_string(&txn))
            }
            RootKind::Xml => txn.get_xml_fragment(name.as_str()).map(|root| root.get_string(&txn)),
            RootKind::Array | RootKind::Map if args.root.is_some() => {
                return Err(input.wrong(format!("the root `{name}` is no text: see `yatta json`")));
            }
            RootKind::Array | RootKind::Map => None,
        };
        if let Some(text) = text {
            if args.root.is_none() {
                printed += &format!("== {name}\n");
            }
            printed += &text;
            printed.push('\n');
        }
    }
    output::print(printed.as_bytes())
}

/// Prints one root as JSON, or an object of all.
pub(crate) fn json(args: &Args) -> Result<(), Failure> {
    let Loaded { doc, roots, .. } = Loaded::new(args)?;
    let txn = doc.transact();
    let value = match (&args.root, &roots[..]) {
        (Some(_), [(name, kind)]) => plain(&txn, name, *kind),
        _ => {
            let all = roots.iter().map(|(name, kind)| (name.clone(), plain(&txn, name, *kind)));
            Any::Map(all.collect())
        }
    };
    let mut printed = String::new();
    value.to_json(&mut printed);
    printed.push('\n');
    output::print(printed.as_bytes())
}

/// A root as what it looks like; an empty one is `null`.
fn plain(txn: &Transaction<'_>, name: &str, kind: RootKind) -> Any {
    let value = match kind {
        RootKind::Text => txn.get_text(name).map(|root| Any::from(root.get_string(txn))),
        RootKind::Map => txn.get_map(name).map(|root| root.to_json(txn)),
        RootKind::Array => txn.get_array(name).map(|root| root.to_json(txn)),
        RootKind::Xml => txn.get_xml_fragment(name).map(|root| Any::from(root.get_string(txn))),
        RootKind::Unknown => None,
    };
    value.unwrap_or(Any::Null)
}
