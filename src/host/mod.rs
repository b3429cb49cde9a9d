//! Effects carried out: tasks, writers, timers, terminal; the event loop.
//!
//! Decides nothing: what an event means is `update`'s, what a screen shows is `ui`'s.

pub mod clock;
pub mod headless;
pub mod history_file;
pub mod launch;
pub mod perform;
pub mod tasks;
pub mod timers;
pub mod workspace;
pub mod workspace_facts;
pub mod writers;
