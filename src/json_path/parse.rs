//! From the text of a path to its steps. Cost O(length).

/// One step of a path.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step<'a> {
    Root,
    Current,
    Member(&'a str),
    Index(i32),
    Wildcard,
    Descend,
    /// From, to (exclusive), by.
    Slice(u32, u32, u32),
    Members(Vec<&'a str>),
    Indices(Vec<i32>),
}

/// A parsed path, which borrows its names from the text.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonPath<'a> {
    pub(super) steps: Vec<Step<'a>>,
}

/// A text is not a path.
#[derive(Debug, thiserror::Error)]
pub enum ParseError {
    /// What is wrong, and where.
    #[error("{0}")]
    InvalidJsonPath(String),
}

impl<'a> JsonPath<'a> {
    /// Parses a path.
    ///
    /// ```
    /// use yatta::{Any, JsonPath, JsonPathEval};
    ///
    /// let people = Any::from_json(r#"{"people": [{"name": "Ada"}, {"name": "Grace"}]}"#)?;
    /// let path = JsonPath::parse("$.people[*].name")?;
    /// let names: Vec<String> = people.json_path(&path).map(Any::to_string).collect();
    /// assert_eq!(names, ["Ada", "Grace"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ParseError::InvalidJsonPath`] when the text is no path, or has a filter (`[?…]`): there are none yet.
    pub fn parse(path: &'a str) -> Result<Self, ParseError> {
        let mut parser = Parser { path, rest: path, steps: Vec::new() };
        while let Some(first) = parser.rest.chars().next() {
            parser.step(first)?;
        }
        Ok(Self { steps: parser.steps })
    }
}

impl<'a> AsRef<[Step<'a>]> for JsonPath<'a> {
    fn as_ref(&self) -> &[Step<'a>] {
        &self.steps
    }
}

struct Parser<'a> {
    path: &'a str,
    rest: &'a str,
    steps: Vec<Step<'a>>,
}

