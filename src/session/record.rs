//! Archive records: Crab's format, `format_version` 2, extended by the `event` kind.
//!
//! Invariants: what this version does not know is an [`Record::Unknown`], never an error; unknown fields
//! are tolerated; format 1 (no `meta`) is readable.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::event::{Event, EventKind, KNOWN_EVENTS};
use super::message_record::ArchivedMessage;
use super::obs::{KNOWN_SPANS, Obs, Span};
use super::state::ForkedFrom;
use crate::base::id::SessionId;
use crate::base::secret::Redactor;
use crate::base::time::Timestamp;
use crate::conversation::message::Message;

/// The format that this program writes.
pub const FORMAT_VERSION: u32 = 2;

/// One line of an archive.
#[derive(Debug, Clone, PartialEq)]
pub enum Record {
    Meta(Meta),
    Message(ArchivedMessage),
    Obs(Obs),
    Event(Event),
    /// Of a kind that this version does not know: skipped by the model's view, kept on disk.
    Unknown(Value),
}

/// The first line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Meta {
    pub format_version: u32,
    pub created: Timestamp,
    pub session: Option<SessionId>,
    pub workspace: Option<PathBuf>,
    /// The version that wrote it.
    pub crystal: Option<String>,
    pub forked_from: Option<ForkedFrom>,
}

impl Meta {
    /// The first line of a new session's archive.
    pub fn new(session: SessionId, workspace: PathBuf, created: Timestamp) -> Self {
        Self {
            format_version: FORMAT_VERSION,
            created,
            session: Some(session),
            workspace: Some(workspace),
            crystal: Some(env!("CARGO_PKG_VERSION").to_owned()),
            forked_from: None,
        }
    }
}

impl From<Message> for Record {
    fn from(message: Message) -> Self {
        Self::Message(message.into())
    }
}

impl Record {
    pub fn event(ts: Timestamp, kind: EventKind) -> Self {
        Self::Event(Event { ts, kind })
    }

    pub fn obs(run_id: impl Into<String>, ts: Timestamp, span: Span) -> Self {
        Self::Obs(Obs { run_id: run_id.into(), ts, span })
    }

    /// Whether a session with this record is worth a file: a person's message, or a summary.
    pub fn is_worth_saving(&self) -> bool {
        match self {
            Self::Message(archived) => archived.message.begins_turn(),
            Self::Event(Event { kind: EventKind::Compaction(compaction), .. }) => {
                compaction.summary.is_some()
            }
            Self::Meta(_) | Self::Obs(_) | Self::Event(_) | Self::Unknown(_) => false,
        }
    }

    /// Returns the record without secrets, in every string and in the keys' values at any depth.
    #[must_use]
    pub fn redacted(mut self, redactor: &Redactor) -> Self {
        if let Self::Message(archived) = &mut self {
            archived.redact_originals(redactor);
        }
        let mut value = self.to_value();
        if !redact(&mut value, redactor) {
            return self;
        }
        // A secret that is also a word of the format leaves a record that only a person can read.
        Self::from_value(value.clone()).unwrap_or(Self::Unknown(value))
    }

    pub(super) fn to_value(&self) -> Value {
        let (kind, fields) = match self {
            Self::Unknown(value) => return value.clone(),
            Self::Meta(meta) => ("meta", meta.to_map()),
            Self::Message(message) => ("message", message.to_map()),
            Self::Obs(obs) => ("obs", object(obs)),
            Self::Event(event) => ("event", object(event)),
        };
        let mut map = Map::new();
        map.insert("kind".into(), json!(kind));
        map.extend(fields);
        Value::Object(map)
    }

    /// Reads a record; the error says why it is not one.
    pub(super) fn from_value(value: Value) -> Result<Self, String> {
        let Value::Object(map) = value else { return Err("not an object".to_owned()) };
        let kind = map.get("kind").and_then(Value::as_str).ok_or("no kind")?;
        match kind {
            "meta" => Meta::from_map(map).map(Self::Meta),
            "message" => ArchivedMessage::from_map(map).map(Self::Message),
            "obs" if is_known(&map, "obs", &KNOWN_SPANS) => read(map).map(Self::Obs),
            "event" if is_known(&map, "event", &KNOWN_EVENTS) => read(map).map(Self::Event),
            _ => Ok(Self::Unknown(Value::Object(map))),
        }
    }
}

/// Removes secrets from every string; returns whether there were any.
pub fn redact(value: &mut Value, redactor: &Redactor) -> bool {
    match value {
        Value::String(text) if redactor.finds(text) => {
            *text = redactor.redact(std::mem::take(text));
            true
        }
        Value::Array(items) => {
            items.iter_mut().fold(false, |any, item| redact(item, redactor) | any)
        }
        Value::Object(map) => {
            let mut any = map.values_mut().fold(false, |any, item| redact(item, redactor) | any);
            if map.keys().any(|key| redactor.finds(key)) {
                let fields = std::mem::take(map).into_iter();
                map.extend(fields.map(|(key, item)| (redactor.redact(key), item)));
                any = true;
            }
            any
        }
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn is_known(map: &Map<String, Value>, tag: &str, known: &[&str]) -> bool {
    map.get(tag).and_then(Value::as_str).is_none_or(|name| known.contains(&name))
}

fn object(part: &impl serde::Serialize) -> Map<String, Value> {
    match serde_json::to_value(part) {
        Ok(Value::Object(map)) => map,
        // Observations and events are objects of strings and numbers.
        Ok(_) | Err(_) => Map::new(),
    }
}

fn read<T: serde::de::DeserializeOwned>(map: Map<String, Value>) -> Result<T, String> {
    serde_json::from_value(Value::Object(map)).map_err(|error| error.to_string())
}

#[derive(Deserialize)]
struct MetaFields {
    #[serde(default)]
    format_version: Option<u32>,
    #[serde(default)]
    created: Value,
    #[serde(default)]
    session: Value,
    #[serde(default)]
    workspace: Option<PathBuf>,
    #[serde(default)]
    crystal: Option<String>,
    #[serde(default)]
    forked_from: Option<ForkedFrom>,
}

impl Meta {
    fn to_map(&self) -> Map<String, Value> {
        let mut map = Map::new();
        map.insert("format_version".into(), json!(self.format_version));
        map.insert("created".into(), json!(format!("{}ms", self.created.as_millis())));
        map.insert("session".into(), json!(self.session));
        let workspace = self.workspace.as_ref().map(|path| path.to_string_lossy());
        map.insert("workspace".into(), json!(workspace));
        map.insert("crystal".into(), json!(self.crystal));
        map.insert("forked_from".into(), json!(self.forked_from));
        map
    }

    fn from_map(map: Map<String, Value>) -> Result<Self, String> {
        let fields: MetaFields = read(map)?;
        Ok(Self {
            format_version: fields.format_version.unwrap_or(1),
            created: created(&fields.created),
            session: fields.session.as_str().and_then(|id| id.parse().ok()),
            workspace: fields.workspace,
            crystal: fields.crystal,
            forked_from: fields.forked_from,
        })
    }
}

/// `"1792661000878ms"`, or the number alone.
fn created(value: &Value) -> Timestamp {
    let millis = match value {
        Value::String(text) => text.trim_end_matches("ms").parse().ok(),
        other => other.as_i64(),
    };
    Timestamp::from_millis(millis.unwrap_or(0))
}
