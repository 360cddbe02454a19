//! What bytes are: an update, a state vector, a snapshot, a sticky index, awareness or a message. Told by reading them
//! to the last byte as each, unless the command line says it.

use clap::ValueEnum;
use yatta::sync::awareness::AwarenessUpdate;
use yatta::sync::{Message, SyncMessage};
use yatta::updates::decoder::Decode;
use yatta::updates::encoder::Encode;
use yatta::updates::tools::DecodedUpdate;
use yatta::{Snapshot, StateVector, StickyIndex};
use yatta_encoding::block::UpdateReader;
use yatta_encoding::{Cursor, DecoderV1, DecoderV2, Error, Read, UpdateDecoder};

use crate::failure::Failure;
use crate::input::Input;

/// A kind of bytes.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Update,
    StateVector,
    Snapshot,
    /// A relative position of Yjs.
    StickyIndex,
    Awareness,
    /// Frames of y-websocket, one after the other.
    Message,
    /// A message of the sync protocol that stands in no frame.
    Sync,
}

/// One of the two formats of updates.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    V1,
    V2,
}

/// What the command line says of the format.
#[derive(clap::Args, Clone, Copy, Debug, Default)]
pub(crate) struct AsFormat {
    /// Read in the first format.
    #[arg(long, conflicts_with = "v2")]
    v1: bool,
    /// Read in the second format.
    #[arg(long)]
    v2: bool,
}

impl AsFormat {
    /// The formats to try, the likelier first.
    fn formats(self) -> &'static [Format] {
        match (self.v1, self.v2) {
            (true, _) => &[Format::V1],
            (_, true) => &[Format::V2],
            _ => &[Format::V1, Format::V2],
        }
    }
}

/// Bytes that have been read.
#[derive(Debug)]
pub(crate) enum Parsed<'a> {
    Update(Format, DecodedUpdate<'a>),
    StateVector(StateVector),
    Snapshot(Format, Snapshot),
    StickyIndex(StickyIndex),
    Awareness(AwarenessUpdate),
    Messages(Vec<Message>),
    Sync(SyncMessage),
}

impl Parsed<'_> {
    /// Names what it is.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Update(Format::V1, _) => "update (V1)",
            Self::Update(Format::V2, _) => "update (V2)",
            Self::StateVector(_) => "state vector",
            Self::Snapshot(Format::V1, _) => "snapshot (V1)",
            Self::Snapshot(Format::V2, _) => "snapshot (V2)",
            Self::StickyIndex(_) => "sticky index",
            Self::Awareness(_) => "awareness",
            Self::Messages(_) => "message",
            Self::Sync(_) => "sync message",
        }
    }
}

/// Bytes as one kind, and how many are left behind what was read.
struct Whole<'a> {
    parsed: Parsed<'a>,
    left: usize,
}

/// Reads an input as what it is, or as what it is said to be. Then bytes may be left, as in Yjs.
pub(crate) fn read(
    input: &Input,
    kind: Option<Kind>,
    format: AsFormat,
) -> Result<(Parsed<'_>, usize), Failure> {
    match kind {
        Some(kind) => read_as(input, kind, format),
        None => guess(input, format).map(|parsed| (parsed, 0)),
    }
}

/// Reads an input as an update of one of the formats.
pub(crate) fn read_update(input: &Input, format: AsFormat) -> Result<(Format, DecodedUpdate<'_>), Failure> {
    match read_as(input, Kind::Update, format)? {
        (Parsed::Update(format, update), _) => Ok((format, update)),
        (other, _) => Err(input.wrong(format!("a {}, not an update", other.name()))),
    }
}

fn read_as(input: &Input, kind: Kind, format: AsFormat) -> Result<(Parsed<'_>, usize), Failure> {
    let formats = match kind {
        Kind::Update | Kind::Snapshot => format.formats(),
        _ => &[Format::V1],
    };
    let mut wrong = Vec::new();
    let mut best: Option<Whole<'_>> = None;
    for &format in formats {
        match parse(&input.bytes, kind, format) {
            Ok(whole) if best.as_ref().is_none_or(|best| whole.left < best.left) => best = Some(whole),
            Ok(_) => {}
            Err(error) => wrong.push(format!("{format:?}: {error}")),
        }
    }
    match best {
        Some(Whole { parsed, left }) => Ok((parsed, left)),
        None => {
            let name = kind.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned());
            let wrong =
                if formats.len() == 1 { wrong.concat().replacen("V1: ", "", 1) } else { wrong.join("; ") };
            Err(input.wrong(format!("no {name}: {wrong}")))
        }
    }
}

/// The kinds in the order in which they are tried: those that can least be taken for others first.
const KINDS: [Kind; 7] = [
    Kind::Update,
    Kind::Message,
    Kind::Sync,
    Kind::Snapshot,
    Kind::Awareness,
    Kind::StateVector,
    Kind::StickyIndex,
];

