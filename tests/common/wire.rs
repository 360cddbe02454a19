//! A reader of updates that shares no code with the engine: it judges bytes, so it must not repeat their faults.
//!
//! `normalise` brings the delete set of an update into Yjs's order (clients descending, touching ranges joined) and
//! leaves every other byte alone; `squashed` lists the structs of a V1 update with mergeable neighbours joined.

use super::json::Json;

/// Client and clock.
pub(crate) type Id = (u64, u64);

/// One struct of a V1 update.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Struct {
    pub(crate) id: Id,
    pub(crate) len: u64,
    pub(crate) origin: Option<Id>,
    pub(crate) right_origin: Option<Id>,
    /// Root name or id, if it is written.
    pub(crate) parent: Option<Parent>,
    pub(crate) key: Option<String>,
    pub(crate) content: Content,
}

/// A parent as it is written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Parent {
    Root(String),
    Id(Id),
}

/// What a struct holds.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Content {
    Gc,
    Skip,
    Deleted,
    /// Raw JSON of each element.
    Json(Vec<String>),
    Binary(Vec<u8>),
    String(String),
    Embed(String),
    Format(String, String),
    /// Type reference and node name.
    Type(u64, Option<String>),
    /// Raw bytes of each element.
    Any(Vec<Vec<u8>>),
    /// Guid and the raw bytes of the options.
    Doc(String, Vec<u8>),
}

/// Clients with their deleted ranges (clock, len), as an update lists them.
pub(crate) type Deletes = Vec<(u64, Vec<(u64, u64)>)>;

/// A decoded V1 update.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Update {
    pub(crate) structs: Vec<Struct>,
    pub(crate) deletes: Deletes,
}

/// Reads a V1 update.
pub(crate) fn decode(bytes: &[u8]) -> Result<Update, String> {
    let mut reader = Reader::new(bytes);
    let structs = reader.structs()?;
    let deletes = reader.deletes(false)?;
    Ok(Update { structs, deletes })
}

/// The update with its delete set in Yjs's order.
pub(crate) fn normalise(bytes: &[u8], v2: bool) -> Result<Vec<u8>, String> {
    let mut reader = Reader::new(bytes);
    if v2 {
        skip_structs_v2(&mut reader)?
    } else {
        drop(reader.structs()?)
    }
    let mut out = bytes[..reader.at].to_vec();
    write_deletes(&mut out, &sorted(reader.deletes(v2)?), v2);
    Ok(out)
}

/// The entries of a state vector, as they stand.
pub(crate) fn state_vector(bytes: &[u8]) -> Result<Vec<Id>, String> {
    let mut reader = Reader::new(bytes);
    let count = reader.uint()?;
    (0..count).map(|_| reader.id()).collect()
}

/// A state vector with its clients in descending order.
pub(crate) fn normalise_state_vector(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let mut entries = state_vector(bytes)?;
    entries.sort_by(|a, b| b.cmp(a));
    let mut out = Vec::new();
    write_uint(&mut out, entries.len() as u64);
    for (client, clock) in entries {
        write_uint(&mut out, client);
        write_uint(&mut out, clock);
    }
    Ok(out)
}

/// Clients descending, ranges ascending, touching and overlapping ones joined.
pub(crate) fn sorted(mut deletes: Deletes) -> Deletes {
    deletes.sort_by_key(|entry| std::cmp::Reverse(entry.0));
    for (_, ranges) in &mut deletes {
        ranges.sort_unstable();
        let mut joined: Vec<(u64, u64)> = Vec::new();
        for &(clock, len) in ranges.iter() {
            match joined.last_mut() {
                Some(last) if last.0 + last.1 >= clock => last.1 = last.1.max(clock + len - last.0),
                _ => joined.push((clock, len)),
            }
        }
        *ranges = joined;
    }
    deletes
}

/// The structs with neighbouring collected ranges joined.
pub(crate) fn joined_ranges(structs: &[Struct]) -> Vec<Struct> {
    let mut out: Vec<Struct> = Vec::new();
    for next in structs {
        match out.last_mut() {
            Some(last)
                if last.content == Content::Gc
                    && next.content == Content::Gc
                    && last.id.0 == next.id.0
                    && last.id.1 + last.len == next.id.1 =>
            {
                last.len += next.len;
            }
            _ => out.push(next.clone()),
        }
    }
    out
}