fn begins_name(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

impl<'a> Parser<'a> {
    fn error<T>(&self, what: &str) -> Result<T, ParseError> {
        let at = self.path.len() - self.rest.len();
        Err(ParseError::InvalidJsonPath(format!("{what}, at byte {at} of the path `{}`", self.path)))
    }

    fn push(&mut self, step: Step<'a>, bytes: usize) {
        self.steps.push(step);
        self.rest = &self.rest[bytes..];
    }

    fn step(&mut self, first: char) -> Result<(), ParseError> {
        match first {
            '$' => self.push(Step::Root, 1),
            '@' => self.push(Step::Current, 1),
            '*' => self.push(Step::Wildcard, 1),
            '.' if self.rest.starts_with("..") => self.push(Step::Descend, 2),
            '.' if self.rest.starts_with(".*") => self.push(Step::Wildcard, 2),
            '.' => {
                let next = self.rest[1..].chars().next();
                if !next.is_some_and(begins_name) {
                    return self.error("a name must follow `.`");
                }
                self.rest = &self.rest[1..];
                self.name();
            }
            '[' => self.bracket()?,
            // after `..`, `$` or `@`
            c if begins_name(c) => self.name(),
            c => return self.error(&format!("unexpected character `{c}`")),
        }
        Ok(())
    }

    fn name(&mut self) {
        let end = self.rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(self.rest.len());
        self.push(Step::Member(&self.rest[..end]), end);
    }

    fn bracket(&mut self) -> Result<(), ParseError> {
        let Some(inner) = self.inner() else { return self.error("`[` is never closed") };
        let bytes = inner.len() + 2;
        let inner = inner.trim();
        let step = if inner == "*" {
            Step::Wildcard
        } else if inner.starts_with('?') {
            return self.error(&format!("filters are not supported: `{inner}`"));
        } else if inner.starts_with('\'') {
            self.members(inner)?
        } else if inner.contains(':') {
            self.slice(inner)?
        } else {
            self.indices(inner)?
        };
        self.push(step, bytes);
        Ok(())
    }

    /// What stands between this bracket and the one that closes it.
    fn inner(&self) -> Option<&'a str> {
        let mut quoted = false;
        let mut depth = 0;
        for (at, c) in self.rest.char_indices() {
            match c {
                '\'' => quoted = !quoted,
                '[' if !quoted => depth += 1,
                ']' if !quoted && depth == 1 => return Some(&self.rest[1..at]),
                ']' if !quoted => depth -= 1,
                _ => {}
            }
        }
        None
    }

    /// One name or several, each in quotes.
    fn members(&self, inner: &'a str) -> Result<Step<'a>, ParseError> {
        let mut names = Vec::new();
        let mut rest = inner;
        loop {
            let quoted = rest.strip_prefix('\'').and_then(|rest| rest.split_once('\''));
            let Some((name, after)) = quoted else {
                return self.error(&format!("a quoted name is expected where `{rest}` stands"));
            };
            names.push(name);
            let after = after.trim_start();
            if after.is_empty() {
                break;
            }
            let Some(next) = after.strip_prefix(',') else {
                return self.error(&format!("`,` is expected where `{after}` stands"));
            };
            rest = next.trim_start();
        }
        Ok(if names.len() == 1 { Step::Member(names[0]) } else { Step::Members(names) })
    }

    fn slice(&self, inner: &str) -> Result<Step<'a>, ParseError> {
        let bounds: Vec<&str> = inner.split(':').map(str::trim).collect();
        if bounds.len() > 3 {
            return self.error(&format!("`{inner}` has too many bounds"));
        }
        let bound = |place: usize, default: u32| match bounds.get(place) {
            None | Some(&"") => Ok(default),
            Some(text) => text.parse().or_else(|_| {
                self.error(&format!("`{text}` is no bound of a slice: these are numbers from 0 up"))
            }),
        };
        Ok(Step::Slice(bound(0, 0)?, bound(1, u32::MAX)?, bound(2, 1)?))
    }

    fn indices(&self, inner: &str) -> Result<Step<'a>, ParseError> {
        let parse = |text: &str| match text.trim().parse() {
            Ok(index) => Ok(index),
            Err(_) => self.error(&format!("`{text}` is neither an index nor a quoted name")),
        };
        let mut indices = inner.split(',').map(parse).collect::<Result<Vec<i32>, _>>()?;
        Ok(if indices.len() == 1 { Step::Index(indices.remove(0)) } else { Step::Indices(indices) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(path: &str) -> Vec<Step<'_>> {
        JsonPath::parse(path).unwrap_or_else(|error| panic!("{path}: {error}")).steps
    }

    #[test]
    fn names() {
        let people = Step::Member("people");
        assert_eq!(steps("$.people"), [Step::Root, people.clone()]);
        assert_eq!(steps("$people"), [Step::Root, people.clone()]);
        assert_eq!(steps("@['people']"), [Step::Current, people.clone()]);
        assert_eq!(steps("$..people"), [Step::Root, Step::Descend, people]);
        assert_eq!(steps("$.größe_2"), [Step::Root, Step::Member("größe_2")]);
        assert_eq!(steps("['a:b, c]']"), [Step::Member("a:b, c]")]);
        assert_eq!(steps("['x', 'y z' ,'']"), [Step::Members(vec!["x", "y z", ""])]);
    }

    #[test]
    fn elements() {
        assert_eq!(steps("[0][-12]"), [Step::Index(0), Step::Index(-12)]);
        assert_eq!(steps("[4, -1,2]"), [Step::Indices(vec![4, -1, 2])]);
        assert_eq!(steps("[*].*..*"), [Step::Wildcard, Step::Wildcard, Step::Descend, Step::Wildcard]);
        for (path, from, to, by) in [
            ("[1:3]", 1, 3, 1),
            ("[:3]", 0, 3, 1),
            ("[3:]", 3, u32::MAX, 1),
            ("[::2]", 0, u32::MAX, 2),
            ("[3:5:2]", 3, 5, 2),
        ] {
            assert_eq!(steps(path), [Step::Slice(from, to, by)], "{path}");
        }
    }

    #[test]
    fn refused() {
        for path in [
            "$.",
            "$.1",
            "$.a b",
            "$[",
            "$['a",
            "$[']",
            "$['']x'",
            "$['a' 'b']",
            "$['a',]",
            "$[a]",
            "$[]",
            "$[1,]",
            "$[-2:]",
            "$[1:2:3:4]",
            "$.a-b",
            "$[99999999999]",
            "$[?(@['name'] == 'Ada')]",
        ] {
            let error = JsonPath::parse(path).expect_err(path).to_string();
            assert!(error.contains(path), "{error}");
        }
        let error = JsonPath::parse("$.x[?(@['name'] == 'Ada')].y").expect_err("a filter").to_string();
        assert!(error.contains("`?(@['name'] == 'Ada')`"), "{error}");
    }
}
