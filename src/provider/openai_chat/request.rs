//! A round request as the body of `chat/completions`.
//!
//! Invariants: no message is empty; the results of an assistant message's calls follow it directly, in its
//! order; ids are ones that the strictest server takes, and the same wherever they appear.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::Pictures;
use crate::conversation::gear::Gear;
use crate::conversation::message::{Block, Image, OpaqueState, Role, ToolResult};
use crate::conversation::round::{RequestMessage, RoundRequest};

/// The longest tool call id that OpenAI takes, in characters.
const CALL_ID_CHARS_MAX: usize = 40;

/// What stands for a result without text: some servers refuse an empty one.
const NO_OUTPUT: &str = "(no output)";

/// Where OpenAI itself differs from the servers that imitate it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// `max_completion_tokens` (its reasoning models refuse `max_tokens`) and `prompt_cache_key`.
    OpenAi,
    Compatible,
}

impl Dialect {
    pub fn of_host(host: &str) -> Self {
        if host == "api.openai.com" { Self::OpenAi } else { Self::Compatible }
    }
}

/// Returns the body. Images that are not in `pictures` are named in words.
pub fn body(request: &RoundRequest, dialect: Dialect, pictures: &Pictures) -> Value {
    let mut body = Map::new();
    body.insert("model".into(), json!(request.model.id));
    body.insert("messages".into(), messages(request, pictures));
    body.insert("stream".into(), json!(true));
    body.insert("stream_options".into(), json!({"include_usage": true}));
    // OpenAI refuses an empty list.
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(|tool| {
            json!({"type": "function", "function": {
                "name": tool.name, "description": tool.description, "parameters": tool.parameters,
            }})
        });
        body.insert("tools".into(), tools.collect());
    }
    if let Some(max) = request.model.limits.max_tokens {
        let name = match dialect {
            Dialect::OpenAi => "max_completion_tokens",
            Dialect::Compatible => "max_tokens",
        };
        body.insert(name.into(), json!(max));
    }
    if let Some(gear) = request.model.effective_gear(request.gear) {
        body.insert("reasoning_effort".into(), json!(effort(gear)));
    }
    if dialect == Dialect::OpenAi && !request.cache_key.is_empty() {
        body.insert("prompt_cache_key".into(), json!(request.cache_key));
    }
    Value::Object(body)
}

fn effort(gear: Gear) -> &'static str {
    match gear {
        Gear::Off => "none",
        other => other.name(),
    }
}

fn messages(request: &RoundRequest, pictures: &Pictures) -> Value {
    let mut out = Vec::new();
    if !request.system.trim().is_empty() {
        out.push(json!({"role": "system", "content": &*request.system}));
    }
    for message in &request.messages {
        match message.role {
            Role::Assistant => out.extend(assistant(message, request)),
            Role::User => user(message, pictures, &mut out),
        }
    }
    Value::Array(out)
}

/// A name that providers take: a model that made one up has it sent back to it in every later request.
fn tool_name(name: &str) -> String {
    let allowed = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' };
    let name: String = name.chars().take(TOOL_NAME_CHARS_MAX).map(allowed).collect();
    if name.is_empty() { "unnamed".to_owned() } else { name }
}

/// Characters of a tool's name that every provider takes (wire facts).
const TOOL_NAME_CHARS_MAX: usize = 64;

/// `None` for a message of which nothing can be sent, such as another provider's reasoning alone.
fn assistant(message: &RequestMessage, request: &RoundRequest) -> Option<Value> {
    let mut texts = Vec::new();
    let mut calls = Vec::new();
    let mut reasoning = ReasoningBack::default();
    for block in &message.blocks {
        match block {
            Block::Text { text } => texts.push(text.as_str()),
            Block::ToolUse(call) => calls.push(json!({
                "id": call_id(call.id.as_str()),
                "type": "function",
                "function": {"name": tool_name(&call.name), "arguments": call.input.to_string()},
            })),
            Block::Reasoning(block) => match &block.opaque {
                Some(state) if is_of(state, request) => reasoning.add(state, &block.text),
                Some(_) | None => {}
            },
            Block::ToolResult(_) | Block::Image(_) => {}
        }
    }
    let text = texts.join("\n");
    if text.is_empty() && calls.is_empty() {
        return None;
    }
    let mut out = Map::new();
    out.insert("role".into(), json!("assistant"));
    out.insert("content".into(), if text.is_empty() { Value::Null } else { json!(text) });
    reasoning.put(&mut out);
    if !calls.is_empty() {
        out.insert("tool_calls".into(), Value::Array(calls));
    }
    Some(Value::Object(out))
}

