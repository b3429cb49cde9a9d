//! What goes without a question: policy, the configured rules, and what was allowed for this session.

use crate::approval::action::Prepared;
use crate::approval::decision::{self, Verdict};
use crate::approval::policy::Policy;
use crate::approval::rule::{Rule, Rules};
use crate::conversation::mode::Mode;

#[derive(Debug, Clone, Default)]
pub struct Approvals {
    pub policy: Policy,
    rules: Rules,
    /// The rules that the person added by "always", as typed; gone when the process ends.
    pub for_session: Vec<String>,
}

impl Approvals {
    pub fn new(policy: Policy, rules: Rules) -> Self {
        Self { policy, rules, for_session: Vec::new() }
    }

    /// Adds a rule that the person typed.
    pub fn allow(&mut self, typed: &str) -> Result<(), String> {
        let rule: Rule = typed.parse()?;
        self.rules.allow.push(rule);
        self.for_session.push(typed.to_owned());
        Ok(())
    }

    pub fn judge(&self, prepared: &Prepared, mode: Mode) -> Verdict {
        let settings =
            decision::Settings { policy: self.policy, rules: &self.rules, mode, sandboxed: false };
        decision::decide(&prepared.action, &prepared.call.name, &settings)
    }
}
