//! A message in the archive: as the model sees it, with the whole text of results that were cut for it.
//!
//! Invariant: the archive holds the original text, in the record or as a blob; the model's view is made
//! from it by the same cut.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::base::id::CallId;
use crate::base::limits::{RESULT_BYTES_MAX, RESULT_LINES_MAX};
use crate::base::secret::Redactor;
use crate::base::text::cut::{self, Cut};
use crate::conversation::message::{Block, Message};

/// A message and what its results were before they were cut.
#[derive(Debug, Clone, PartialEq)]
pub struct ArchivedMessage {
    pub message: Message,
    /// For the results whose text the model sees in part; at most one for each.
    pub originals: Vec<Original>,
}

/// The whole text of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Original {
    pub call: CallId,
    pub text: OriginalText,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OriginalText {
    Whole { text: String, cut: Cut },
    Blob(BlobRef),
}

/// A file in `sessions/blobs/`, named by its digest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlobRef {
    /// Lower-case hexadecimal.
    pub sha256: String,
    pub bytes: u64,
    pub media_type: String,
}

impl BlobRef {
    /// Whether the digest is one, and not a path out of the folder.
    pub fn is_valid(&self) -> bool {
        self.sha256.len() == 64
            && self.sha256.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
    }
}

impl From<Message> for ArchivedMessage {
    /// A message that the model sees whole.
    fn from(message: Message) -> Self {
        Self { message, originals: Vec::new() }
    }
}

impl ArchivedMessage {
    /// A result message of which the model sees `cut` of `whole`. The writer moves a text that is too
    /// long for a record to a blob.
    pub fn with_whole(message: Message, call: CallId, whole: String, cut: Cut) -> Self {
        let text = OriginalText::Whole { text: whole, cut };
        Self { message, originals: vec![Original { call, text }] }
    }

    /// Where the whole text of a call's result is, if the message holds only a part of it.
    pub fn original(&self, call: &CallId) -> Option<&OriginalText> {
        self.originals.iter().find(|original| original.call == *call).map(|original| &original.text)
    }

    pub(super) fn to_map(&self) -> Map<String, Value> {
        let message = &self.message;
        let content: Vec<Value> = message.content.iter().map(|block| self.block(block)).collect();
        let mut map = Map::new();
        map.insert("id".into(), json!(message.id));
        map.insert("parent_id".into(), json!(message.parent_id));
        map.insert("ts".into(), json!(message.ts));
        map.insert("message".into(), json!({"role": message.role, "content": content}));
        if message.interrupted {
            map.insert("interrupted".into(), json!(true));
        }
        map
    }

    fn block(&self, block: &Block) -> Value {
        let mut value = serde_json::to_value(block).unwrap_or_default();
        let (Block::ToolResult(result), Value::Object(map)) = (block, &mut value) else {
            return value;
        };
        match self.original(&result.tool_use_id) {
            Some(OriginalText::Whole { text, cut }) => {
                map.insert("content".into(), json!(text));
                map.insert("cut".into(), json!(cut));
            }
            Some(OriginalText::Blob(blob)) => {
                map.insert("blob".into(), json!(blob));
            }
            None => {}
        }
        value
    }

    /// Reads a record's fields. Blocks of kinds that this version does not know are left out.
    pub(super) fn from_map(map: Map<String, Value>) -> Result<Self, String> {
        let record: MessageFields =
            serde_json::from_value(Value::Object(map)).map_err(|error| error.to_string())?;
        let mut originals = Vec::new();
        let mut content = Vec::with_capacity(record.message.content.0.len());
        for block in record.message.content.0 {
            content.extend(read_block(block, &mut originals)?);
        }
        let message = Message {
            id: record.id,
            parent_id: record.parent_id,
            ts: record.ts,
            role: record.message.role,
            content,
            interrupted: record.interrupted,
        };
        Ok(Self { message, originals })
    }

