//! Where bytes come from: a file, standard input, or text in hexadecimal or base64.

use std::fs;
use std::io::{self, Read};

use base64::alphabet;
use base64::engine::{DecodePaddingMode, Engine, GeneralPurpose, GeneralPurposeConfig};

use crate::failure::Failure;

/// How inputs are written.
#[derive(clap::Args, Clone, Copy, Debug)]
pub(crate) struct Text {
    /// Inputs are hexadecimal text, not names of files (`-`: text on standard input).
    #[arg(long, conflicts_with = "base64")]
    hex: bool,
    /// Inputs are base64 text, not names of files (`-`: text on standard input).
    #[arg(long)]
    base64: bool,
}

/// Bytes, and what to call them in messages.
#[derive(Debug)]
pub(crate) struct Input {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
}

impl Input {
    /// Makes the failure that says what is wrong with these bytes.
    pub(crate) fn wrong(&self, what: impl std::fmt::Display) -> Failure {
        Failure::Input(format!("{}: {what}", self.name))
    }
}

impl Text {
    /// Reads the inputs that the command line names; standard input can be named once.
    pub(crate) fn read_all(self, names: &[&str]) -> Result<Vec<Input>, Failure> {
        if names.iter().filter(|name| **name == "-").count() > 1 {
            return Err(Failure::Usage("standard input (`-`) can be read once only".to_owned()));
        }
        names.iter().map(|name| self.read(name)).collect()
    }

    /// Reads one input.
    pub(crate) fn read(self, name: &str) -> Result<Input, Failure> {
        let is_text = self.hex || self.base64;
        let (name, bytes) = match name {
            "-" => ("standard input".to_owned(), stdin()?),
            text if is_text => (format!("`{}`", shortened(text)), text.as_bytes().to_vec()),
            file => {
                let bytes = fs::read(file).map_err(|error| Failure::Input(format!("{file}: {error}")))?;
                (file.to_owned(), bytes)
            }
        };
        let input = Input { name, bytes };
        if !is_text {
            return Ok(input);
        }
        let decoded = if self.hex { unhex(&input.bytes) } else { unbase64(&input.bytes) };
        match decoded {
            Ok(bytes) => Ok(Input { bytes, ..input }),
            Err(what) => Err(input.wrong(what)),
        }
    }
}

fn stdin() -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let read = io::stdin().lock().read_to_end(&mut bytes);
    read.map_err(|error| Failure::Input(format!("standard input: {error}")))?;
    Ok(bytes)
}

/// The beginning of a text that was given, to tell it by.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(16) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Reads pairs of hexadecimal digits, between which there can be white space.
fn unhex(text: &[u8]) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(text.len() / 2);
    let mut high = None;
    for (at, &character) in text.iter().enumerate().filter(|(_, character)| !character.is_ascii_whitespace())
    {
        let digit = char::from(character).to_digit(16);
        let digit = digit.ok_or_else(|| format!("at character {at}: not a hexadecimal digit"))? as u8;
        match high.take() {
            None => high = Some(digit),
            Some(high) => bytes.push(high << 4 | digit),
        }
    }
    match high {
        None => Ok(bytes),
        Some(_) => Err(format!("at character {}: half a byte is missing", text.len())),
    }
}

/// Reads base64 in the usual or the URL alphabet, padded or not, with white space anywhere.
fn unbase64(text: &[u8]) -> Result<Vec<u8>, String> {
    let config = GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    let usual = |character: u8| match character {
        b'-' => b'+',
        b'_' => b'/',
        other => other,
    };
    let text: Vec<u8> =
        text.iter().copied().filter(|character| !character.is_ascii_whitespace()).map(usual).collect();
    let engine = GeneralPurpose::new(&alphabet::STANDARD, config);
    engine.decode(text).map_err(|error| format!("not base64: {error}"))
}
