//! What a tool is told and what it says, without the name of any tool.

use serde_json::Value;

use super::message::{Image, Shown, ToolUse};
use super::todo::Todo;

/// A tool as the model sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    pub name: String,
    pub description: String,
    /// JSON Schema of the arguments object.
    pub parameters: Value,
}

/// A running call speaks.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolEvent {
    /// Output so far, for the screen only; lossy text, not sanitized.
    Output(String),
    Done(ToolOutcome),
}

/// How a call ended. A failure is a result that the model can act on, never an error of the program.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolOutcome {
    pub status: ToolStatus,
    /// The whole text, up to [`crate::base::limits::OUTPUT_BYTES_MAX`]; the model's view is cut from it.
    pub text: String,
    pub images: Vec<Image>,
    pub shown: Shown,
    /// The session's new list of things to do, if the call set it.
    pub todos: Option<Vec<Todo>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolStatus {
    Ok,
    Failed,
    /// Stopped before its end by the person, a time limit of the turn, or a crash.
    Interrupted,
}

impl ToolOutcome {
    pub fn ok(text: impl Into<String>) -> Self {
        Self::new(ToolStatus::Ok, text.into())
    }
    pub fn failed(text: impl Into<String>) -> Self {
        Self::new(ToolStatus::Failed, text.into())
    }
    pub fn interrupted(text: impl Into<String>) -> Self {
        Self::new(ToolStatus::Interrupted, text.into())
    }
    fn new(status: ToolStatus, text: String) -> Self {
        Self { status, text, images: Vec::new(), shown: Shown::default(), todos: None }
    }

    #[must_use]
    pub fn with_summary(mut self, summary: impl Into<String>) -> Self {
        self.shown.summary = Some(summary.into());
        self
    }
    #[must_use]
    pub fn with_diff(mut self, diff: impl Into<String>) -> Self {
        self.shown.diff = Some(diff.into());
        self
    }
    pub fn is_error(&self) -> bool {
        self.status != ToolStatus::Ok
    }
}

/// The key under which arguments that are not a JSON object are kept.
pub const INVALID_JSON: &str = "invalid_json";

/// Arguments as they are stored: the object the model sent, `{}` for nothing, or what it sent in
/// [`INVALID_JSON`].
pub fn parse_arguments(raw: &str) -> Value {
    if raw.trim().is_empty() {
        return Value::Object(serde_json::Map::new());
    }
    match serde_json::from_str(raw) {
        Ok(Value::Object(object)) => Value::Object(object),
        Ok(_) | Err(_) => serde_json::json!({ INVALID_JSON: raw }),
    }
}

/// Returns what the model sent, if it was not a JSON object.
pub fn invalid_arguments(call: &ToolUse) -> Option<&str> {
    let object = call.input.as_object()?;
    if object.len() != 1 {
        return None;
    }
    object.get(INVALID_JSON)?.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    // W12: arguments that do not parse are kept as valid JSON and never repaired.
    #[test]
    fn arguments_are_an_object_or_are_kept_as_sent() {
        for (raw, stored) in [
            ("", r"{}"),
            (" \n", r"{}"),
            (r#"{"a": 1}"#, r#"{"a":1}"#),
            ("[]", r#"{"invalid_json":"[]"}"#),
            (r#"{"a": "cut"#, r#"{"invalid_json":"{\"a\": \"cut"}"#),
            (r#"{"a": 1,}"#, r#"{"invalid_json":"{\"a\": 1,}"}"#),
            ("null", r#"{"invalid_json":"null"}"#),
        ] {
            assert_eq!(parse_arguments(raw).to_string(), stored, "{raw}");
        }
    }
}
