//! A provider's key, from the configuration or the environment.
//!
//! Invariant: no error holds the key or a part of it.

use crate::base::secret::Secret;

/// Why a key cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    #[error("provider {provider}: the environment variable {variable} is not set")]
    Missing { provider: String, variable: String },
    #[error("provider {provider}: the key in {place} is empty")]
    Empty { provider: String, place: String },
    #[error(
        "provider {provider}: the key in {place} holds a line break or a control or non-ASCII character; copy it again"
    )]
    Malformed { provider: String, place: String },
}

/// Returns the key: `api_key` if it is configured, else the variable's value, else none at all.
///
/// `lookup` reads the environment, which belongs to the caller.
pub fn key(
    provider: &str,
    api_key: Option<&Secret>,
    variable: Option<&str>,
    lookup: impl Fn(&str) -> Option<String>,
) -> Result<Option<Secret>, KeyError> {
    let provider = provider.to_owned();
    let (text, place) = match (api_key, variable) {
        (Some(key), _) => (key.expose().to_owned(), "apiKey".to_owned()),
        (None, Some(variable)) => match lookup(variable) {
            Some(text) => (text, variable.to_owned()),
            None => {
                return Err(KeyError::Missing { provider, variable: variable.to_owned() });
            }
        },
        (None, None) => return Ok(None),
    };
    // A key that was copied with the line break after it is meant without it.
    let text = text.trim();
    if text.is_empty() {
        return Err(KeyError::Empty { provider, place });
    }
    if !text.chars().all(|c| c.is_ascii() && !c.is_ascii_control()) {
        return Err(KeyError::Malformed { provider, place });
    }
    Ok(Some(Secret::new(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    // X15
    #[test]
    fn a_key_is_trimmed_and_a_broken_one_is_not_printed() {
        let missing = "provider p: the environment variable KEY is not set";
        let empty = "provider p: the key in KEY is empty";
        for (value, wanted) in [
            (Some("sk-CANARY"), Ok("sk-CANARY")),
            (Some(" sk-CANARY\r\n"), Ok("sk-CANARY")),
            (Some(" \n"), Err(empty)),
            (None, Err(missing)),
        ] {
            let read = key("p", None, Some("KEY"), |_| value.map(str::to_owned));
            let read = read.map(|key| key.unwrap().expose().to_owned()).map_err(|e| e.to_string());
            assert_eq!(read, wanted.map(str::to_owned).map_err(str::to_owned), "{value:?}");
        }
        for broken in ["sk-CAN\nARY", "sk-CANARY\u{7f}x", "sk-CANARYé", "sk-CANARY\0x"] {
            let error = key("p", Some(&Secret::new(broken)), Some("KEY"), |_| None).unwrap_err();
            assert!(!format!("{error} {error:?}").contains("CAN"), "{error}");
        }
        assert_eq!(key("p", None, None, |_| None), Ok(None));
    }
}
