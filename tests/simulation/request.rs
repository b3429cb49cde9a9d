//! A request as the strictest provider reads it.

use std::collections::HashSet;

use crystal::base::id::CallId;
use crystal::conversation::message::{Block, Role};
use crystal::conversation::round::{RequestMessage, RoundRequest};

/// The text blocks of a message, joined.
pub fn texts(blocks: &[Block]) -> String {
    let text = |block: &Block| match block {
        Block::Text { text } => Some(text.clone()),
        _ => None,
    };
    blocks.iter().filter_map(text).collect::<Vec<_>>().join("\n")
}

/// Checks all that a provider could answer 400 to.
pub fn check(request: &RoundRequest) -> Result<(), String> {
    check_messages(&request.messages)
        .map_err(|why| format!("{why} in the request {:#?}", request.messages))?;
    if request.system.trim().is_empty() || request.tools.is_empty() {
        return Err("a request without system prompt or tools".to_owned());
    }
    Ok(())
}

pub fn check_messages(messages: &[RequestMessage]) -> Result<(), String> {
    let mut open: Vec<CallId> = Vec::new();
    let mut ids = HashSet::new();
    for (index, message) in messages.iter().enumerate() {
        let role = if index % 2 == 0 { Role::User } else { Role::Assistant };
        if message.role != role {
            return Err(format!("message {index} is not of the {role:?}"));
        }
        for block in &message.blocks {
            check_block(block, role, &mut ids).map_err(|why| format!("message {index}: {why}"))?;
        }
        // A client sends reasoning only beside what it led to.
        if message.blocks.iter().all(|block| matches!(block, Block::Reasoning(_))) {
            return Err(format!("message {index} is empty"));
        }
        let is_result = |block: &&Block| matches!(block, Block::ToolResult(_));
        let answers: Vec<CallId> = message
            .blocks
            .iter()
            .take_while(is_result)
            .filter_map(|block| match block {
                Block::ToolResult(result) => Some(result.tool_use_id.clone()),
                _ => None,
            })
            .collect();
        if message.blocks.iter().filter(is_result).count() != answers.len() {
            return Err(format!("message {index} has a result after its text"));
        }
        if role == Role::User && answers != open {
            return Err(format!("message {index} answers {answers:?}, not {open:?}"));
        }
        open = message
            .blocks
            .iter()
            .filter_map(|block| match block {
                Block::ToolUse(call) => Some(call.id.clone()),
                _ => None,
            })
            .collect();
    }
    match messages.last() {
        Some(last) if last.role == Role::User => Ok(()),
        _ => Err("the last message is not the user's".to_owned()),
    }
}

fn check_block(block: &Block, role: Role, ids: &mut HashSet<CallId>) -> Result<(), String> {
    match (block, role) {
        (Block::Text { text }, _) if text.trim().is_empty() => Err("empty text".to_owned()),
        (Block::ToolUse(call), Role::Assistant) => {
            if !call.input.is_object() {
                return Err(format!("the arguments of {} are no object", call.id));
            }
            if call.id.as_str().is_empty() || !ids.insert(call.id.clone()) {
                return Err(format!("the call id {:?} is empty or stands twice", call.id));
            }
            Ok(())
        }
        (Block::Text { .. }, _)
        | (Block::ToolResult(_) | Block::Image(_), Role::User)
        | (Block::Reasoning(_), Role::Assistant) => Ok(()),
        (block, role) => Err(format!("{block:?} in a message of the {role:?}")),
    }
}
