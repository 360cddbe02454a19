//! JSON Web Tokens, signed with a key that the server knows: HS256 (a secret), RS256 or EdDSA (a public key in PEM).
//!
//! The algorithm is fixed by the server; that of the token's header is only compared. Claims: `exp` (needed), `sub`,
//! `rooms` (a list of names or `prefix*`; needed), `access` (`"read-write"` or `"read-only"`, the default).

use std::time::{Duration, UNIX_EPOCH};

use jsonwebtoken::{DecodingKey, Validation, decode};

use super::{Access, Answer, Auth, Denied, Level, Pattern, Request};

pub use jsonwebtoken::Algorithm;

#[derive(serde::Deserialize)]
struct Claims {
    exp: u64,
    sub: Option<String>,
    rooms: Vec<Pattern>,
    #[serde(default)]
    access: Level,
}

/// Checks JSON Web Tokens.
pub struct Jwt {
    key: DecodingKey,
    validation: Validation,
}

impl Jwt {
    /// Makes a checker from the content of a key file, and what the token must name as its audience and issuer, if
    /// anything.
    ///
    /// # Errors
    /// When the key is not one of this algorithm, or the algorithm is none of the three; in words.
    pub fn new(
        algorithm: Algorithm,
        key: &[u8],
        audience: Option<&str>,
        issuer: Option<&str>,
    ) -> Result<Self, String> {
        let key = match algorithm {
            Algorithm::HS256 => {
                let secret = key.trim_ascii();
                if secret.len() < 32 {
                    return Err("a secret of HS256 has at least 32 bytes".to_owned());
                }
                DecodingKey::from_secret(secret)
            }
            Algorithm::RS256 => DecodingKey::from_rsa_pem(key).map_err(|error| error.to_string())?,
            Algorithm::EdDSA => DecodingKey::from_ed_pem(key).map_err(|error| error.to_string())?,
            other => return Err(format!("{other:?} is not supported")),
        };
        let mut validation = Validation::new(algorithm);
        validation.leeway = 5;
        validation.validate_nbf = true;
        validation.set_required_spec_claims(&["exp"]);
        match audience {
            Some(audience) => {
                validation.set_audience(&[audience]);
                validation.set_required_spec_claims(&["exp", "aud"]);
            }
            None => validation.validate_aud = false,
        }
        if let Some(issuer) = issuer {
            validation.set_issuer(&[issuer]);
            validation.required_spec_claims.insert("iss".to_owned());
        }
        Ok(Self { key, validation })
    }

    fn answer(&self, request: &Request<'_>) -> Result<Access, Denied> {
        let token = request.token.ok_or_else(|| Denied::Unauthorized("a token is needed".to_owned()))?;
        let claims = decode::<Claims>(token, &self.key, &self.validation)
            .map_err(|error| Denied::Unauthorized(format!("the token is not valid: {error}")))?
            .claims;
        if !claims.rooms.iter().any(|pattern| pattern.matches(request.room)) {
            return Err(Denied::Forbidden("the token does not reach this document".to_owned()));
        }
        Ok(Access {
            write: claims.access == Level::ReadWrite,
            expires: UNIX_EPOCH.checked_add(Duration::from_secs(claims.exp)),
            user: claims.sub,
        })
    }
}

impl Auth for Jwt {
    fn authorize<'a>(&'a self, request: Request<'a>) -> Answer<'a> {
        Box::pin(std::future::ready(self.answer(&request)))
    }
}

#[cfg(test)]
mod tests {
    use jsonwebtoken::{EncodingKey, Header, encode};
    use serde_json::json;

    use super::*;
    use crate::name::RoomName;
    use crate::store::memory::unix_time;

    const SECRET: &[u8] = b"0123456789abcdef0123456789abcdef";

    fn token(algorithm: Algorithm, claims: &serde_json::Value) -> String {
        encode(&Header::new(algorithm), claims, &EncodingKey::from_secret(SECRET)).unwrap()
    }

    fn ask(jwt: &Jwt, token: &str) -> Result<Access, Denied> {
        let room = RoomName::new("team/a").unwrap();
        jwt.answer(&Request { room: &room, token: Some(token), address: [127, 0, 0, 1].into() })
    }