fn is_of(state: &OpaqueState, request: &RoundRequest) -> bool {
    state.provider == request.model.provider && state.model == request.model.id
}

/// Reasoning as it goes back to its maker: under the field's name that it came in.
#[derive(Default)]
struct ReasoningBack {
    field: Option<String>,
    text: String,
    details: Vec<Value>,
}

impl ReasoningBack {
    fn add(&mut self, state: &OpaqueState, text: &str) {
        let Ok(payload) = serde_json::from_str::<Value>(&state.payload) else {
            return;
        };
        if let Some(field) = payload.get("field").and_then(Value::as_str) {
            self.field = Some(field.to_owned());
            self.text.push_str(text);
        }
        if let Some(Value::Array(details)) = payload.get("details") {
            self.details.extend(details.iter().cloned());
        }
    }

    fn put(self, out: &mut Map<String, Value>) {
        if let Some(field) = self.field {
            out.insert(field, Value::String(self.text));
        }
        if !self.details.is_empty() {
            out.insert("reasoning_details".into(), Value::Array(self.details));
        }
    }
}

fn user(message: &RequestMessage, pictures: &Pictures, out: &mut Vec<Value>) {
    let mut parts = Vec::new();
    for block in &message.blocks {
        if let Block::ToolResult(result) = block {
            out.push(tool_result(result));
            for image in &result.images {
                parts.push(json!({"type": "text", "text": "An image that the tool returned:"}));
                parts.push(picture(image, pictures));
            }
        }
    }
    for block in &message.blocks {
        match block {
            Block::Text { text } if !text.trim().is_empty() => {
                parts.push(json!({"type": "text", "text": text}));
            }
            Block::Image(image) => parts.push(picture(image, pictures)),
            Block::Text { .. } | Block::ToolResult(_) | Block::ToolUse(_) | Block::Reasoning(_) => {
            }
        }
    }
    if !parts.is_empty() {
        out.push(json!({"role": "user", "content": content(parts)}));
    }
}

fn tool_result(result: &ToolResult) -> Value {
    let content = match result.content.as_str() {
        "" => NO_OUTPUT,
        text => text,
    };
    let id = call_id(result.tool_use_id.as_str());
    json!({"role": "tool", "tool_call_id": id, "content": content})
}

/// A plain string where it is only text: many servers and templates know nothing else.
fn content(parts: Vec<Value>) -> Value {
    let texts: Option<Vec<&str>> =
        parts.iter().map(|part| part.get("text").and_then(Value::as_str)).collect();
    match texts {
        Some(texts) => Value::String(texts.join("\n\n")),
        None => Value::Array(parts),
    }
}

fn picture(image: &Image, pictures: &Pictures) -> Value {
    if let Some(bytes) = pictures.get(&image.sha256) {
        let url = format!("data:{};base64,{}", image.media_type, STANDARD.encode(bytes));
        return json!({"type": "image_url", "image_url": {"url": url}});
    }
    let (kind, bytes) = (&image.media_type, image.bytes);
    let text = format!("[an image ({kind}, {bytes} bytes) that cannot be shown to this model]");
    json!({"type": "text", "text": text})
}

/// An id that every server takes. Another provider's may be too long or have other characters.
fn call_id(id: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if !id.is_empty() && id.chars().all(is_plain) && id.len() <= CALL_ID_CHARS_MAX {
        return id.to_owned();
    }
    let digest = Sha256::digest(id.as_bytes());
    let hex: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    format!("call_{hex}")
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
