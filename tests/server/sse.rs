//! Chat Completions streams, written chunk by chunk.

use serde_json::{Value, json};

use super::{Gate, Reply};

/// A stream under construction.
#[derive(Debug, Clone, Default)]
pub struct Sse {
    body: String,
    call_count: u64,
}

impl Sse {
    pub fn new() -> Self {
        Self::default()
    }

    /// A chunk with any JSON.
    #[must_use]
    pub fn chunk(mut self, chunk: &Value) -> Self {
        self.body.extend(["data: ", &chunk.to_string(), "\n\n"]);
        self
    }

    #[must_use]
    pub fn delta(self, delta: &Value) -> Self {
        self.chunk(&json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]}))
    }

    #[must_use]
    pub fn text(self, text: &str) -> Self {
        self.delta(&json!({"content": text}))
    }

    #[must_use]
    pub fn reasoning(self, text: &str) -> Self {
        self.delta(&json!({"reasoning_content": text}))
    }

    /// A whole call in two pieces.
    #[must_use]
    pub fn call(mut self, id: &str, name: &str, arguments: &Value) -> Self {
        let index = self.call_count;
        self.call_count += 1;
        let arguments = arguments.to_string();
        self.delta(&json!({"tool_calls": [{"index": index, "id": id, "type": "function",
            "function": {"name": name, "arguments": ""}}]}))
            .delta(&json!({"tool_calls": [{"index": index, "function": {"arguments": arguments}}]}))
    }

    #[must_use]
    pub fn finish(self, reason: &str) -> Self {
        self.chunk(&json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}))
    }

    #[must_use]
    pub fn usage(self, prompt: u64, cached: u64, output: u64) -> Self {
        self.chunk(&json!({"choices": [], "usage": {
            "prompt_tokens": prompt, "completion_tokens": output,
            "prompt_tokens_details": {"cached_tokens": cached},
        }}))
    }

    /// Bytes as they are, such as comments.
    #[must_use]
    pub fn raw(mut self, text: &str) -> Self {
        self.body.push_str(text);
        self
    }

    /// The bytes so far, without an end.
    pub fn cut(self) -> Reply {
        Reply::stream(self.body)
    }

    /// The stream with `[DONE]`.
    pub fn done(self) -> Reply {
        Reply::stream(self.body + "data: [DONE]\n\n")
    }

    /// Length so far in bytes, for stalls and drops.
    pub fn len(&self) -> usize {
        self.body.len()
    }
}

/// A whole answer in words.
pub fn says(text: &str) -> Reply {
    Sse::new().text(text).finish("stop").usage(20, 0, 5).done()
}

/// A whole answer that calls one tool.
pub fn calls(id: &str, name: &str, arguments: &Value) -> Reply {
    Sse::new().call(id, name, arguments).finish("tool_calls").usage(20, 0, 5).done()
}

/// An answer that says `head`, waits for the gate, and says `tail`.
pub fn held(head: &str, tail: &str, gate: &Gate) -> Reply {
    let part = Sse::new().text(head);
    part.clone().text(tail).finish("stop").usage(20, 0, 5).done().stall_after(part.len(), gate)
}
