//! The state of the workspace.
pub mod cells;
pub mod key;
