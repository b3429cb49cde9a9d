//! placeholder until merge
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Allow,
    Ask { why: String, always: Option<String>, warning: Option<String> },
    Deny { why: String },
}
