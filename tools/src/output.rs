//! Where bytes go: a file, standard output, or text. A terminal is spared them.

use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use clap::ValueEnum;

use crate::failure::Failure;

/// Where the result of a command goes.
#[derive(clap::Args, Debug)]
pub(crate) struct Output {
    /// Write to this file instead of standard output.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write as text: hexadecimal or base64, with a line end.
    #[arg(long, value_name = "AS")]
    print: Option<Print>,
}

#[derive(ValueEnum, Clone, Copy, Debug)]
enum Print {
    Hex,
    Base64,
}

impl Output {
    /// Fails if the result would land on a terminal as bytes: to be asked before any work is done.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        if self.output.is_none() && self.print.is_none() && io::stdout().is_terminal() {
            return Err(Failure::Usage(
                "the result is binary: name a file with --output, or add --print hex".to_owned(),
            ));
        }
        Ok(())
    }

    /// Writes the result.
    pub(crate) fn write(&self, bytes: &[u8]) -> Result<(), Failure> {
        let text = match self.print {
            None => None,
            Some(Print::Hex) => Some(hex(bytes)),
            Some(Print::Base64) => Some(STANDARD.encode(bytes)),
        };
        let text = text.map(|text| text + "\n");
        let bytes = text.as_ref().map_or(bytes, |text| text.as_bytes());
        match &self.output {
            Some(file) => fs::write(file, bytes)
                .map_err(|error| Failure::Input(format!("{}: cannot write: {error}", file.display()))),
            None => print(bytes),
        }
    }
}

/// Writes to standard output.
pub(crate) fn print(bytes: &[u8]) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes)?;
    Ok(stdout.flush()?)
}

/// Writes bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a string takes all");
        text
    })
}
