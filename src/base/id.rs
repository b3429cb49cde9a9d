//! Names of things: sessions, messages, calls, tasks, timers.
//!
//! Invariant: ids come from [`Ids`], a seeded source, so that a run can be repeated exactly.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::time::Timestamp;

/// A session's name: a UUIDv7, written in lower case with hyphens.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SessionId(Uuid);

/// A text that is not a session id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a session id")]
pub struct NotASessionId;

impl SessionId {
    /// Builds an id from the wall clock and random bits (RFC 9562, version 7).
    pub fn from_parts(wall: Timestamp, random: [u8; 10]) -> Self {
        let millis = u64::try_from(wall.as_millis()).unwrap_or(0);
        Self(uuid::Builder::from_unix_timestamp_millis(millis, &random).into_uuid())
    }
}

impl FromStr for SessionId {
    type Err = NotASessionId;

    /// Accepts the hyphenated lower-case form only, so that a name has one spelling on disk.
    fn from_str(text: &str) -> Result<Self, NotASessionId> {
        let id = Uuid::try_parse(text).map_err(|_| NotASessionId)?;
        if id.hyphenated().to_string() == text { Ok(Self(id)) } else { Err(NotASessionId) }
    }
}

impl TryFrom<String> for SessionId {
    type Error = NotASessionId;
    fn try_from(text: String) -> Result<Self, NotASessionId> {
        text.parse()
    }
}

impl From<SessionId> for String {
    fn from(id: SessionId) -> Self {
        id.to_string()
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.hyphenated().fmt(f)
    }
}

impl fmt::Debug for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.hyphenated().fmt(f)
    }
}

/// A message's number within its session: from 1, growing by one, never used twice.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct MessageId(pub u64);

impl MessageId {
    /// The id after this one.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A tool call's name, as the provider gave it or as it was made up for one without.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallId(pub String);

impl CallId {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What the program waits for: one started task. Unique in the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TaskId(pub u64);

/// A timer that was set. Unique in the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TimerId(pub u64);

/// The one source of ids and random numbers of the pure core.
///
/// A SplitMix64 generator (Steele, Lea, Flood 2014): fast, seedable, good enough for ids and jitter,
/// not for secrets.
#[derive(Debug, Clone)]
pub struct Ids {
    state: u64,
    last_task: u64,
    last_timer: u64,
}

impl Ids {
    pub fn seeded(seed: u64) -> Self {
        Self { state: seed, last_task: 0, last_timer: 0 }
    }

    /// Returns the next 64 random bits.
    pub fn random(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn session(&mut self, wall: Timestamp) -> SessionId {
        let mut random = [0_u8; 10];
        random[..8].copy_from_slice(&self.random().to_le_bytes());
        random[8..].copy_from_slice(&self.random().to_le_bytes()[..2]);
        SessionId::from_parts(wall, random)
    }

    pub fn task(&mut self) -> TaskId {
        self.last_task += 1;
        TaskId(self.last_task)
    }

    pub fn timer(&mut self) -> TimerId {
        self.last_timer += 1;
        TimerId(self.last_timer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_id_survives_being_written_and_read() {
        let id = Ids::seeded(7).session(Timestamp::from_millis(1_792_661_000_878));
        assert_eq!(id.to_string().parse(), Ok(id));
    }

    #[test]
    fn only_one_spelling_of_a_session_id_is_accepted() {
        for text in ["", "all", "../../etc/passwd", "0192F3A1-0000-7000-8000-000000000000"] {
            assert_eq!(text.parse::<SessionId>(), Err(NotASessionId), "{text}");
        }
    }

    #[test]
    fn ids_repeat_with_their_seed_and_differ_within_it() {
        let (mut a, mut b) = (Ids::seeded(1), Ids::seeded(1));
        let wall = Timestamp::from_millis(0);
        let first = a.session(wall);
        assert_eq!(first, b.session(wall));
        assert_ne!(first, a.session(wall));
    }
}
