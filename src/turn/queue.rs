//! User messages that wait for a round boundary.
//!
//! Invariant: order is kept; what is taken is gone.

use std::collections::VecDeque;

use crate::base::limits::QUEUE_MESSAGES_MAX;
use crate::conversation::message::Block;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Queue {
    waiting: VecDeque<Vec<Block>>,
}

impl Queue {
    /// Adds a message; returns it if the queue is full.
    pub fn push(&mut self, message: Vec<Block>) -> Result<(), Vec<Block>> {
        if self.waiting.len() >= QUEUE_MESSAGES_MAX {
            return Err(message);
        }
        self.waiting.push_back(message);
        Ok(())
    }

    pub fn take_all(&mut self) -> Vec<Vec<Block>> {
        self.waiting.drain(..).collect()
    }

    /// Takes the newest back, to be edited.
    pub fn take_last(&mut self) -> Option<Vec<Block>> {
        self.waiting.pop_back()
    }

    pub fn iter(&self) -> impl Iterator<Item = &Vec<Block>> {
        self.waiting.iter()
    }
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
    pub fn len(&self) -> usize {
        self.waiting.len()
    }
    pub fn is_full(&self) -> bool {
        self.waiting.len() >= QUEUE_MESSAGES_MAX
    }
}
