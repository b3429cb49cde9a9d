//! What every part may use: ids, time, limits, secrets, text.
//!
//! Knows nothing of conversations, files, terminals or networks.

pub mod id;
pub mod limits;
pub mod secret;
pub mod text;
pub mod time;