fn guess(input: &Input, format: AsFormat) -> Result<Parsed<'_>, Failure> {
    for kind in KINDS {
        for &format in format.formats() {
            if let Ok(Whole { parsed, left: 0 }) = parse(&input.bytes, kind, format)
                && is_likely(&parsed, &input.bytes)
            {
                return Ok(parsed);
            }
        }
    }
    // Updates are what one nearly always has: say why it is none.
    let update = read_as(input, Kind::Update, format);
    Err(match update {
        Err(Failure::Input(why)) => {
            Failure::Input(format!("{why}; nor anything else (--kind says what it is)"))
        }
        _ => input.wrong("bytes follow what can be read of it (--kind says what it is)"),
    })
}

/// Whether bytes that can be read as this were meant as it.
fn is_likely(parsed: &Parsed<'_>, bytes: &[u8]) -> bool {
    let is_update = |update: &[u8]| parse(update, Kind::Update, Format::V1).is_ok();
    let is_sync = |message: &SyncMessage| match message {
        SyncMessage::SyncStep1(_) => true,
        SyncMessage::SyncStep2(update) | SyncMessage::Update(update) => is_update(update),
    };
    let is_json = |update: &AwarenessUpdate| {
        update
            .clients
            .values()
            .all(|entry| serde_json::from_str::<serde::de::IgnoredAny>(&entry.json).is_ok())
    };
    match parsed {
        Parsed::Update(..) | Parsed::StateVector(_) => true,
        Parsed::Snapshot(format, snapshot) => {
            let written = if *format == Format::V1 { snapshot.encode_v1() } else { snapshot.encode_v2() };
            written == bytes
                && snapshot.delete_set.iter().all(|(client, ranges)| {
                    ranges.iter().all(|range| range.end <= snapshot.state_map.get(client))
                })
        }
        Parsed::StickyIndex(index) => index.encode_v1() == bytes,
        Parsed::Awareness(update) => is_json(update),
        Parsed::Messages(messages) => messages.iter().all(|message| match message {
            Message::Sync(message) => is_sync(message),
            Message::Awareness(update) => is_json(update),
            Message::Auth(_) | Message::AwarenessQuery => true,
            Message::Custom(..) => false,
        }),
        Parsed::Sync(message) => is_sync(message),
    }
}

fn parse(bytes: &[u8], kind: Kind, format: Format) -> Result<Whole<'_>, String> {
    Ok(match (kind, format) {
        (Kind::Update, Format::V1) => update(format, DecoderV1::from(bytes))?,
        (Kind::Update, Format::V2) => {
            let decoder =
                DecoderV2::new(Cursor::new(bytes)).map_err(|error| format!("in its columns: {error}"))?;
            update(format, decoder)?
        }
        (Kind::Snapshot, Format::V2) => {
            let snapshot = Snapshot::decode_v2(bytes).map_err(|error| error.to_string())?;
            Whole { parsed: Parsed::Snapshot(format, snapshot), left: 0 }
        }
        (Kind::Snapshot, Format::V1) => decode(bytes, |snapshot| Parsed::Snapshot(format, snapshot))?,
        (Kind::StateVector, _) => decode(bytes, Parsed::StateVector)?,
        (Kind::StickyIndex, _) => decode(bytes, Parsed::StickyIndex)?,
        (Kind::Awareness, _) => decode(bytes, Parsed::Awareness)?,
        (Kind::Sync, _) => decode(bytes, Parsed::Sync)?,
        (Kind::Message, _) => {
            let mut decoder = DecoderV1::from(bytes);
            let mut messages = Vec::new();
            while messages.is_empty() || decoder.remaining() > 0 {
                let message = Message::decode(&mut decoder);
                messages.push(message.map_err(|error| at(decoder.position(), &error))?);
            }
            Whole { parsed: Parsed::Messages(messages), left: 0 }
        }
    })
}

fn decode<'a, T: Decode>(bytes: &'a [u8], parsed: impl Fn(T) -> Parsed<'a>) -> Result<Whole<'a>, String> {
    let mut decoder = DecoderV1::from(bytes);
    match T::decode(&mut decoder) {
        Ok(value) => Ok(Whole { parsed: parsed(value), left: decoder.remaining() }),
        Err(error) => Err(at(decoder.position(), &error)),
    }
}

fn update<'a, D: UpdateDecoder<'a>>(format: Format, decoder: D) -> Result<Whole<'a>, String> {
    let start = decoder.offset();
    let mut reader = UpdateReader::new(decoder).map_err(|error| at(start, &error))?;
    let mut decoded = DecodedUpdate::default();
    let read = loop {
        match reader.next_block() {
            Ok(Some(block)) => decoded.blocks.push(block),
            Ok(None) => break reader.read_delete_set(|range| decoded.delete_set.push(range)),
            Err(error) => break Err(error),
        }
    };
    match read {
        Ok(()) => Ok(Whole { parsed: Parsed::Update(format, decoded), left: reader.decoder().remaining() }),
        Err(error) => Err(at(reader.decoder().offset(), &error)),
    }
}

/// Says where something is wrong, unless the error says it. In the second format, the place in the last of its parts.
fn at(offset: usize, error: &Error) -> String {
    let text = error.to_string();
    if text.starts_with("at byte ") { text } else { format!("at byte {offset}: {text}") }
}
