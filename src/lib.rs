//! crystal: a full-screen terminal workspace for working on code with a language model.
//!
//! The map of the code, its layers and invariants are in `ARCHITECTURE.md`.

pub mod app;
pub mod approval;
pub mod base;
pub mod cli;
pub mod command;
pub mod config;
pub mod conversation;
pub mod host;
pub mod provider;
pub mod session;
pub mod store;
pub mod terminal;
pub mod tool;
pub mod turn;
pub mod ui;
pub mod update;
