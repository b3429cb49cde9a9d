//! `todo`: the list in the side panel.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use super::args::Arguments;
use super::{Access, Bench, Draft, Line, Refusal, Tool};
use crate::approval::action::{Action, Prepared, Preview};
use crate::conversation::message::ToolUse;
use crate::conversation::todo::{Todo, TodoState};
use crate::conversation::tool_call::ToolOutcome;

/// Items of one list: more is no plan that a person can follow.
const ITEMS_MAX: usize = 100;

/// Characters of one item.
const ITEM_CHARS_MAX: usize = 500;

pub(super) struct TodoList;

impl Tool for TodoList {
    fn name(&self) -> &'static str {
        "todo"
    }

    fn description(&self) -> &'static str {
        "Sets the list of things to do that the person sees. Send the whole list each time: it replaces the one \
         before. Use it for work of several steps; keep one item in progress, and mark it done as soon as it is."
    }

    fn parameters(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "items": {"type": "array", "items": {
                    "type": "object",
                    "properties": {
                        "text": {"type": "string"},
                        "state": {"type": "string", "enum": ["pending", "in_progress", "done"]}
                    },
                    "required": ["text", "state"]
                }}
            },
            "required": ["items"]
        })
    }

    fn access(&self) -> Access {
        Access::Session
    }

    fn prepare(&self, _: &Bench, call: &ToolUse) -> Result<Draft, Refusal> {
        let count = items(call)?.len();
        let preview = Preview::Path(format!("{count} items"));
        Ok(Draft { action: Action::Session, preview, guard: None })
    }

    fn run(&self, _: Arc<Bench>, prepared: Prepared, _: Line) -> BoxFuture<'static, ToolOutcome> {
        Box::pin(std::future::ready(match items(&prepared.call) {
            Err(refusal) => refusal.into(),
            Ok(todos) => {
                let done = todos.iter().filter(|todo| todo.state == TodoState::Done).count();
                let summary = format!("{done} of {} done", todos.len());
                let mut outcome = ToolOutcome::ok(format!("The list is set: {summary}."));
                outcome.todos = Some(todos);
                outcome.with_summary(summary)
            }
        }))
    }
}

fn items(call: &ToolUse) -> Result<Vec<Todo>, Refusal> {
    let arguments = Arguments::of(&TodoList, call)?;
    let items = arguments.list("items", "{text, state} objects")?;
    if items.len() > ITEMS_MAX {
        return Err(Refusal::new(format!(
            "todo: {} items are too many; keep the list to {ITEMS_MAX}.",
            items.len()
        )));
    }
    let item = |(index, value)| {
        let shown = format!("items[{index}]");
        let item = arguments.inner(value, &shown)?;
        let text = item.text("text")?.trim();
        if text.is_empty() || text.chars().count() > ITEM_CHARS_MAX {
            return Err(Refusal::new(format!(
                "todo: `{shown}.text` must have 1 to {ITEM_CHARS_MAX} characters; the list is unchanged."
            )));
        }
        let state = match item.text("state")? {
            "pending" => TodoState::Pending,
            "in_progress" => TodoState::InProgress,
            "done" => TodoState::Done,
            other => {
                let wanted = "one of pending, in_progress, done";
                return Err(item.wrong(&format!("{shown}.state"), wanted, &json!(other)));
            }
        };
        Ok(Todo { text: text.to_owned(), state })
    };
    items.iter().enumerate().map(item).collect()
}
