//! The built-in demo: a deterministic stand-in for a model, in process, without a network.
//!
//! It sees a [`RoundRequest`] and nothing else, and answers as a model does: with text and calls of the tools
//! that the request names. So all that it shows goes the normal way: approvals, results, compaction.

mod answer;
mod intent;
mod results;
mod summary;

use std::time::Duration;

use futures_util::stream::{self, StreamExt};
use serde_json::Value;

use super::{Client, RoundStream};
use crate::base::id::CallId;
use crate::conversation::estimate::{text_tokens, tools_tokens};
use crate::conversation::message::{Block, ToolUse};
use crate::conversation::round::{Purpose, RoundEvent, RoundRequest, StopReason};
use crate::conversation::usage::Usage;

/// Milliseconds between two words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace(pub u64);

impl Pace {
    pub const NONE: Self = Self(0);
    /// Fast, but seen to stream.
    pub const READABLE: Self = Self(8);
}

/// The demo's client.
#[derive(Debug)]
pub struct Offline {
    pace: Pace,
}

impl Offline {
    pub fn new(pace: Pace) -> Self {
        Self { pace }
    }
}

/// What the demo says in one round.
#[derive(Debug, Clone, PartialEq, Default)]
struct Reply {
    text: String,
    /// Names and arguments.
    calls: Vec<(&'static str, Value)>,
}

impl Reply {
    fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), calls: Vec::new() }
    }
    fn call(text: impl Into<String>, name: &'static str, input: Value) -> Self {
        Self { text: text.into(), calls: vec![(name, input)] }
    }
}

impl Client for Offline {
    fn start(&self, request: RoundRequest) -> RoundStream {
        let pace = self.pace;
        stream::iter(events(&request))
            .then(move |event| async move {
                if pace != Pace::NONE && matches!(event, RoundEvent::Text(_)) {
                    tokio::time::sleep(Duration::from_millis(pace.0)).await;
                }
                event
            })
            .boxed()
    }
}

fn events(request: &RoundRequest) -> Vec<RoundEvent> {
    let reply = match request.purpose {
        Purpose::Summary => Reply::text(summary::of(request)),
        Purpose::Title => Reply::text(answer::title(request)),
        Purpose::Approval => Reply::text("ask: the offline demo does not judge commands"),
        Purpose::Round | Purpose::Side => answer::reply(request),
    };
    let mut events = vec![RoundEvent::Accepted];
    events.extend(words(&reply.text).map(|word| RoundEvent::Text(word.to_owned())));
    let stop = if reply.calls.is_empty() { StopReason::EndTurn } else { StopReason::ToolUse };
    let mut output = text_tokens(&reply.text);
    let first = made_calls(request) + 1;
    for (offset, (name, input)) in reply.calls.into_iter().enumerate() {
        let arguments = input.to_string();
        output += 6 + text_tokens(&arguments);
        let progress =
            RoundEvent::CallProgress { name: Some(name.to_owned()), bytes: arguments.len() };
        let id = CallId(format!("demo_{}", first + offset as u64));
        events.push(progress);
        events.push(RoundEvent::Call(ToolUse { id, name: name.to_owned(), input }));
    }
    let usage =
        Usage { input: prompt_tokens(request), output, estimated: true, ..Usage::default() };
    events.push(RoundEvent::End { stop, usage: Some(usage) });
    events
}

/// The highest number of a demo call in the request, so that no id comes twice.
fn made_calls(request: &RoundRequest) -> u64 {
    let number = |block: &Block| match block {
        Block::ToolUse(call) => call.id.as_str().strip_prefix("demo_")?.parse().ok(),
        _ => None,
    };
    request.messages.iter().flat_map(|m| &m.blocks).filter_map(number).max().unwrap_or(0)
}

fn prompt_tokens(request: &RoundRequest) -> u64 {
    let block = |block: &Block| match block {
        Block::Text { text } => text_tokens(text),
        Block::ToolUse(call) => 6 + text_tokens(&call.input.to_string()),
        Block::ToolResult(result) => 6 + text_tokens(&result.content),
        Block::Reasoning(_) | Block::Image(_) => 0,
    };
    let said: u64 = request.messages.iter().flat_map(|m| &m.blocks).map(block).sum();
    text_tokens(&request.system) + tools_tokens(&request.tools) + said
}

/// The words of a text, each with the blanks after it.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let word_end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let blanks = rest[word_end..].find(|c: char| !c.is_whitespace());
        let end = blanks.map_or(rest.len(), |blanks| word_end + blanks);
        let (word, after) = rest.split_at(end);
        rest = after;
        Some(word)
    })
}

#[cfg(test)]
mod tests;
