//! What was said: messages, the model transcript, usage, and the vocabulary that every provider and
//! every tool speaks.
//!
//! Knows no provider's name, no tool's name, no rendering and no file.

pub mod estimate;
pub mod gear;
pub mod message;
pub mod mode;
pub mod model;
pub mod pairing;
pub mod round;
pub mod todo;
pub mod tool_call;
pub mod transcript;
pub mod usage;