    /// Removes secrets from the whole texts, keeping the cuts within them.
    pub(super) fn redact_originals(&mut self, redactor: &Redactor) {
        for original in &mut self.originals {
            let OriginalText::Whole { text, cut } = &mut original.text else { continue };
            if !redactor.finds(text) {
                continue;
            }
            redact_cut(text, cut, redactor);
            let view = cut.apply(text).unwrap_or_default();
            for block in &mut self.message.content {
                if let Block::ToolResult(result) = block
                    && result.tool_use_id == original.call
                {
                    result.content.clone_from(&view);
                }
            }
        }
    }
}

fn redact_cut(text: &mut String, cut: &mut Cut, redactor: &Redactor) {
    let head = cut::floor_boundary(text, cut.head);
    let tail = cut::ceil_boundary(text, text.len().saturating_sub(cut.tail));
    let head = redactor.redact(text[..head].to_owned()).len();
    let tail = redactor.redact(text[tail..].to_owned()).len();
    *text = redactor.redact(std::mem::take(text));
    cut.head = cut::floor_boundary(text, head);
    let tail_start = text.len().saturating_sub(tail).max(cut.head);
    cut.tail = text.len() - cut::ceil_boundary(text, tail_start);
}

#[derive(Deserialize)]
struct MessageFields {
    id: crate::base::id::MessageId,
    #[serde(default)]
    parent_id: Option<crate::base::id::MessageId>,
    #[serde(default)]
    ts: crate::base::time::Timestamp,
    message: SaidFields,
    #[serde(default)]
    interrupted: bool,
}

#[derive(Deserialize)]
struct SaidFields {
    role: crate::conversation::message::Role,
    content: Content,
}

/// Blocks; other writers shorten a single text block to its text.
struct Content(Vec<Value>);

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::String(text) => Ok(Self(vec![json!({"type": "text", "text": text})])),
            Value::Array(blocks) => Ok(Self(blocks)),
            _ => Err(serde::de::Error::custom("content is neither blocks nor text")),
        }
    }
}

const KNOWN_BLOCKS: [&str; 5] = ["text", "tool_use", "tool_result", "reasoning", "image"];

fn read_block(mut block: Value, originals: &mut Vec<Original>) -> Result<Option<Block>, String> {
    let kind = block.get("type").and_then(Value::as_str).ok_or("a block without a type")?;
    if !KNOWN_BLOCKS.contains(&kind) {
        return Ok(None);
    }
    if kind == "tool_result"
        && let Value::Object(map) = &mut block
    {
        join_texts(map);
        read_original(map, originals);
    }
    serde_json::from_value(block).map(Some).map_err(|error| error.to_string())
}

/// Other writers give a result's content as blocks.
fn join_texts(map: &mut Map<String, Value>) {
    let joined = match map.get("content") {
        Some(Value::Array(blocks)) => {
            let texts = blocks.iter().filter_map(|block| block.get("text").and_then(Value::as_str));
            texts.collect::<Vec<_>>().join("\n")
        }
        Some(Value::Null) | None => String::new(),
        Some(_) => return,
    };
    map.insert("content".into(), Value::String(joined));
}

/// Replaces the whole text by the model's view of it.
fn read_original(map: &mut Map<String, Value>, originals: &mut Vec<Original>) {
    let Some(call) = map.get("tool_use_id").and_then(Value::as_str).map(CallId::new) else {
        return;
    };
    let blob = map.remove("blob").and_then(|blob| serde_json::from_value::<BlobRef>(blob).ok());
    if let Some(blob) = blob.filter(BlobRef::is_valid) {
        originals.push(Original { call, text: OriginalText::Blob(blob) });
        return;
    }
    let Some(cut) = map.remove("cut") else { return };
    let Some(Value::String(whole)) = map.remove("content") else { return };
    // A cut that does not fit its text is damage: cut again by the limits.
    let fitting = serde_json::from_value::<Cut>(cut).ok().filter(|cut| cut.apply(&whole).is_some());
    let cut = fitting.or_else(|| cut::middle(&whole, RESULT_BYTES_MAX, RESULT_LINES_MAX));
    let view = cut.as_ref().and_then(|cut| cut.apply(&whole));
    map.insert("content".into(), Value::String(view.unwrap_or_else(|| whole.clone())));
    if let Some(cut) = cut {
        originals.push(Original { call, text: OriginalText::Whole { text: whole, cut } });
    }
}
