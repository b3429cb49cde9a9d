//! Transcript → the messages of a request.
//!
//! Invariants of what comes out: roles alternate, the first is the user's; each call has exactly one
//! result, in the user message that follows it, before any text, in call order; results without a call are
//! left out; no message is empty. Nothing that breaks these rules reaches a provider (most answer 400).

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::message::{Block, Message, Role, ToolResult, ToolUse};
use super::round::RequestMessage;
use super::transcript::{ModelTranscript, Summary};
use crate::base::id::CallId;

/// The result of a call that has none.
pub const INTERRUPTED_RESULT: &str = "Interrupted before it finished";

/// Sent after an assistant message that was cut, when no user message follows it.
pub const GO_ON: &str =
    "Your last message was cut off by a broken connection. Continue exactly where it stops.";

/// How the summary is introduced to the model.
pub const SUMMARY_HEADER: &str =
    "Summary of the earlier conversation (its messages are no longer shown):";

/// The error result of a call that was interrupted.
pub fn interrupted_result(call: &CallId) -> ToolResult {
    ToolResult {
        tool_use_id: call.clone(),
        content: INTERRUPTED_RESULT.to_owned(),
        is_error: true,
        images: Vec::new(),
        shown: super::message::Shown::default(),
    }
}

/// Returns the messages to send for this transcript.
pub fn request_messages(transcript: &ModelTranscript) -> Vec<RequestMessage> {
    let mut results = results_by_call(transcript.messages());
    let mut out = Vec::new();
    if let Some(summary) = transcript.summary() {
        push(&mut out, Role::User, [summary_block(summary)]);
    }
    let mut open_calls: Vec<CallId> = Vec::new();
    let mut seen_calls = HashSet::new();
    // A result of an open call has been passed: the round that made the calls is over.
    let mut is_answered = false;
    for message in transcript.messages() {
        match message.role {
            Role::Assistant => {
                let blocks: Vec<Block> = message
                    .content
                    .iter()
                    .filter(|block| keep_assistant(block, &mut seen_calls))
                    .cloned()
                    .collect();
                if blocks.is_empty() {
                    continue;
                }
                // Text after the results of earlier calls is a new reply: close the calls first.
                if is_answered {
                    close(&mut out, &mut open_calls, &mut results);
                    is_answered = false;
                }
                open_calls.extend(blocks.iter().filter_map(call_id));
                push(&mut out, Role::Assistant, blocks);
            }
            Role::User => {
                is_answered |= message.tool_results().any(|r| open_calls.contains(&r.tool_use_id));
                let said: Vec<Block> =
                    message.content.iter().filter(|block| is_said(block)).cloned().collect();
                if said.is_empty() {
                    continue;
                }
                is_answered = false;
                close(&mut out, &mut open_calls, &mut results);
                push(&mut out, Role::User, said);
            }
        }
    }
    close(&mut out, &mut open_calls, &mut results);
    finish(out)
}

/// Every result, by its call; the first one counts.
fn results_by_call(messages: &[Arc<Message>]) -> HashMap<CallId, ToolResult> {
    let mut results = HashMap::new();
    for result in messages.iter().flat_map(|message| message.tool_results()) {
        results.entry(result.tool_use_id.clone()).or_insert_with(|| result.clone());
    }
    results
}

fn keep_assistant(block: &Block, seen_calls: &mut HashSet<CallId>) -> bool {
    match block {
        Block::Text { text } => !text.trim().is_empty(),
        Block::ToolUse(ToolUse { id, .. }) => seen_calls.insert(id.clone()),
        Block::Reasoning(_) => true,
        Block::ToolResult(_) | Block::Image(_) => false,
    }
}

fn is_said(block: &Block) -> bool {
    match block {
        Block::Text { text } => !text.trim().is_empty(),
        Block::Image(_) => true,
        Block::ToolUse(_) | Block::ToolResult(_) | Block::Reasoning(_) => false,
    }
}

fn call_id(block: &Block) -> Option<CallId> {
    match block {
        Block::ToolUse(call) => Some(call.id.clone()),
        Block::Text { .. } | Block::ToolResult(_) | Block::Reasoning(_) | Block::Image(_) => None,
    }
}

/// Adds the results of the open calls, in call order.
fn close(
    out: &mut Vec<RequestMessage>,
    open_calls: &mut Vec<CallId>,
    results: &mut HashMap<CallId, ToolResult>,
) {
    let blocks: Vec<Block> = open_calls
        .drain(..)
        .map(|call| results.remove(&call).unwrap_or_else(|| interrupted_result(&call)))
        .map(Block::ToolResult)
        .collect();
    if !blocks.is_empty() {
        push(out, Role::User, blocks);
    }
}

/// Appends to the last message if it has the same role.
fn push(out: &mut Vec<RequestMessage>, role: Role, blocks: impl IntoIterator<Item = Block>) {
    match out.last_mut() {
        Some(last) if last.role == role => last.blocks.extend(blocks),
        Some(_) | None => {
            out.push(RequestMessage { role, blocks: blocks.into_iter().collect() });
        }
    }
}

fn summary_block(summary: &Summary) -> Block {
    Block::text(format!("{SUMMARY_HEADER}\n\n{}", summary.text))
}

