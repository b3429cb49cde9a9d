//! Open panels, as a stack of values: the last one has the keys; closed panels do not exist.

pub mod info;
pub mod line_edit;
pub mod picker;
pub mod question;
pub mod rank;
pub mod trust;

use crate::base::id::{CallId, SessionId};

use info::Info;
use picker::Picker;
use question::QuestionPanel;
use trust::TrustQuestion;

#[derive(Debug, Clone)]
pub enum Panel {
    Info(Info),
    Picker(Choosing, Box<Picker>),
    Question(Box<QuestionPanel>),
    Trust(TrustQuestion),
}

/// What a picker is open for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choosing {
    Model,
    Gear,
    /// What was sent before.
    History,
}

/// The stack.
#[derive(Debug, Clone, Default)]
pub struct Panels {
    stack: Vec<Panel>,
}

impl Panels {
    pub fn open(&mut self, panel: Panel) {
        self.stack.push(panel);
    }
    pub fn close_top(&mut self) -> Option<Panel> {
        self.stack.pop()
    }
    pub fn top(&self) -> Option<&Panel> {
        self.stack.last()
    }
    pub fn top_mut(&mut self) -> Option<&mut Panel> {
        self.stack.last_mut()
    }
    pub fn iter(&self) -> impl Iterator<Item = &Panel> {
        self.stack.iter()
    }

    /// Closes the question about a call, wherever it stands.
    pub fn close_question(&mut self, session: SessionId, call: &CallId) {
        self.stack.retain(|panel| match panel {
            Panel::Question(question) => !question.is_about(session, call),
            Panel::Info(_) | Panel::Picker(..) | Panel::Trust(_) => true,
        });
    }
}
