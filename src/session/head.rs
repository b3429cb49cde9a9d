//! The beginning of a snapshot: what a list shows, read from the first bytes of the file.
//!
//! Invariant: reading a head never needs the rest, and a cut anywhere in the rest does no harm.

use std::path::PathBuf;

use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::state::ForkedFrom;
use crate::base::id::SessionId;
use crate::base::limits::PREVIEW_COLUMNS_MAX;
use crate::base::text::width;
use crate::base::time::Timestamp;
use crate::conversation::mode::Mode;
use crate::conversation::model::ModelChoice;

/// Bytes of a snapshot that a list reads (spec, sessions, Snapshot).
pub const HEAD_BYTES: usize = 4 * 1024;

/// The fields of a snapshot that a list needs, in the order in which they are written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SnapshotHead {
    pub version: u32,
    pub id: SessionId,
    #[serde(default)]
    pub title: Option<String>,
    #[serde(default)]
    pub preview: String,
    #[serde(default)]
    pub workspace: PathBuf,
    #[serde(default)]
    pub created_at: Timestamp,
    #[serde(default)]
    pub updated_at: Timestamp,
    #[serde(default)]
    pub message_count: u64,
    #[serde(default)]
    pub mode: Mode,
    #[serde(default)]
    pub model: Option<ModelChoice>,
    #[serde(default)]
    pub forked_from: Option<ForkedFrom>,
}

/// Returns the head of a snapshot from its first bytes, or `None` if they do not hold one.
///
/// Of a newer version, what is understood is returned; of this version everything must be.
pub fn head(first_bytes: &[u8]) -> Option<SnapshotHead> {
    let mut fields = scan_fields(first_bytes);
    if !fields.contains_key("updatedAt") && !is_whole(first_bytes) {
        return None;
    }
    if version(&fields)? > super::snapshot::VERSION {
        for (key, is_known) in [
            ("mode", fields.get("mode").is_none_or(is_a::<Mode>)),
            ("model", fields.get("model").is_none_or(is_a::<Option<ModelChoice>>)),
            ("forkedFrom", fields.get("forkedFrom").is_none_or(is_a::<Option<ForkedFrom>>)),
        ] {
            if !is_known {
                fields.remove(key);
            }
        }
    }
    serde_json::from_value(Value::Object(fields)).ok()
}

/// Returns the snapshot's version from its first bytes.
pub fn version_of(first_bytes: &[u8]) -> Option<u32> {
    let fields = scan_fields(&first_bytes[..first_bytes.len().min(HEAD_BYTES)]);
    version(&fields)
}

/// Returns a user message as one line: white space joined, control characters removed, at most
/// [`PREVIEW_COLUMNS_MAX`] columns.
pub fn preview(text: &str) -> String {
    // Only the beginning is looked at: a pasted message may have megabytes.
    let start = text.chars().skip_while(|c| c.is_whitespace() || c.is_control());
    let line: String = start
        .take(PREVIEW_COLUMNS_MAX * 16)
        .map(|c| if c.is_whitespace() { ' ' } else { c })
        .filter(|c| !c.is_control() && !is_direction_mark(*c))
        .collect();
    let words: Vec<&str> = line.split(' ').filter(|word| !word.is_empty()).collect();
    width::ellipsis(&words.join(" "), PREVIEW_COLUMNS_MAX)
}

/// Marks that reorder what follows: in a list they would reorder the row.
fn is_direction_mark(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

fn is_a<T: DeserializeOwned>(value: &Value) -> bool {
    T::deserialize(value).is_ok()
}

fn version(fields: &Map<String, Value>) -> Option<u32> {
    fields.get("version").and_then(Value::as_u64).map(|version| version as u32)
}

fn is_whole(bytes: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(bytes).is_ok()
}

/// The fields of the outer object up to where the bytes end or stop making sense.
fn scan_fields(bytes: &[u8]) -> Map<String, Value> {
    let mut fields = Map::new();
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    // The error is expected: the bytes are a cut file. What was read before it is in `fields`.
    let _cut = FieldsSeed(&mut fields).deserialize(&mut deserializer);
    fields
}

/// Returns one field of the outer object. What stands behind it is not looked at.
pub(super) fn field<T: DeserializeOwned>(bytes: &[u8], name: &str) -> Option<T> {
    let mut found = None;
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    // To stop is an error to the parser; what was found before it stays.
    let _stopped = FieldSeed { name, found: &mut found }.deserialize(&mut deserializer);
    found
}

struct FieldSeed<'a, T> {
    name: &'a str,
    found: &'a mut Option<T>,
}

impl<'de, T: DeserializeOwned> DeserializeSeed<'de> for FieldSeed<'_, T> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, T: DeserializeOwned> Visitor<'de> for FieldSeed<'_, T> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            if key == self.name {
                *self.found = Some(map.next_value()?);
                return Ok(());
            }
            map.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}

struct FieldsSeed<'a>(&'a mut Map<String, Value>);

impl<'de> DeserializeSeed<'de> for FieldsSeed<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for FieldsSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some((key, value)) = map.next_entry::<String, Value>()? {
            self.0.insert(key, value);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preview_is_one_line_of_at_most_120_columns() {
        for (said, shown) in [
            ("fix the bug", "fix the bug"),
            ("  fix\n\n\tthe \u{7}bug\u{202e} ", "fix the bug"),
            ("", ""),
            ("\n", ""),
        ] {
            assert_eq!(preview(said), shown, "{said:?}");
        }
    }

    #[test]
    fn a_field_is_found_without_what_stands_behind_it() {
        for (text, wanted) in [
            (r#"{"a":{"b":[1]},"c":2,"d":"cut"#, Some(2)),
            (r#"{"c":2}"#, Some(2)),
            (r#"{"a":{"c":1}}"#, None),
            (r#"{"c":"two"}"#, None),
            (r#"{"a":"cu"#, None),
            ("[2]", None),
        ] {
            assert_eq!(field::<u32>(text.as_bytes(), "c"), wanted, "{text}");
        }
    }

    // T14: a cut falls between clusters whatever their size.
    #[test]
    fn a_long_preview_is_cut_between_clusters() {
        for letters in 0..4 {
            for cluster in ["漢", "😀", "e\u{301}"] {
                let shown = preview(&("a".repeat(letters) + &cluster.repeat(500)));
                assert!(width::columns(&shown) <= PREVIEW_COLUMNS_MAX, "{shown}");
                assert!(shown.ends_with(&format!("{cluster}…")), "{shown}");
            }
        }
    }
}