/// The structs with every pair of neighbours joined that Yjs would have joined in its store.
pub(crate) fn squashed(structs: &[Struct]) -> Vec<Struct> {
    let mut out: Vec<Struct> = Vec::new();
    for right in structs {
        match out.last_mut() {
            Some(left) if follows(left, right) => {
                left.len += right.len;
                match (&mut left.content, &right.content) {
                    (Content::String(a), Content::String(b)) => a.push_str(b),
                    (Content::Any(a), Content::Any(b)) => a.extend_from_slice(b),
                    (Content::Json(a), Content::Json(b)) => a.extend_from_slice(b),
                    _ => {}
                }
            }
            _ => out.push(right.clone()),
        }
    }
    out
}

fn follows(left: &Struct, right: &Struct) -> bool {
    let contiguous = left.id.0 == right.id.0 && left.id.1 + left.len == right.id.1;
    let last = (left.id.0, right.id.1.wrapping_sub(1));
    contiguous
        && match (&left.content, &right.content) {
            (Content::Gc, Content::Gc) => true,
            (Content::String(_), Content::String(_))
            | (Content::Any(_), Content::Any(_))
            | (Content::Json(_), Content::Json(_))
            | (Content::Deleted, Content::Deleted) => {
                right.origin == Some(last) && left.right_origin == right.right_origin
            }
            _ => false,
        }
}

/// A description of an update for a failure message.
pub(crate) fn describe(bytes: &[u8]) -> String {
    match decode(bytes) {
        Err(error) => format!("{error}: {}", super::json::hex(bytes)),
        Ok(update) => {
            let lines: Vec<_> = update.structs.iter().map(|s| format!("  {}", line(s))).collect();
            format!("{}\n  deleted {:?}", lines.join("\n"), update.deletes)
        }
    }
}

fn line(s: &Struct) -> String {
    let id =
        |id: Option<Id>| id.map_or_else(|| "-".to_owned(), |(client, clock)| format!("{client}:{clock}"));
    let mut line =
        format!("{}+{} {:?} [{} {}]", id(Some(s.id)), s.len, s.content, id(s.origin), id(s.right_origin));
    if s.parent.is_some() || s.key.is_some() {
        line += &format!(" in {:?} {:?}", s.parent, s.key);
    }
    line
}

/// The JSON of a raw lib0 `any`, in the notation of the test cases.
pub(crate) fn any_json(bytes: &[u8]) -> Result<Json, String> {
    Reader::new(bytes).any()
}

pub(crate) fn write_uint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push((value as u8) | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn write_deletes(out: &mut Vec<u8>, deletes: &Deletes, v2: bool) {
    write_uint(out, deletes.len() as u64);
    for (client, ranges) in deletes {
        write_uint(out, *client);
        write_uint(out, ranges.len() as u64);
        let mut current = 0;
        for &(clock, len) in ranges {
            write_uint(out, clock - current);
            write_uint(out, if v2 { len - 1 } else { len });
            current = if v2 { clock + len } else { 0 };
        }
    }
}

/// Walks the structs of a V2 update, to find where its delete set begins.
fn skip_structs_v2(reader: &mut Reader<'_>) -> Result<(), String> {
    reader.uint()?;
    let mut columns = Vec::new();
    for _ in 0..9 {
        columns.push(reader.buffer()?);
    }
    let mut info = Rle::new(columns[4]);
    let mut parent_info = Rle::new(columns[6]);
    let mut len = UintOptRle::new(columns[8]);
    let mut type_ref = UintOptRle::new(columns[7]);
    for _ in 0..reader.uint()? {
        let count = reader.uint()?;
        reader.uint()?;
        for _ in 0..count {
            let byte = info.next()?;
            let reference = byte & 31;
            if !matches!(reference, 0 | 10) && byte & 0xC0 == 0 {
                parent_info.next()?;
            }
            match reference {
                0..=2 => drop(len.next()?),
                3 => drop(reader.buffer()?),
                5 | 6 => drop(reader.any()?),
                7 => drop(type_ref.next()?),
                8 => {
                    for _ in 0..len.next()? {
                        reader.any()?;
                    }
                }
                9 => drop(reader.any()?),
                10 => drop(reader.uint()?),
                _ => {}
            }
        }
    }
    Ok(())
}

/// The column codec for info bytes: a value, then how often it repeats.
struct Rle<'a> {
    reader: Reader<'a>,
    value: u8,
    left: u64,
}

