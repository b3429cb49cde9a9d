//! The chunks of a `chat/completions` stream as round events.
//!
//! Pure: text in, events out. Invariants: exactly one `End` or `Failed`, and it is the last event; calls come
//! after all text, each once; a reply without a finish reason is cut, whatever else it has; memory is bounded
//! by [`HELD_BYTES_MAX`], since text is passed on at once.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::calls::Calls;
use super::usage;
use crate::conversation::message::{Block, OpaqueState};
use crate::conversation::round::{
    RoundError, RoundErrorKind, RoundEvent, RoundRequest, StopReason,
};
use crate::conversation::usage::Usage;
use crate::provider::drive::Decode;
use crate::provider::error;

/// Bytes of calls and opaque reasoning that one reply may make us hold.
const HELD_BYTES_MAX: usize = 32 * 1024 * 1024;

/// The fields in which servers send readable reasoning; some send two with the same words.
const REASONING_FIELDS: [&str; 3] = ["reasoning_content", "reasoning", "reasoning_text"];

/// One reply, as it is read.
#[derive(Debug)]
pub struct Decoder {
    provider: String,
    model: String,
    calls: Calls,
    reasoning: Option<OpenReasoning>,
    finish_reason: Option<String>,
    usage: Option<Usage>,
    details_bytes: usize,
    is_over: bool,
}

/// A reasoning block that is not complete.
#[derive(Debug, Default)]
struct OpenReasoning {
    field: Option<&'static str>,
    details: Vec<Value>,
}

impl Decoder {
    pub fn new(request: &RoundRequest) -> Self {
        let blocks = request.messages.iter().flat_map(|message| &message.blocks);
        let taken: HashSet<String> = blocks
            .filter_map(|block| match block {
                Block::ToolUse(call) => Some(call.id.as_str().to_owned()),
                _ => None,
            })
            .collect();
        Self {
            provider: request.model.provider.clone(),
            model: request.model.id.clone(),
            calls: Calls::new(taken),
            reasoning: None,
            finish_reason: None,
            usage: None,
            details_bytes: 0,
            is_over: false,
        }
    }

    fn chunk(&mut self, chunk: &Value, part: &str) -> Vec<RoundEvent> {
        let mut out = Vec::new();
        self.read_usage(chunk.get("usage"));
        let Some(choice) = first_choice(chunk) else {
            return out;
        };
        self.read_usage(choice.get("usage"));
        if let Some(delta) = choice.get(part) {
            self.read_reasoning(delta, &mut out);
            self.read_content(delta.get("content"), &mut out);
            if let Some(Value::String(refusal)) = delta.get("refusal") {
                self.text(refusal, &mut out);
            }
            self.read_calls(delta, &mut out);
        }
        if let Some(Value::String(reason)) = choice.get("finish_reason")
            && !reason.is_empty()
        {
            self.finish_reason = Some(reason.clone());
        }
        if !self.is_over && self.calls.bytes() + self.details_bytes > HELD_BYTES_MAX {
            out.extend(self.fail(too_large()));
        }
        out
    }

    fn read_usage(&mut self, usage: Option<&Value>) {
        if let Some(usage) = usage.and_then(usage::read) {
            self.usage = Some(usage);
        }
    }

    fn read_reasoning(&mut self, delta: &Value, out: &mut Vec<RoundEvent>) {
        let found = REASONING_FIELDS.into_iter().find_map(|field| {
            let text = delta.get(field)?.as_str().filter(|text| !text.is_empty())?;
            Some((field, text))
        });
        if let Some((field, text)) = found {
            self.reasoning.get_or_insert_default().field.get_or_insert(field);
            out.push(RoundEvent::Reasoning(text.to_owned()));
        }
        if let Some(Value::Array(details)) = delta.get("reasoning_details") {
            for detail in details {
                self.details_bytes += detail.to_string().len();
                add_detail(&mut self.reasoning.get_or_insert_default().details, detail);
            }
        }
    }

    fn read_content(&mut self, content: Option<&Value>, out: &mut Vec<RoundEvent>) {
        match content {
            Some(Value::String(text)) => self.text(text, out),
            Some(Value::Array(parts)) => {
                for part in parts {
                    self.read_part(part, out);
                }
            }
            _ => {}
        }
    }

