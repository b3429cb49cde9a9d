//! Time as an argument.
//!
//! Pure code never reads a clock: the host stamps each event once with an [`At`].

use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, SecondsFormat, Utc};
use serde::{Deserialize, Serialize};

/// Milliseconds since the process started; never goes backwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Moment(pub u64);

impl Moment {
    #[must_use]
    pub fn plus_ms(self, ms: u64) -> Self {
        Self(self.0.saturating_add(ms))
    }
    /// Milliseconds from `earlier` to here; 0 if `earlier` is later.
    pub fn since_ms(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// The wall clock in milliseconds since 1970-01-01 UTC; written as RFC 3339 with milliseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Timestamp(i64);

impl Timestamp {
    pub fn from_millis(ms: i64) -> Self {
        Self(ms)
    }
    pub fn as_millis(self) -> i64 {
        self.0
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = DateTime::<Utc>::from_timestamp_millis(self.0).unwrap_or_default();
        f.write_str(&time.to_rfc3339_opts(SecondsFormat::Millis, true))
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Timestamp {
    type Err = chrono::ParseError;
    fn from_str(text: &str) -> Result<Self, chrono::ParseError> {
        Ok(Self(DateTime::parse_from_rfc3339(text)?.timestamp_millis()))
    }
}

impl TryFrom<String> for Timestamp {
    type Error = chrono::ParseError;
    fn try_from(text: String) -> Result<Self, chrono::ParseError> {
        text.parse()
    }
}

impl From<Timestamp> for String {
    fn from(time: Timestamp) -> Self {
        time.to_string()
    }
}

/// When an event reached the program: both clocks, read once by the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct At {
    pub moment: Moment,
    pub wall: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timestamp_is_rfc_3339_in_utc_with_milliseconds() {
        let time = Timestamp::from_millis(1_792_661_000_878);
        assert_eq!(time.to_string(), "2026-10-22T09:23:20.878Z");
        assert_eq!(time.to_string().parse(), Ok(time));
    }

    #[test]
    fn a_moment_before_another_is_no_time_ago() {
        assert_eq!(Moment(3).since_ms(Moment(5)), 0);
    }
}
