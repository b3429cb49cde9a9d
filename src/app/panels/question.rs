//! May this call run? The question to the person.
//!
//! Invariants: keys typed before the person can have seen the question go to the composer, not here; one
//! press answers one question; a paste and a held key answer nothing.

use crate::app::action::{Action, Answer as Choice};
use crate::app::key::{Key, KeyCode};
use crate::base::id::{CallId, SessionId};
use crate::base::limits::QUESTION_GRACE_MS;
use crate::base::time::Moment;
use crate::turn::{Answer, effect::Question};

use super::line_edit::LineEdit;

/// A question that keeps being typed into waits at most this long for a pause, in milliseconds.
const GRACE_MS_MAX: u64 = 1_500;

#[derive(Debug, Clone, PartialEq)]
pub struct QuestionPanel {
    pub session: SessionId,
    pub question: Question,
    pub entry: Entry,
    /// Rows that the preview is scrolled by.
    pub scroll: usize,
    shown_at: Moment,
    armed_at: Moment,
}

/// Which line of the question is being typed into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// `y`, `a`, `n` or Esc.
    Choice,
    /// The rule that "always" adds.
    Rule(LineEdit),
    /// Why not.
    Reason(LineEdit),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QuestionOutcome {
    /// Typed before the question could be seen: belongs to the composer.
    NotMine,
    Stays,
    Answered {
        call: CallId,
        answer: Answer,
        rule: Option<String>,
    },
}

impl QuestionPanel {
    pub fn new(session: SessionId, question: Question, now: Moment) -> Self {
        let armed_at = now.plus_ms(QUESTION_GRACE_MS);
        Self { session, question, entry: Entry::Choice, scroll: 0, shown_at: now, armed_at }
    }

    pub fn is_about(&self, session: SessionId, call: &CallId) -> bool {
        self.session == session && self.question.prepared.call.id == *call
    }

    pub fn is_armed(&self, now: Moment) -> bool {
        now >= self.armed_at
    }

    /// `action` is what the key map says of the key in a question.
    pub fn on_key(&mut self, key: Key, action: Option<Action>, now: Moment) -> QuestionOutcome {
        if !self.is_armed(now) {
            let latest = self.shown_at.plus_ms(GRACE_MS_MAX);
            self.armed_at = now.plus_ms(QUESTION_GRACE_MS).min(latest);
            return QuestionOutcome::NotMine;
        }
        match &mut self.entry {
            Entry::Choice => self.on_choice(key, action),
            Entry::Rule(line) => match key.code {
                KeyCode::Enter if !line.text().trim().is_empty() => {
                    let rule = line.text().trim().to_owned();
                    self.answer(Answer::Yes, Some(rule))
                }
                KeyCode::Esc => self.back(),
                _ => {
                    line.on_key(key);
                    QuestionOutcome::Stays
                }
            },
            Entry::Reason(line) => match key.code {
                KeyCode::Enter => {
                    let reason =
                        Some(line.text().trim().to_owned()).filter(|text| !text.is_empty());
                    self.answer(Answer::No { reason }, None)
                }
                KeyCode::Esc => self.answer(Answer::No { reason: None }, None),
                _ => {
                    line.on_key(key);
                    QuestionOutcome::Stays
                }
            },
        }
    }

    fn on_choice(&mut self, key: Key, action: Option<Action>) -> QuestionOutcome {
        // T13: a key that is held down answers at most what was asked when it was pressed.
        if key.is_repeat && !matches!(key.code, KeyCode::Up | KeyCode::Down) {
            return QuestionOutcome::Stays;
        }
        match action {
            Some(Action::Answer(Choice::Once)) => return self.answer(Answer::Yes, None),
            Some(Action::Answer(Choice::Always)) => {
                if let Some(rule) = &self.question.always {
                    self.entry = Entry::Rule(LineEdit::new(rule));
                }
                return QuestionOutcome::Stays;
            }
            Some(Action::Answer(Choice::No)) if key.code != KeyCode::Esc => {
                self.entry = Entry::Reason(LineEdit::default());
                return QuestionOutcome::Stays;
            }
            _ => {}
        }
        match key.code {
            KeyCode::Esc => self.answer(Answer::No { reason: None }, None),
            KeyCode::Down | KeyCode::PageDown => {
                self.scroll =
                    self.scroll.saturating_add(if key.code == KeyCode::Down { 1 } else { 10 });
                QuestionOutcome::Stays
            }
            KeyCode::Up | KeyCode::PageUp => {
                self.scroll =
                    self.scroll.saturating_sub(if key.code == KeyCode::Up { 1 } else { 10 });
                QuestionOutcome::Stays
            }
            _ => QuestionOutcome::Stays,
        }
    }

