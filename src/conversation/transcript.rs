//! The model transcript: what the next request will send.
//!
//! Invariants: ids grow; `tokens` is the sum of the messages' estimates, each computed once. Pairing of
//! calls and results is restored where the transcript leaves for a request ([`super::pairing`]) and where
//! it enters from disk ([`ModelTranscript::missing_results`]).

use std::collections::HashSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::estimate;
use super::message::{Message, ToolUse};
use crate::base::id::{CallId, MessageId};
use crate::base::time::Timestamp;

/// The text that stands for the folded head.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    pub text: String,
    pub created_at: Timestamp,
    /// The last message that it covers.
    pub through_message_id: MessageId,
}

/// Summary and tail. The system prompt is beside it: it is made anew, not remembered.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModelTranscript {
    summary: Option<Summary>,
    messages: Vec<Arc<Message>>,
    tokens: u64,
}

impl ModelTranscript {
    pub fn new(summary: Option<Summary>, messages: Vec<Message>) -> Self {
        let mut transcript = Self { summary: None, messages: Vec::new(), tokens: 0 };
        transcript.set_summary(summary);
        for message in messages {
            transcript.push(message);
        }
        transcript
    }

    pub fn push(&mut self, message: Message) {
        debug_assert!(self.messages.last().is_none_or(|last| last.id < message.id));
        self.tokens += estimate::message_tokens(&message);
        self.messages.push(Arc::new(message));
    }

    pub fn summary(&self) -> Option<&Summary> {
        self.summary.as_ref()
    }
    pub fn messages(&self) -> &[Arc<Message>] {
        &self.messages
    }
    /// Estimated tokens of summary and messages.
    pub fn tokens(&self) -> u64 {
        self.tokens
    }
    pub fn last_id(&self) -> Option<MessageId> {
        self.messages.last().map(|message| message.id)
    }

    /// Whether there is something worth saving: a user message or a summary.
    pub fn is_worth_saving(&self) -> bool {
        self.summary.is_some() || self.messages.iter().any(|message| message.begins_turn())
    }

    /// The calls that have no result, in call order.
    pub fn missing_results(&self) -> Vec<ToolUse> {
        let answered: HashSet<&CallId> = self
            .messages
            .iter()
            .flat_map(|message| message.tool_results())
            .map(|result| &result.tool_use_id)
            .collect();
        self.messages
            .iter()
            .flat_map(|message| message.tool_uses())
            .filter(|call| !answered.contains(&call.id))
            .cloned()
            .collect()
    }

    fn set_summary(&mut self, summary: Option<Summary>) {
        let cost = |summary: &Option<Summary>| {
            summary.as_ref().map_or(0, |summary| estimate::text_tokens(&summary.text))
        };
        self.tokens = self.tokens - cost(&self.summary) + cost(&summary);
        self.summary = summary;
    }
}