    #[test]
    fn grants() {
        let jwt = Jwt::new(Algorithm::HS256, SECRET, Some("yatta"), None).unwrap();
        let later = unix_time() + 60;
        let good = json!({ "exp": later, "aud": "yatta", "sub": "ada", "rooms": ["team/*"], "access": "read-write" });
        let access = ask(&jwt, &token(Algorithm::HS256, &good)).unwrap();
        assert!(access.write && access.user.as_deref() == Some("ada") && access.expires.is_some());
        for (key, value) in
            [("exp", json!(1000)), ("aud", json!("other")), ("nbf", json!(later)), ("rooms", json!(null))]
        {
            let mut bad = good.clone();
            bad[key] = value;
            let answer = ask(&jwt, &token(Algorithm::HS256, &bad));
            assert!(matches!(answer, Err(Denied::Unauthorized(_))), "{key}: {answer:?}");
        }
        let mut other = good.clone();
        other["rooms"] = json!(["other"]);
        assert!(matches!(ask(&jwt, &token(Algorithm::HS256, &other)), Err(Denied::Forbidden(_))));
        other = good.clone();
        other.as_object_mut().unwrap().remove("access");
        other["rooms"] = json!(["*"]);
        assert!(!ask(&jwt, &token(Algorithm::HS256, &other)).unwrap().write);
        assert!(ask(&jwt, &token(Algorithm::HS512, &good)).is_err(), "the server fixes the algorithm");
        let signed = token(Algorithm::HS256, &good);
        let (head, _) = signed.rsplit_once('.').unwrap();
        assert!(
            ask(&jwt, &format!("{head}.")).is_err() && ask(&jwt, head).is_err() && ask(&jwt, "").is_err()
        );
    }

    #[test]
    fn public_keys() {
        macro_rules! key {
            ($name:literal) => {
                include_bytes!(concat!("../../tests/data/keys/", $name))
            };
        }
        let later = unix_time() + 60;
        let claims = json!({ "exp": later, "rooms": ["team/*"], "access": "read-write" });
        let sign = |algorithm, key: &EncodingKey| encode(&Header::new(algorithm), &claims, key).unwrap();
        let rsa = EncodingKey::from_rsa_pem(key!("rsa.pem")).unwrap();
        let ed25519 = EncodingKey::from_ed_pem(key!("ed25519.pem")).unwrap();
        let rs256 = Jwt::new(Algorithm::RS256, key!("rsa.pub.pem"), None, None).unwrap();
        let eddsa = Jwt::new(Algorithm::EdDSA, key!("ed25519.pub.pem"), None, None).unwrap();
        let (by_rsa, by_ed25519) = (sign(Algorithm::RS256, &rsa), sign(Algorithm::EdDSA, &ed25519));
        assert!(ask(&rs256, &by_rsa).unwrap().write);
        assert!(ask(&eddsa, &by_ed25519).unwrap().write);
        assert!(ask(&rs256, &by_ed25519).is_err() && ask(&eddsa, &by_rsa).is_err());
        // The public key is known to all: nothing that is signed by it as a secret counts.
        let confused = sign(Algorithm::HS256, &EncodingKey::from_secret(key!("rsa.pub.pem")));
        assert!(ask(&rs256, &confused).is_err());
        // Another key, and claims that were changed after they were signed.
        let hs256 = Jwt::new(Algorithm::HS256, SECRET, None, None).unwrap();
        assert!(
            ask(
                &hs256,
                &sign(Algorithm::HS256, &EncodingKey::from_secret(b"another secret of 32 bytes, or so"))
            )
            .is_err()
        );
        let parts: Vec<&str> = by_rsa.split('.').collect();
        let other = token(Algorithm::HS256, &json!({ "exp": later, "rooms": ["*"], "access": "read-write" }));
        let payload = other.split('.').nth(1).unwrap();
        assert!(ask(&rs256, &format!("{}.{payload}.{}", parts[0], parts[2])).is_err());
        assert!(Jwt::new(Algorithm::EdDSA, key!("rsa.pub.pem"), None, None).is_err());
    }

    #[test]
    fn weak_or_wrong_keys() {
        assert!(Jwt::new(Algorithm::HS256, b"short", None, None).is_err());
        assert!(Jwt::new(Algorithm::RS256, SECRET, None, None).is_err());
        assert!(Jwt::new(Algorithm::ES256, SECRET, None, None).is_err());
    }
}
