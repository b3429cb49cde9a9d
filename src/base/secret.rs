//! Secrets that cannot be printed, and their removal from text that is about to be written.

use std::fmt;

use secrecy::{ExposeSecret, SecretString};

/// A provider key. `Debug` shows `Secret(…)`, never the value.
#[derive(Clone)]
pub struct Secret(SecretString);

impl Secret {
    pub fn new(text: impl Into<String>) -> Self {
        Self(SecretString::from(text.into()))
    }
    /// The value, for the request's header only.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}

impl PartialEq for Secret {
    fn eq(&self, other: &Self) -> bool {
        self.expose() == other.expose()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// What stands in place of a secret.
pub const REDACTED: &str = "[redacted]";

/// Secrets shorter than this many bytes are not looked for: `none` or `dummy` would blank ordinary words.
const SECRET_BYTES_MIN: usize = 8;

/// Removes the configured keys from text.
#[derive(Debug, Clone, Default)]
pub struct Redactor {
    secrets: Vec<Secret>,
}

impl Redactor {
    pub fn new(secrets: impl IntoIterator<Item = Secret>) -> Self {
        let long = |secret: &Secret| secret.expose().len() >= SECRET_BYTES_MIN;
        Self { secrets: secrets.into_iter().filter(long).collect() }
    }

    /// Returns whether `text` holds one of the secrets.
    pub fn finds(&self, text: &str) -> bool {
        self.secrets.iter().any(|secret| text.contains(secret.expose()))
    }

    /// Returns `text` with every occurrence of a secret replaced by [`REDACTED`].
    pub fn redact(&self, text: String) -> String {
        if !self.finds(&text) {
            return text;
        }
        self.secrets.iter().fold(text, |text, secret| text.replace(secret.expose(), REDACTED))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_not_printed() {
        assert_eq!(format!("{:?}", Secret::new("sk-TEST-CANARY")), "Secret(…)");
    }

    #[test]
    fn every_occurrence_is_replaced() {
        let redactor = Redactor::new([Secret::new("sk-TEST-CANARY")]);
        let text = redactor.redact("a sk-TEST-CANARY b sk-TEST-CANARY".to_owned());
        assert_eq!(text, "a [redacted] b [redacted]");
    }

    #[test]
    fn short_values_are_left_alone() {
        assert_eq!(Redactor::new([Secret::new("none")]).redact("none".to_owned()), "none");
    }
}
