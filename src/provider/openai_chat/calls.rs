//! Tool calls put together from their pieces.
//!
//! Servers key pieces by `index`, by `id`, by both or by neither, and repeat, empty or delay any of them.
//! Invariants: each call comes out once, in the order of its first piece; its id is not empty and not used
//! before in the conversation; its first non-empty id and name count; nothing is repaired.

use std::collections::HashSet;

use serde_json::Value;

use crate::base::id::CallId;
use crate::conversation::message::ToolUse;
use crate::conversation::tool_call::parse_arguments;

/// Calls of one reply that are kept; a server that sends more is broken.
const CALLS_MAX: usize = 256;

#[derive(Debug, Default)]
pub struct Calls {
    slots: Vec<Slot>,
    /// Ids of the conversation so far.
    taken: HashSet<String>,
}

#[derive(Debug, Default)]
struct Slot {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
}

/// How far a call has come.
#[derive(Debug, PartialEq, Eq)]
pub struct Progress {
    pub name: Option<String>,
    pub bytes: usize,
}

/// One entry of `delta.tool_calls`.
struct Piece<'a> {
    index: Option<u64>,
    id: &'a str,
    name: &'a str,
    arguments: String,
}

impl<'a> Piece<'a> {
    fn read(entry: &'a Value) -> Self {
        let function = entry.get("function").unwrap_or(entry);
        let text = |value: Option<&'a Value>| value.and_then(Value::as_str).unwrap_or_default();
        let arguments = match function.get("arguments") {
            Some(Value::String(text)) => text.clone(),
            // Some servers send the object itself.
            Some(object @ Value::Object(_)) => object.to_string(),
            _ => String::new(),
        };
        Self {
            index: entry.get("index").and_then(Value::as_u64),
            id: text(entry.get("id")),
            name: text(function.get("name")),
            arguments,
        }
    }
}

impl Calls {
    pub fn new(taken: HashSet<String>) -> Self {
        Self { slots: Vec::new(), taken }
    }

    /// Takes the entries of one delta. `None` if there are more calls than any reply has.
    pub fn add(&mut self, entries: &[Value]) -> Option<Vec<Progress>> {
        let first_new = self.slots.len();
        let mut progress = Vec::new();
        for entry in entries {
            let piece = Piece::read(entry);
            let place = self.place(&piece, first_new);
            if place == self.slots.len() {
                if place == CALLS_MAX {
                    return None;
                }
                self.slots.push(Slot::default());
            }
            let slot = &mut self.slots[place];
            slot.index = slot.index.or(piece.index);
            if slot.id.is_empty() {
                piece.id.clone_into(&mut slot.id);
            }
            if slot.name.is_empty() {
                piece.name.clone_into(&mut slot.name);
            }
            slot.arguments.push_str(&piece.arguments);
            let name = Some(slot.name.clone()).filter(|name| !name.is_empty());
            progress.push(Progress { name, bytes: slot.arguments.len() });
        }
        Some(progress)
    }

    /// The slot of a piece; the number of slots for a new call.
    fn place(&self, piece: &Piece, first_new: usize) -> usize {
        let new = self.slots.len();
        if let Some(index) = piece.index {
            // Some servers send every call with index 0: another id with a name begins another call.
            let is_other = |slot: &Slot| {
                !piece.id.is_empty()
                    && !slot.id.is_empty()
                    && slot.id != piece.id
                    && !piece.name.is_empty()
            };
            let found = self.slots.iter().rposition(|slot| {
                slot.index == Some(index)
                    && (piece.id.is_empty() || slot.id.is_empty() || slot.id == piece.id)
            });
            let same_index = self.slots.iter().rposition(|slot| slot.index == Some(index));
            return match (found, same_index) {
                (Some(place), _) => place,
                (None, Some(place)) if !is_other(&self.slots[place]) => place,
                (None, Some(_) | None) => new,
            };
        }
        if !piece.id.is_empty()
            && let Some(place) = self.slots.iter().position(|slot| slot.id == piece.id)
        {
            return place;
        }
        let Some(last) = self.slots.last() else {
            return new;
        };
        let is_same_name = piece.name.is_empty() || last.name.is_empty() || piece.name == last.name;
        let begins = if piece.id.is_empty() {
            // Two entries of one delta are two calls; so is a name after whole arguments.
            !piece.name.is_empty()
                && (!is_same_name
                    || new > first_new
                    || (is_whole(&last.arguments) && !piece.arguments.is_empty()))
        } else {
            // An id may come late, for the call that has none yet.
            !last.id.is_empty() || !is_same_name
        };
        if begins { new } else { new - 1 }
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.slots.iter().map(|slot| slot.arguments.len() + slot.id.len() + slot.name.len()).sum()
    }

    /// Returns the calls, each with an id of its own.
    pub fn finish(&mut self) -> Vec<ToolUse> {
        let mut slots = std::mem::take(&mut self.slots);
        slots.retain(|slot| !slot.name.is_empty() || !slot.arguments.trim().is_empty());
        let one = |slot: Slot| {
            let id = self.own_id(slot.id);
            // A call without a name gets an error result; an empty one would be refused when sent back.
            let name = if slot.name.is_empty() { "unknown".to_owned() } else { slot.name };
            ToolUse { id: CallId(id), name, input: parse_arguments(&slot.arguments) }
        };
        slots.into_iter().map(one).collect()
    }