    /// A part of content: text, or reasoning in the form `{"type": "thinking", "thinking": [text parts]}`.
    fn read_part(&mut self, part: &Value, out: &mut Vec<RoundEvent>) {
        if let Some(text) = part.as_str().or_else(|| part.get("text")?.as_str()) {
            self.text(text, out);
            return;
        }
        let thinking = match part.get("thinking") {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Array(parts)) => {
                parts.iter().filter_map(|part| part.get("text")?.as_str()).collect()
            }
            _ => return,
        };
        if !thinking.is_empty() {
            self.reasoning.get_or_insert_default();
            out.push(RoundEvent::Reasoning(thinking));
        }
    }

    fn text(&mut self, text: &str, out: &mut Vec<RoundEvent>) {
        if !text.is_empty() {
            self.end_reasoning(out);
            out.push(RoundEvent::Text(text.to_owned()));
        }
    }

    fn read_calls(&mut self, delta: &Value, out: &mut Vec<RoundEvent>) {
        let entries = match (delta.get("tool_calls"), delta.get("function_call")) {
            (Some(Value::Array(entries)), _) if !entries.is_empty() => entries.as_slice(),
            // The older form, one call a reply.
            (_, Some(call @ Value::Object(_))) => std::slice::from_ref(call),
            _ => return,
        };
        self.end_reasoning(out);
        match self.calls.add(entries) {
            Some(progress) => out.extend(
                progress
                    .into_iter()
                    .map(|call| RoundEvent::CallProgress { name: call.name, bytes: call.bytes }),
            ),
            None => out.extend(self.fail(too_large())),
        }
    }

    fn end_reasoning(&mut self, out: &mut Vec<RoundEvent>) {
        let Some(reasoning) = self.reasoning.take() else {
            return;
        };
        let mut payload = serde_json::Map::new();
        if let Some(field) = reasoning.field {
            payload.insert("field".into(), json!(field));
        }
        if !reasoning.details.is_empty() {
            payload.insert("details".into(), Value::Array(reasoning.details));
        }
        let state = (!payload.is_empty()).then(|| OpaqueState {
            provider: self.provider.clone(),
            model: self.model.clone(),
            payload: Value::Object(payload).to_string(),
        });
        out.push(RoundEvent::ReasoningDone(state));
    }

    fn fail(&mut self, error: RoundError) -> Vec<RoundEvent> {
        if std::mem::replace(&mut self.is_over, true) {
            return Vec::new();
        }
        vec![RoundEvent::Failed(error)]
    }

    /// The end of a complete reply.
    fn end(&mut self, reason: &str) -> Vec<RoundEvent> {
        if reason == "network_error" || reason == "error" {
            let message = "the provider lost its own connection in the middle of the reply";
            return self.fail(RoundError::new(RoundErrorKind::Cut, message));
        }
        let mut out = Vec::new();
        self.end_reasoning(&mut out);
        let calls = self.calls.finish();
        let stop = stop_reason(reason, !calls.is_empty());
        out.extend(calls.into_iter().map(RoundEvent::Call));
        out.push(RoundEvent::End { stop, usage: self.usage });
        self.is_over = true;
        out
    }
}

impl Decode for Decoder {
    fn feed(&mut self, data: &str) -> Vec<RoundEvent> {
        if self.is_over {
            return Vec::new();
        }
        if data.trim() == "[DONE]" {
            return self.finish(None);
        }
        let Ok(chunk) = serde_json::from_str::<Value>(data) else {
            // Keep-alives wrapped as data, and the rest of a cut line. Not logged: it may hold anything.
            tracing::debug!(bytes = data.len(), "a data line that is not JSON was skipped");
            return Vec::new();
        };
        if error::is_error(&chunk) {
            return self.finish(Some(error::from_event(data)));
        }
        self.chunk(&chunk, "delta")
    }

    fn whole(&mut self, reply: &Value) -> Option<Vec<RoundEvent>> {
        first_choice(reply)?.get("message")?;
        let mut out = self.chunk(reply, "message");
        // It is complete because it is valid JSON, with or without a reason.
        self.finish_reason.get_or_insert_with(|| "stop".to_owned());
        out.extend(self.finish(None));
        Some(out)
    }

    fn finish(&mut self, why: Option<RoundError>) -> Vec<RoundEvent> {
        if self.is_over {
            return Vec::new();
        }
        match (self.finish_reason.take(), why) {
            // Complete: what happens to the connection afterwards does not matter.
            (Some(reason), _) => self.end(&reason),
            (None, Some(error)) => self.fail(error),
            (None, None) => {
                let message = "the reply ended before it was complete";
                self.fail(RoundError::new(RoundErrorKind::Cut, message))
            }
        }
    }

    fn is_complete(&self) -> bool {
        self.finish_reason.is_some()
    }

    fn is_over(&self) -> bool {
        self.is_over
    }
}

fn too_large() -> RoundError {
    RoundError::new(RoundErrorKind::Nonsense, "the reply is larger than any reply can be")
}

/// The choice with index 0: no request asks for more than one.
fn first_choice(chunk: &Value) -> Option<&Value> {
    let choices = chunk.get("choices")?.as_array()?;
    let is_first = |choice: &&Value| choice.get("index").and_then(Value::as_u64).unwrap_or(0) == 0;
    choices.iter().find(is_first)
}

fn stop_reason(reason: &str, has_calls: bool) -> StopReason {
    match reason {
        // A call whose arguments the limit cut must be known as such (W12).
        "length" | "max_tokens" | "max_output_tokens" => StopReason::Length,
        // Servers say `stop` although they sent calls (W10).
        _ if has_calls => StopReason::ToolUse,
        "stop" | "end" | "eos" | "end_turn" | "stop_sequence" | "tool_calls" | "tool_use"
        | "function_call" => StopReason::EndTurn,
        "content_filter" | "refusal" | "safety" => {
            StopReason::Refusal("the provider's content filter stopped the reply".to_owned())
        }
        other => StopReason::Other(other.to_owned()),
    }
}

/// Adds a detail; pieces of one text are joined, as the server sent them in the whole form.
fn add_detail(details: &mut Vec<Value>, piece: &Value) {
    let same = |key: &str, last: &Value| last.get(key) == piece.get(key);
    if let Some(last) = details.last_mut()
        && piece.get("index").is_some()
        && same("index", last)
        && same("type", last)
        && let (Some(last), Some(piece)) = (last.as_object_mut(), piece.as_object())
    {
        for (key, value) in piece {
            match (last.get_mut(key), value) {
                (Some(Value::String(text)), Value::String(more))
                    if matches!(key.as_str(), "text" | "summary" | "data") =>
                {
                    text.push_str(more);
                }
                (Some(Value::Null) | None, value) => {
                    last.insert(key.clone(), value.clone());
                }
                (Some(_), _) => {}
            }
        }
        return;
    }
    details.push(piece.clone());
}

#[cfg(test)]
#[path = "stream_tests.rs"]
mod tests;
