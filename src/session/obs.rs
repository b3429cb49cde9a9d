//! Observations: what happened, never shown to a model.

use std::fmt::Write as _;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};

use crate::base::limits::OUTCOME_CHARS_MAX;
use crate::base::text::cut;
use crate::base::time::Timestamp;
use crate::conversation::usage::Usage;

/// One span. `run_id` names the turn: one per user message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Obs {
    #[serde(default, deserialize_with = "text_or_number")]
    pub run_id: String,
    #[serde(default)]
    pub ts: Timestamp,
    #[serde(flatten)]
    pub span: Span,
}

/// The kinds of spans that this version knows.
pub const KNOWN_SPANS: [&str; 4] = ["turn_start", "llm_call", "tool_call", "turn_end"];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "obs", rename_all = "snake_case")]
pub enum Span {
    TurnStart,
    LlmCall(LlmCall),
    ToolCall(ToolCall),
    TurnEnd(TurnEnd),
}

/// One request to a model.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LlmCall {
    pub provider: String,
    pub model: String,
    pub duration_ms: u64,
    /// Time to the first token; absent if none came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttft_ms: Option<u64>,
    /// Absent if the provider reported none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<ObsUsage>,
    pub outcome: Outcome,
    pub purpose: Purpose,
    /// Requests sent, retries included.
    pub attempts: u32,
}

/// What a request was for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    #[default]
    Round,
    Summary,
    Approval,
    Title,
    Side,
    /// Written by a newer version.
    #[serde(other)]
    Other,
}

/// Token counts in the archive's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ObsUsage {
    /// All that was sent, cache reads and writes included.
    pub prompt: u64,
    pub completion: u64,
    pub cache_read: u64,
    pub cache_write: u64,
    /// Part of `completion`.
    #[serde(skip_serializing_if = "is_zero")]
    pub reasoning: u64,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub estimated: bool,
}

impl From<Usage> for ObsUsage {
    fn from(usage: Usage) -> Self {
        Self {
            prompt: usage.prompt_tokens(),
            completion: usage.output,
            cache_read: usage.cache_read,
            cache_write: usage.cache_write,
            reasoning: usage.reasoning,
            estimated: usage.estimated,
        }
    }
}

impl From<ObsUsage> for Usage {
    fn from(usage: ObsUsage) -> Self {
        let cached = usage.cache_read.saturating_add(usage.cache_write);
        Self {
            input: usage.prompt.saturating_sub(cached),
            output: usage.completion,
            cache_read: usage.cache_read,
            cache_write: usage.cache_write,
            reasoning: usage.reasoning,
            estimated: usage.estimated,
        }
    }
}

/// One call of a tool. Digests, not payloads.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolCall {
    pub tool: String,
    /// The call's number within its turn, from 0.
    pub call_seq: u64,
    pub args_digest: String,
    pub result_digest: String,
    pub bytes_in: u64,
    pub bytes_out: u64,
    pub duration_ms: u64,
    pub outcome: Outcome,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TurnEnd {
    pub stop_reason: String,
    pub interrupted: bool,
    pub llm_calls: u64,
    pub tool_calls: u64,
}

/// How a span ended; written `Ok`, `Aborted` or `Error(text)`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Outcome {
    #[default]
    Ok,
    Aborted,
    /// At most [`OUTCOME_CHARS_MAX`] characters; made by [`Outcome::error`].
    Error(String),
}

impl Outcome {
    /// An error, its text cut on a character boundary.
    pub fn error(text: &str) -> Self {
        Self::Error(cut::chars(text, OUTCOME_CHARS_MAX).to_owned())
    }
}

impl Serialize for Outcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Ok => serializer.serialize_str("Ok"),
            Self::Aborted => serializer.serialize_str("Aborted"),
            Self::Error(text) => {
                let text = cut::chars(text, OUTCOME_CHARS_MAX);
                serializer.serialize_str(&format!("Error({text})"))
            }
        }
    }
}

impl<'de> Deserialize<'de> for Outcome {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match serde_json::Value::deserialize(deserializer)? {
            serde_json::Value::String(text) => match text.as_str() {
                "Ok" => Self::Ok,
                "Aborted" => Self::Aborted,
                text => {
                    let inner = text.strip_prefix("Error(").and_then(|rest| rest.strip_suffix(')'));
                    Self::error(inner.unwrap_or(text))
                }
            },
            // Another writer's tagged form, such as `{"Error":"…"}`.
            serde_json::Value::Object(map) => {
                let text = map.values().next().and_then(serde_json::Value::as_str);
                Self::error(text.unwrap_or_default())
            }
            other => Self::error(&other.to_string()),
        })
    }
}

/// Returns `sha256:` and the first 16 hexadecimal digits of the content's digest.
pub fn digest(content: &[u8]) -> String {
    format!("sha256:{}", &sha256_hex(content)[..16])
}

/// Returns the SHA-256 of the content in lower-case hexadecimal: the name of a blob.
pub fn sha256_hex(content: &[u8]) -> String {
    Sha256::digest(content).iter().fold(String::with_capacity(64), |mut hex, byte| {
        // Writing to a string cannot fail.
        let _infallible = write!(hex, "{byte:02x}");
        hex
    })
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Crab wrote numbers, or strings.
fn text_or_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(match serde_json::Value::deserialize(deserializer)? {
        serde_json::Value::String(text) => text,
        other => other.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_is_written_as_text_and_read_back() {
        for (outcome, text) in [
            (Outcome::Ok, "\"Ok\""),
            (Outcome::Aborted, "\"Aborted\""),
            (Outcome::error("no (such) file"), "\"Error(no (such) file)\""),
        ] {
            assert_eq!(serde_json::to_string(&outcome).unwrap(), text);
            assert_eq!(serde_json::from_str::<Outcome>(text).unwrap(), outcome);
        }
    }

    // T14: the cut of an error text falls on a character boundary.
    #[test]
    fn an_error_is_cut_at_128_characters() {
        let Outcome::Error(text) = Outcome::error(&"漢".repeat(300)) else { panic!("an error") };
        assert_eq!(text.chars().count(), 128);
    }

    #[test]
    fn a_digest_is_short_and_names_its_algorithm() {
        assert_eq!(digest(b""), "sha256:e3b0c44298fc1c14");
    }

    #[test]
    fn usage_survives_the_archives_words() {
        let usage = Usage {
            input: 5,
            output: 4,
            cache_read: 3,
            cache_write: 2,
            reasoning: 1,
            ..Usage::default()
        };
        assert_eq!(ObsUsage::from(usage).prompt, 10);
        assert_eq!(Usage::from(ObsUsage::from(usage)), usage);
    }
}