    /// Text pasted while the question is open: into the line that is being typed, else nowhere.
    pub fn on_paste(&mut self, text: &str) {
        match &mut self.entry {
            Entry::Choice => {}
            Entry::Rule(line) | Entry::Reason(line) => line.insert(text),
        }
    }

    fn back(&mut self) -> QuestionOutcome {
        self.entry = Entry::Choice;
        QuestionOutcome::Stays
    }

    fn answer(&self, answer: Answer, rule: Option<String>) -> QuestionOutcome {
        QuestionOutcome::Answered { call: self.question.prepared.call.id.clone(), answer, rule }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::keymap::{Keymap, Layer};
    use crate::approval::action::{Action as Deed, Prepared, Preview};
    use crate::base::id::Ids;
    use crate::base::time::Timestamp;
    use crate::conversation::message::ToolUse;

    fn panel() -> QuestionPanel {
        let call =
            ToolUse { id: CallId::new("c"), name: "bash".into(), input: serde_json::json!({}) };
        let prepared = Box::new(Prepared {
            call,
            action: Deed::Run { command: "make".into() },
            preview: Preview::Command("make".into()),
            guard: None,
            is_independent: false,
        });
        let always = Some("bash(make:*)".to_owned());
        let question = Question { prepared, why: "a command".into(), always, warning: None };
        QuestionPanel::new(Ids::seeded(1).session(Timestamp::default()), question, Moment(1_000))
    }

    fn press(panel: &mut QuestionPanel, code: KeyCode, at: u64) -> QuestionOutcome {
        let key = Key::plain(code);
        panel.on_key(key, Keymap::default().lookup(Layer::Question, key), Moment(at))
    }

    fn answered(answer: Answer, rule: Option<&str>) -> QuestionOutcome {
        let rule = rule.map(str::to_owned);
        QuestionOutcome::Answered { call: CallId::new("c"), answer, rule }
    }

    #[test]
    fn keys_typed_into_its_appearance_belong_to_the_composer() {
        let mut panel = panel();
        assert_eq!(press(&mut panel, KeyCode::Char('y'), 1_100), QuestionOutcome::NotMine);
        // Typing goes on: the question waits for a pause.
        assert_eq!(press(&mut panel, KeyCode::Char('y'), 1_350), QuestionOutcome::NotMine);
        assert_eq!(press(&mut panel, KeyCode::Char('y'), 1_700), answered(Answer::Yes, None));
    }

    #[test]
    fn it_waits_for_a_pause_only_so_long() {
        let mut panel = panel();
        for at in (1_000..2_500).step_by(100) {
            assert_eq!(press(&mut panel, KeyCode::Char('x'), at), QuestionOutcome::NotMine, "{at}");
        }
        assert_eq!(press(&mut panel, KeyCode::Char('x'), 2_500), QuestionOutcome::Stays);
    }

    #[test]
    fn always_shows_the_rule_and_lets_it_be_edited() {
        let mut panel = panel();
        assert_eq!(press(&mut panel, KeyCode::Char('a'), 2_000), QuestionOutcome::Stays);
        press(&mut panel, KeyCode::Backspace, 2_001);
        assert_eq!(
            press(&mut panel, KeyCode::Enter, 2_002),
            answered(Answer::Yes, Some("bash(make:*"))
        );
    }

    #[test]
    fn no_takes_a_reason_and_esc_is_no() {
        let mut panel = panel();
        press(&mut panel, KeyCode::Char('n'), 2_000);
        panel.on_paste("use\ncargo");
        let reason = Some("use cargo".to_owned());
        assert_eq!(press(&mut panel, KeyCode::Enter, 2_001), answered(Answer::No { reason }, None));
        let mut panel = self::panel();
        assert_eq!(
            press(&mut panel, KeyCode::Esc, 2_000),
            answered(Answer::No { reason: None }, None)
        );
    }

    // T07, T13: neither a paste nor a held key approves.
    #[test]
    fn a_paste_and_a_held_key_answer_nothing() {
        let mut panel = panel();
        panel.on_paste("y");
        let held = Key { is_repeat: true, ..Key::plain(KeyCode::Char('y')) };
        let action = Some(Action::Answer(Choice::Once));
        assert_eq!(panel.on_key(held, action, Moment(5_000)), QuestionOutcome::Stays);
    }
}