    /// The given id, or a made-up one where it is missing or taken: results are found by it.
    fn own_id(&mut self, given: String) -> String {
        let made_up = (1_u64..).map(|n| format!("call_{n}"));
        let id = [given]
            .into_iter()
            .filter(|id| !id.is_empty())
            .chain(made_up)
            .find(|id| !self.taken.contains(id))
            .unwrap_or_default();
        self.taken.insert(id.clone());
        id
    }
}

fn is_whole(arguments: &str) -> bool {
    serde_json::from_str::<serde::de::IgnoredAny>(arguments).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each delta is a list of entries; written out as `id name arguments`.
    fn joined(deltas: &[&str], taken: &[&str]) -> String {
        let taken = taken.iter().map(|id| (*id).to_owned()).collect();
        let mut calls = Calls::new(taken);
        for delta in deltas {
            let entries: Vec<Value> = serde_json::from_str(delta).unwrap();
            calls.add(&entries).unwrap();
        }
        let written = |call: &ToolUse| format!("{} {} {}", call.id, call.name, call.input);
        calls.finish().iter().map(written).collect::<Vec<_>>().join("; ")
    }

    const HEAD: &str =
        r#"[{"index":0,"id":"a","type":"function","function":{"name":"read","arguments":"{"}}]"#;

    /// Deltas, and the calls that they make.
    const PIECES: &[(&[&str], &str)] = &[
        (&[HEAD, r#"[{"index":0,"id":"","function":{"name":"","arguments":"}"}}]"#], "a read {}"),
        (
            &[
                r#"[{"id":"a","function":{"name":"read","arguments":"{"}}]"#,
                r#"[{"function":{"arguments":"}"}}]"#,
            ],
            "a read {}",
        ),
        (
            &[
                r#"[{"index":1,"id":"a","function":{"name":"read","arguments":""}}]"#,
                r#"[{"index":3,"id":"b","function":{"name":"list","arguments":"{}"}}]"#,
                r#"[{"index":1,"function":{"arguments":"{\"path\":\"x\"}"}}]"#,
            ],
            r#"a read {"path":"x"}; b list {}"#,
        ),
        (
            &[
                r#"[{"index":0,"function":{"name":"read","arguments":"{"}}]"#,
                r#"[{"index":0,"id":"late","function":{"arguments":"}"}}]"#,
            ],
            "late read {}",
        ),
        (
            &[
                r#"[{"function":{"name":"read","arguments":"{"}}]"#,
                r#"[{"id":"late","function":{"arguments":"}"}}]"#,
            ],
            "late read {}",
        ),
        (&[r#"[{"index":0,"function":{"name":"read","arguments":"{}"}}]"#], "call_1 read {}"),
        (
            &[HEAD, r#"[{"index":0,"id":"a","function":{"name":"read","arguments":"}"}}]"#],
            "a read {}",
        ),
        (&[r#"[{"index":0,"id":"a","function":{"name":"read","arguments":null}}]"#], "a read {}"),
        (
            &[r#"[{"index":0,"id":"a","function":{"name":"read","arguments":{"path":"x"}}}]"#],
            r#"a read {"path":"x"}"#,
        ),
        // Whole calls in one delta, without an index, or all with index 0.
        (
            &[
                r#"[{"function":{"name":"read","arguments":"{}"}},{"function":{"name":"read","arguments":"{}"}}]"#,
            ],
            "call_1 read {}; call_2 read {}",
        ),
        (
            &[
                r#"[{"index":0,"id":"a","function":{"name":"read","arguments":"{}"}}]"#,
                r#"[{"index":0,"id":"b","function":{"name":"read","arguments":"{}"}}]"#,
            ],
            "a read {}; b read {}",
        ),
        (
            &[
                r#"[{"function":{"name":"read","arguments":"{}"}}]"#,
                r#"[{"function":{"name":"read","arguments":"{}"}}]"#,
            ],
            "call_1 read {}; call_2 read {}",
        ),
        // The same id twice is renamed: results are found by id.
        (
            &[
                r#"[{"index":0,"id":"a","function":{"name":"read","arguments":"{}"}}]"#,
                r#"[{"index":1,"id":"a","function":{"name":"list","arguments":"{}"}}]"#,
            ],
            "a read {}; call_1 list {}",
        ),
        // W12: cut arguments are kept as they came.
        (&[HEAD], r#"a read {"invalid_json":"{"}"#),
        (&[r#"[{"index":0,"id":"a","function":{"arguments":"{}"}}]"#], "a unknown {}"),
        (&[r#"[{"index":0,"id":"a"}]"#], ""),
    ];

    // W10
    #[test]
    fn pieces_make_one_call_each_whatever_is_missing_or_repeated() {
        for (deltas, wanted) in PIECES {
            assert_eq!(joined(deltas, &[]), *wanted, "{deltas:?}");
        }
    }

    #[test]
    fn a_made_up_id_is_new_in_the_conversation() {
        let call = r#"[{"function":{"name":"read","arguments":"{}"}}]"#;
        assert_eq!(joined(&[call], &["call_1", "x"]), "call_2 read {}");
        let repeated = r#"[{"index":0,"id":"call_0","function":{"name":"read","arguments":"{}"}}]"#;
        assert_eq!(joined(&[repeated], &["call_0"]), "call_1 read {}");
    }
}