fn finish(messages: Vec<RequestMessage>) -> Vec<RequestMessage> {
    let mut out = Vec::with_capacity(messages.len());
    for message in messages {
        // Clients send reasoning only beside what it led to; alone it would be an empty message.
        let is_empty = message.blocks.iter().all(|block| matches!(block, Block::Reasoning(_)));
        if !is_empty {
            push(&mut out, message.role, message.blocks);
        }
    }
    if out.first().is_some_and(|first| first.role == Role::Assistant) {
        let blocks = vec![Block::text("(The conversation goes on.)")];
        out.insert(0, RequestMessage { role: Role::User, blocks });
    }
    if out.last().is_some_and(|last| last.role == Role::Assistant) {
        out.push(RequestMessage { role: Role::User, blocks: vec![Block::text(GO_ON)] });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::id::MessageId;
    use crate::base::time::Timestamp;
    use crate::conversation::message::Reasoning;
    use proptest::prelude::*;
    use serde_json::json;

    /// One block of a history: `u` user text, `a` assistant text, `c1` a call, `r1` its result.
    fn history(text: &str) -> ModelTranscript {
        let message = |(index, word): (usize, &str)| {
            let (kind, name) = word.split_at(1);
            let (role, block) = match kind {
                "u" => (Role::User, Block::text(word)),
                "a" => (Role::Assistant, Block::text(word)),
                "c" => (Role::Assistant, call(name)),
                "t" => (Role::Assistant, reasoning()),
                _ => (Role::User, result(name)),
            };
            let id = MessageId(index as u64 + 1);
            Message {
                id,
                parent_id: None,
                ts: Timestamp::default(),
                role,
                content: vec![block],
                interrupted: false,
            }
        };
        ModelTranscript::new(None, text.split_whitespace().enumerate().map(message).collect())
    }

    fn call(name: &str) -> Block {
        Block::ToolUse(ToolUse { id: CallId::new(name), name: "t".into(), input: json!({}) })
    }

    fn reasoning() -> Block {
        Block::Reasoning(Reasoning { text: "hm".into(), opaque: None })
    }

    fn result(name: &str) -> Block {
        let content = format!("r{name}");
        let result = interrupted_result(&CallId::new(name));
        Block::ToolResult(ToolResult { content, is_error: false, ..result })
    }

    fn written(messages: &[RequestMessage]) -> String {
        let block = |block: &Block| match block {
            Block::Text { text } if text == GO_ON => "go-on".to_owned(),
            Block::Text { text } => text.clone(),
            Block::ToolUse(call) => format!("c{}", call.id),
            Block::ToolResult(r) if r.content == INTERRUPTED_RESULT => {
                format!("x{}", r.tool_use_id)
            }
            Block::ToolResult(r) => r.content.clone(),
            Block::Reasoning(_) | Block::Image(_) => "?".to_owned(),
        };
        let message = |message: &RequestMessage| {
            let blocks: Vec<String> = message.blocks.iter().map(block).collect();
            blocks.join(" ")
        };
        messages.iter().map(message).collect::<Vec<_>>().join(" | ")
    }

    #[test]
    fn a_request_pairs_each_call_with_its_result_in_call_order() {
        for (said, sent) in [
            ("u1 a1", "u1 | a1 | go-on"),
            ("u1 a1 c1 c2 r2 r1", "u1 | a1 c1 c2 | r1 r2"),
            ("u1 c1 c2 r2", "u1 | c1 c2 | x1 r2"),
            ("u1 c1 u2", "u1 | c1 | x1 u2"),
            ("u1 c1 r1 a2 u2", "u1 | c1 | r1 | a2 | u2"),
            ("u1 c1 r1 c2 r2 u2", "u1 | c1 | r1 | c2 | r2 u2"),
            ("u1 c1 u2 r1 u3", "u1 | c1 | r1 u2 u3"),
            ("u1 r9 a1 u2", "u1 | a1 | u2"),
            ("u1 c1 c1 r1 r1 u2", "u1 | c1 | r1 u2"),
            ("u1 a1 a2 u2", "u1 | a1 a2 | u2"),
            ("r1 a1 u2", "(The conversation goes on.) | a1 | u2"),
            ("u1 t a1 u2", "u1 | ? a1 | u2"),
            // Cut in its reasoning: nothing of it can be sent, and the roles still alternate.
            ("u1 t u2", "u1 u2"),
            ("u1 c1 r1 t u2", "u1 | c1 | r1 u2"),
            ("u1 t", "u1"),
            ("", ""),
        ] {
            assert_eq!(written(&request_messages(&history(said))), sent, "{said}");
        }
    }

    proptest! {
        // C07, S14: whatever happened, no request holds an unpaired call or an orphan result.
        #[test]
        fn any_history_makes_a_valid_request(words in prop::collection::vec("[uat]|[cr][1-4]", 0..30)) {
            let sent = request_messages(&history(&words.join(" ")));
            prop_assert_eq!(check(&sent), Ok(()));
        }
    }

    /// What the strictest provider asks of a request.
    fn check(sent: &[RequestMessage]) -> Result<(), String> {
        let mut open: Vec<CallId> = Vec::new();
        for (index, message) in sent.iter().enumerate() {
            let wanted = if index % 2 == 0 { Role::User } else { Role::Assistant };
            let is_empty = message.blocks.iter().all(|block| matches!(block, Block::Reasoning(_)));
            if message.role != wanted || is_empty {
                return Err(format!("message {index} has the wrong role or is empty"));
            }
            let answers: Vec<CallId> = message
                .blocks
                .iter()
                .map_while(|block| match block {
                    Block::ToolResult(result) => Some(result.tool_use_id.clone()),
                    _ => None,
                })
                .collect();
            if message.role == Role::User && answers != open {
                return Err(format!("message {index} answers {answers:?}, not {open:?}"));
            }
            open = message.blocks.iter().filter_map(call_id).collect();
        }
        if open.is_empty() { Ok(()) } else { Err("calls without results at the end".into()) }
    }
}
