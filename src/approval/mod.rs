//! May this call run?
//!
//! Pure: paths come resolved, commands as text. The order of judgement: mode, then deny, ask and allow
//! rules, then what the action is, then the policy.

pub mod action;
pub mod decision;
pub mod harmless;
pub mod policy;
pub mod rule;
pub mod shell;