impl<'a> Rle<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self { reader: Reader::new(bytes), value: 0, left: 0 }
    }

    fn next(&mut self) -> Result<u8, String> {
        if self.left == 0 {
            self.value = self.reader.byte()?;
            // the last run has no count: it goes on for ever
            self.left = if self.reader.ended() { u64::MAX } else { self.reader.uint()? + 1 };
        }
        self.left -= 1;
        Ok(self.value)
    }
}

/// The column codec for lengths: a negative number starts a run.
struct UintOptRle<'a> {
    reader: Reader<'a>,
    value: u64,
    left: u64,
}

impl<'a> UintOptRle<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self { reader: Reader::new(bytes), value: 0, left: 0 }
    }

    fn next(&mut self) -> Result<u64, String> {
        if self.left == 0 {
            let (value, negative) = self.reader.int()?;
            self.value = value;
            self.left = if negative { self.reader.uint()? + 2 } else { 1 };
        }
        self.left -= 1;
        Ok(self.value)
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    fn ended(&self) -> bool {
        self.at >= self.bytes.len()
    }

    fn byte(&mut self) -> Result<u8, String> {
        let byte =
            self.bytes.get(self.at).copied().ok_or_else(|| format!("wire: end of input at {}", self.at))?;
        self.at += 1;
        Ok(byte)
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8], String> {
        let end = self.at.checked_add(len).filter(|end| *end <= self.bytes.len());
        let end = end.ok_or_else(|| format!("wire: end of input at {}", self.at))?;
        let slice = &self.bytes[self.at..end];
        self.at = end;
        Ok(slice)
    }

    fn uint(&mut self) -> Result<u64, String> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(format!("wire: number too long at {}", self.at))
    }

    /// Magnitude and sign of a varInt.
    fn int(&mut self) -> Result<(u64, bool), String> {
        let first = self.byte()?;
        let mut value = u64::from(first & 0x3F);
        let mut more = first & 0x80 != 0;
        let mut shift = 6;
        while more {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7F).checked_shl(shift).unwrap_or(0);
            more = byte & 0x80 != 0;
            shift += 7;
        }
        Ok((value, first & 0x40 != 0))
    }

    fn buffer(&mut self) -> Result<&'a [u8], String> {
        let len = self.uint()? as usize;
        self.take(len)
    }

    fn string(&mut self) -> Result<String, String> {
        let at = self.at;
        String::from_utf8(self.buffer()?.to_vec()).map_err(|_| format!("wire: bad UTF-8 at {at}"))
    }

    fn id(&mut self) -> Result<Id, String> {
        Ok((self.uint()?, self.uint()?))
    }

    fn any(&mut self) -> Result<Json, String> {
        Ok(match self.byte()? {
            127 => Json::object([("$undefined", true.into())]),
            126 => Json::Null,
            125 => {
                let (value, negative) = self.int()?;
                match (value, negative) {
                    (0, true) => Json::object([("$float", "-0".into())]),
                    (_, true) => Json::Number(-(value as f64)),
                    (_, false) => Json::Number(value as f64),
                }
            }
            124 => float(f64::from(f32::from_be_bytes(self.array()?))),
            123 => float(f64::from_be_bytes(self.array()?)),
            122 => Json::object([("$bigint", i64::from_be_bytes(self.array()?).to_string().into())]),
            121 => false.into(),
            120 => true.into(),
            119 => self.string()?.into(),
            118 => {
                let mut object = Json::Object(Vec::new());
                for _ in 0..self.uint()? {
                    let key = self.string()?;
                    let value = self.any()?;
                    object.set(&key, value);
                }
                object
            }
            117 => {
                let count = self.uint()?;
                Json::Array((0..count).map(|_| self.any()).collect::<Result<_, _>>()?)
            }
            116 => Json::object([("$bytes", super::json::hex(self.buffer()?).into())]),
            tag => return Err(format!("wire: unknown tag {tag} at {}", self.at)),
        })
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], String> {
        self.take(N)?.try_into().map_err(|_| "wire: short number".to_owned())
    }

    fn raw_any(&mut self) -> Result<Vec<u8>, String> {
        let start = self.at;
        self.any()?;
        Ok(self.bytes[start..self.at].to_vec())
    }

    fn structs(&mut self) -> Result<Vec<Struct>, String> {
        let mut structs = Vec::new();
        for _ in 0..self.uint()? {
            let count = self.uint()?;
            let (client, mut clock) = self.id()?;
            for _ in 0..count {
                let next = self.block((client, clock))?;
                clock += next.len;
                structs.push(next);
            }
        }
        Ok(structs)
    }

    fn block(&mut self, id: Id) -> Result<Struct, String> {
        let info = self.byte()?;
        let mut out = Struct {
            id,
            len: 1,
            origin: None,
            right_origin: None,
            parent: None,
            key: None,
            content: Content::Gc,
        };
        if matches!(info & 31, 0 | 10) {
            out.len = self.uint()?;
            out.content = if info & 31 == 0 { Content::Gc } else { Content::Skip };
            return Ok(out);
        }
        if info & 0x80 != 0 {
            out.origin = Some(self.id()?);
        }
        if info & 0x40 != 0 {
            out.right_origin = Some(self.id()?);
        }
        if info & 0xC0 == 0 {
            let root = self.uint()? == 1;
            out.parent = Some(if root { Parent::Root(self.string()?) } else { Parent::Id(self.id()?) });
            if info & 0x20 != 0 {
                out.key = Some(self.string()?);
            }
        }
        (out.content, out.len) = self.content(info & 31)?;
        Ok(out)
    }

    fn content(&mut self, reference: u8) -> Result<(Content, u64), String> {
        Ok(match reference {
            1 => (Content::Deleted, self.uint()?),
            2 => {
                let len = self.uint()?;
                (Content::Json((0..len).map(|_| self.string()).collect::<Result<_, _>>()?), len)
            }
            3 => (Content::Binary(self.buffer()?.to_vec()), 1),
            4 => {
                let text = self.string()?;
                let len = text.encode_utf16().count() as u64;
                (Content::String(text), len)
            }
            5 => (Content::Embed(self.string()?), 1),
            6 => (Content::Format(self.string()?, self.string()?), 1),
            7 => {
                let kind = self.uint()?;
                let name = match kind {
                    3 | 5 => Some(self.string()?),
                    7 => Some(self.weak_link()?),
                    _ => None,
                };
                (Content::Type(kind, name), 1)
            }
            8 => {
                let len = self.uint()?;
                (Content::Any((0..len).map(|_| self.raw_any()).collect::<Result<_, _>>()?), len)
            }
            9 => (Content::Doc(self.string()?, self.raw_any()?), 1),
            other => return Err(format!("wire: unknown content {other} at {}", self.at)),
        })
    }

    /// The range of a weak link, spelled out.
    fn weak_link(&mut self) -> Result<String, String> {
        let flags = self.uint()?;
        let mut end = |unbounded: u64| -> Result<String, String> {
            Ok(match (flags & unbounded != 0, flags & 32 != 0) {
                (true, true) => self.string()?,
                (true, false) => format!("nested {:?}", self.id()?),
                (false, _) => format!("{:?}", self.id()?),
            })
        };
        let start = end(8)?;
        let end = if flags & (1 | 16) == 0 { start.clone() } else { end(16)? };
        Ok(format!("{flags:#b} {start} to {end}"))
    }

    fn deletes(&mut self, v2: bool) -> Result<Deletes, String> {
        let mut deletes = Vec::new();
        for _ in 0..self.uint()? {
            let client = self.uint()?;
            let mut ranges = Vec::new();
            let mut current = 0;
            for _ in 0..self.uint()? {
                let (clock, len) = self.id()?;
                let (clock, len) = if v2 { (clock + current, len + 1) } else { (clock, len) };
                current = clock + len;
                ranges.push((clock, len));
            }
            deletes.push((client, ranges));
        }
        Ok(deletes)
    }
}

fn float(value: f64) -> Json {
    let name = match value {
        v if v.is_nan() => "NaN",
        v if v == f64::INFINITY => "Infinity",
        v if v == f64::NEG_INFINITY => "-Infinity",
        v => return Json::Number(v),
    };
    Json::object([("$float", name.into())])
}
