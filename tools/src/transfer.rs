//! `yatta import` and `yatta export`: documents into and out of the store of `yatta serve`, which must not run meanwhile.

use std::fs;
use std::path::PathBuf;

use yatta_server::name::RoomName;
use yatta_server::store::Durability;
use yatta_server::store::sqlite::SqliteStore;
use yatta_server::transfer::{self, Outcome, Source};

use crate::failure::Failure;

/// Which store.
#[derive(clap::Args)]
struct Target {
    /// Folder of the store of `yatta serve`
    #[arg(long, env = "YATTA_DATA_DIR", default_value = "yatta-data", value_name = "DIR")]
    data_dir: PathBuf,
}

impl Target {
    fn open(&self) -> Result<SqliteStore, Failure> {
        let opened = SqliteStore::open(&self.data_dir, Durability::Full);
        opened.map_err(|error| Failure::Input(error.to_string()))
    }
}

/// What to import.
#[derive(clap::Args)]
pub(crate) struct ImportArgs {
    #[command(flatten)]
    target: Target,
    /// What the source is
    #[arg(value_enum)]
    source: Source,
    /// Its file or folder
    path: PathBuf,
    /// Merge into documents that are there already, instead of leaving them alone
    #[arg(long)]
    merge: bool,
}

/// What to export.
#[derive(clap::Args)]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    target: Target,
    /// The document
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    name: Option<String>,
    /// File for its update (V1), to be read by `yatta json`, `yatta text` and every Yjs
    #[arg(short, long, required_unless_present = "all", value_name = "FILE")]
    output: Option<PathBuf>,
    /// Export all documents into this folder, from where `yatta import folder` takes them
    #[arg(long, value_name = "FOLDER", conflicts_with = "output")]
    all: Option<PathBuf>,
}

/// Imports, and says what became of each document.
pub(crate) fn import(args: &ImportArgs) -> Result<(), Failure> {
    let store = args.target.open()?;
    let (mut imported, mut left) = (0, 0);
    let done = transfer::import(&store, args.source, &args.path, args.merge, |name, outcome| {
        match outcome {
            Outcome::Imported(bytes) => {
                imported += 1;
                println!("{name:?}: {bytes} bytes");
                return;
            }
            Outcome::Exists => eprintln!("{name:?}: left alone, as it is there already (--merge merges)"),
            Outcome::Refused(why) => eprintln!("{name:?}: refused: {why}"),
        }
        left += 1;
    });
    done.map_err(|error| Failure::Input(error.to_string()))?;
    println!("{imported} imported, {left} not");
    if left > 0 { Err(Failure::Input(format!("{left} documents were not imported"))) } else { Ok(()) }
}

/// Exports one document or all.
pub(crate) fn export(args: &ExportArgs) -> Result<(), Failure> {
    // Opening makes a store where there is none: a wrong folder should not look like an empty store.
    if !args.target.data_dir.join("yatta.db").is_file() {
        return Err(Failure::Input(format!("{}: no store", args.target.data_dir.display())));
    }
    let store = args.target.open()?;
    if let Some(folder) = &args.all {
        let (count, left_out) =
            transfer::export_all(&store, folder).map_err(|error| Failure::Input(error.to_string()))?;
        println!("{count} documents");
        if left_out.is_empty() {
            return Ok(());
        }
        return Err(Failure::Input(format!(
            "names too long for a file's: {left_out:?}; export them by name"
        )));
    }
    let (Some(name), Some(output)) = (&args.name, &args.output) else {
        return Err(Failure::Usage("a document and a file, or --all".to_owned()));
    };
    let wrong = |error: &dyn std::fmt::Display| Failure::Input(format!("{name:?}: {error}"));
    let room = RoomName::new(name).map_err(|bad| wrong(&bad))?;
    let update = transfer::export(&store, &room).map_err(|error| wrong(&error))?;
    Ok(fs::write(output, update)?)
}
