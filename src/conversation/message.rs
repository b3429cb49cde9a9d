//! Messages and their blocks, as the snapshot and the archive write them.
//!
//! A message is one entry: a finished assistant block or a single tool result is a message of its own, so
//! that it can be saved the moment it is complete. [`super::pairing`] joins them for a request.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::id::{CallId, MessageId};
use crate::base::time::Timestamp;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    User,
    Assistant,
}

/// One entry of the conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    pub id: MessageId,
    /// The message before it on its branch; `None` for the first.
    pub parent_id: Option<MessageId>,
    pub ts: Timestamp,
    pub role: Role,
    pub content: Vec<Block>,
    /// The text stops where an interruption cut it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Block {
    Text { text: String },
    ToolUse(ToolUse),
    ToolResult(ToolResult),
    Reasoning(Reasoning),
    Image(Image),
}

/// A call that the model made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolUse {
    pub id: CallId,
    pub name: String,
    /// Always valid JSON: arguments that did not parse are kept as `{"invalid_json": "…"}`.
    pub input: Value,
}

/// What a call came to. Exactly one for each [`ToolUse`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolResult {
    pub tool_use_id: CallId,
    /// The text as the model sees it, within [`crate::base::limits::RESULT_BYTES_MAX`].
    pub content: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
    /// Images that the tool returned.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
    /// What only the screen shows.
    #[serde(default, skip_serializing_if = "Shown::is_empty")]
    pub shown: Shown,
}

/// What a person sees of a result besides its text; never sent to a model.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Shown {
    /// A few words after the tool's headline, such as `214 lines` or `exit 1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// The change to a file as a unified diff.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
}

impl Shown {
    pub fn is_empty(&self) -> bool {
        self.summary.is_none() && self.diff.is_none()
    }
}

/// The model's reasoning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reasoning {
    /// The readable part; may be empty.
    pub text: String,
    /// What its provider wants back unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opaque: Option<OpaqueState>,
}

/// State that only the provider which made it understands. Kept byte for byte.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpaqueState {
    /// The provider's name and the model's id: it is sent back to these only.
    pub provider: String,
    pub model: String,
    /// JSON text, as received.
    pub payload: String,
}

/// A picture, by the digest of its bytes; the bytes are a blob beside the sessions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// Lower-case hexadecimal SHA-256 of the bytes.
    pub sha256: String,
    pub media_type: String,
    pub bytes: u64,
}

impl Block {
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }
}

impl Message {
    /// Whether a person's words begin a turn here (tool results are user messages too).
    pub fn begins_turn(&self) -> bool {
        self.role == Role::User
            && self
                .content
                .iter()
                .any(|block| matches!(block, Block::Text { .. } | Block::Image(_)))
    }

    /// The text blocks, joined by newlines.
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self
            .content
            .iter()
            .filter_map(|block| match block {
                Block::Text { text } => Some(text.as_str()),
                Block::ToolUse(_)
                | Block::ToolResult(_)
                | Block::Reasoning(_)
                | Block::Image(_) => None,
            })
            .collect();
        texts.join("\n")
    }

    pub fn tool_uses(&self) -> impl Iterator<Item = &ToolUse> {
        self.content.iter().filter_map(|block| match block {
            Block::ToolUse(call) => Some(call),
            _ => None,
        })
    }

    pub fn tool_results(&self) -> impl Iterator<Item = &ToolResult> {
        self.content.iter().filter_map(|block| match block {
            Block::ToolResult(result) => Some(result),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_written_as_the_archive_shows_it() {
        let message = Message {
            id: MessageId(3),
            parent_id: Some(MessageId(1)),
            ts: Timestamp::from_millis(0),
            role: Role::Assistant,
            content: vec![
                Block::text("Let me read the renderer."),
                Block::ToolUse(ToolUse {
                    id: CallId::new("call_00_a1b2"),
                    name: "read".into(),
                    input: serde_json::json!({"path": "src/metrics.rs"}),
                }),
            ],
            interrupted: false,
        };
        let text = serde_json::to_string(&message).unwrap();
        assert_eq!(
            text,
            r#"{"id":3,"parent_id":1,"ts":"1970-01-01T00:00:00.000Z","role":"assistant","content":[{"type":"text","text":"Let me read the renderer."},{"type":"tool_use","id":"call_00_a1b2","name":"read","input":{"path":"src/metrics.rs"}}]}"#
        );
        assert_eq!(serde_json::from_str::<Message>(&text).unwrap(), message);
    }
}
