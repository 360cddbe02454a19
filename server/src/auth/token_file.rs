//! Tokens in a TOML file.
//!
//! ```toml
//! [[token]]
//! token = "a long random text"
//! rooms = ["team/*", "welcome"]
//! access = "read-write"       # or "read-only", the default
//! user = "ada"                # for the log
//! expires = 1900000000        # seconds since 1970; without it never
//! ```

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::{Access, Answer, Auth, Denied, Level, Pattern, Request};

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    token: Vec<Entry>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    token: String,
    rooms: Vec<Pattern>,
    #[serde(default)]
    access: Level,
    user: Option<String>,
    expires: Option<u64>,
}

struct Grant {
    /// Of the token: all digests are equally long, and comparing them tells nothing of where tokens differ.
    digest: [u8; 32],
    rooms: Vec<Pattern>,
    access: Access,
}

/// A fixed list of tokens.
pub struct TokenFile(Vec<Grant>);

impl TokenFile {
    /// Reads the file.
    ///
    /// # Errors
    /// When it cannot be read or is not as above; in words.
    pub fn read(path: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        Self::parse(&text).map_err(|error| format!("{}: {error}", path.display()))
    }

    /// Takes the text of a file.
    ///
    /// # Errors
    /// When it is not as above; in words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let file: File = toml::from_str(text).map_err(|error| error.to_string())?;
        let grant = |entry: Entry| {
            if entry.token.len() < 8 {
                return Err("a token has at least 8 bytes".to_owned());
            }
            Ok(Grant {
                digest: Sha256::digest(&entry.token).into(),
                rooms: entry.rooms,
                access: Access {
                    write: entry.access == Level::ReadWrite,
                    expires: entry.expires.map(|seconds| UNIX_EPOCH + Duration::from_secs(seconds)),
                    user: entry.user,
                },
            })
        };
        file.token.into_iter().map(grant).collect::<Result<_, _>>().map(Self)
    }

    fn answer(&self, request: &Request<'_>) -> Result<Access, Denied> {
        let token = request.token.ok_or_else(|| Denied::Unauthorized("a token is needed".to_owned()))?;
        let digest: [u8; 32] = Sha256::digest(token).into();
        // All are compared, so that the time says nothing of the place.
        let mut found = None;
        for grant in &self.0 {
            if bool::from(grant.digest.ct_eq(&digest)) {
                found = Some(grant);
            }
        }
        let grant = found.ok_or_else(|| Denied::Unauthorized("the token is not known".to_owned()))?;
        if grant.access.expires.is_some_and(|at| at <= SystemTime::now()) {
            return Err(Denied::Unauthorized("the token has expired".to_owned()));
        }
        if !grant.rooms.iter().any(|pattern| pattern.matches(request.room)) {
            return Err(Denied::Forbidden("the token does not reach this document".to_owned()));
        }
        Ok(grant.access.clone())
    }
}

impl Auth for TokenFile {
    fn authorize<'a>(&'a self, request: Request<'a>) -> Answer<'a> {
        Box::pin(std::future::ready(self.answer(&request)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name::RoomName;

    const FILE: &str = r#"
        [[token]]
        token = "writer-token"
        rooms = ["team/*", "welcome"]
        access = "read-write"
        user = "ada"
        [[token]]
        token = "reader-token"
        rooms = ["*"]
        [[token]]
        token = "expired-token"
        rooms = ["*"]
        expires = 1000
    "#;

    #[test]
    fn grants() {
        let file = TokenFile::parse(FILE).unwrap();
        let ask = |token, room: &str| {
            let room = RoomName::new(room).unwrap();
            file.answer(&Request { room: &room, token, address: [127, 0, 0, 1].into() })
        };
        assert!(ask(Some("writer-token"), "team/a").unwrap().write);
        assert_eq!(ask(Some("writer-token"), "welcome").unwrap().user.as_deref(), Some("ada"));
        assert!(matches!(ask(Some("writer-token"), "welcome2"), Err(Denied::Forbidden(_))));
        assert!(!ask(Some("reader-token"), "welcome2").unwrap().write);
        for token in [None, Some(""), Some("writer-toke"), Some("expired-token")] {
            assert!(matches!(ask(token, "welcome"), Err(Denied::Unauthorized(_))), "{token:?}");
        }
    }

    #[test]
    fn bad_files() {
        for bad in [
            "[[token]]\ntoken='x'\nrooms=[]",
            "[[tokens]]",
            "[[token]]\nrooms=[]",
            "[[token]]\ntoken='longenough'\nrooms=[]\naccess='all'",
        ] {
            assert!(TokenFile::parse(bad).is_err(), "{bad}");
        }
    }
}
