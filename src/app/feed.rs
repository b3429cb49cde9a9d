//! What happens in a session → its cells.
//!
//! Invariant: live and resumed conversations take the same way, so that a resumed session looks as it did.

use std::collections::HashMap;

use crate::base::id::CallId;
use crate::base::text::cut;
use crate::conversation::message::{Block, Message, Role, ToolResult, ToolUse};
use crate::conversation::todo::{Todo, TodoState};
use crate::conversation::tool_call::invalid_arguments;
use crate::turn::{CallSight, DECLINED, Sight};

use super::cells::cell::{CellContent, Fold, NoticeKind, TextState, ToolCell, ToolState};
use super::cells::{CellId, Cells};

/// Bytes of output that a tool cell keeps; the archive keeps all. A screen of 200×60 shows 12 KB.
const CELL_OUTPUT_BYTES_MAX: usize = 64 * 1024;

/// The cells of a session and what is still open among them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Feed {
    cells: Cells,
    open: Option<CellId>,
    /// The call that the model is writing.
    writing: Option<CellId>,
    calls: HashMap<CallId, CellId>,
}

impl Feed {
    pub fn cells(&self) -> &Cells {
        &self.cells
    }

    pub fn push(&mut self, content: CellContent) -> CellId {
        self.cells.push(content)
    }

    pub fn notice(&mut self, kind: NoticeKind, text: impl Into<String>) {
        self.cells.push(CellContent::Notice { kind, text: text.into() });
    }

    /// Shows the words of the person.
    pub fn user(&mut self, text: String) {
        self.cells.push(CellContent::User { text });
    }

    /// Shows what a turn does.
    pub fn see(&mut self, sight: Sight) {
        match sight {
            Sight::Text(delta) => self.append(&delta, |text| CellContent::Assistant {
                text,
                state: TextState::Streaming,
            }),
            Sight::Reasoning(delta) => self.append(&delta, |text| CellContent::Reasoning {
                text,
                state: TextState::Streaming,
            }),
            Sight::BlockEnd { interrupted } => self.end_block(interrupted),
            Sight::CallProgress { name, bytes } => self.call_progress(name, bytes),
            Sight::Call(call) => self.call(&call),
            Sight::CallState { call, state } => {
                self.edit_call(&call, |cell| {
                    cell.state = match state {
                        CallSight::Asking => ToolState::Asking,
                        CallSight::Running => ToolState::Running,
                        CallSight::Denied => ToolState::Denied,
                    };
                });
            }
            Sight::CallOutput { call, text } => {
                self.edit_call(&call, |cell| append_output(&mut cell.output, &text));
            }
            Sight::Retry { .. } => self.drop_writing(),
        }
    }

    /// A call has its result. `original` is the whole text where the model's view was cut.
    pub fn result(&mut self, result: &ToolResult, original: Option<&str>, was_interrupted: bool) {
        let text = original.unwrap_or(&result.content).to_owned();
        self.edit_call(&result.tool_use_id, |cell| {
            cell.state = match (was_interrupted, result.is_error, cell.state) {
                (true, _, _) => ToolState::Interrupted,
                (false, _, ToolState::Denied) => ToolState::Denied,
                (false, true, _) if result.content.starts_with(DECLINED) => ToolState::Denied,
                (false, true, _) => ToolState::Failed,
                (false, false, _) => ToolState::Done,
            };
            // Output that streamed keeps its colours; the result's text has none.
            let keeps_list = cell.is_list && !result.is_error;
            if !keeps_list && (cell.output.is_empty() || !was_interrupted) {
                cell.output = String::new();
                append_output(&mut cell.output, &text);
            }
            cell.diff.clone_from(&result.shown.diff);
            cell.summary.clone_from(&result.shown.summary);
        });
    }

    /// Shows a message of an earlier conversation.
    pub fn message(&mut self, message: &Message, originals: &HashMap<CallId, String>) {
        let state = if message.interrupted { TextState::Interrupted } else { TextState::Whole };
        for block in &message.content {
            match block {
                Block::Text { text } if message.role == Role::User => self.user(text.clone()),
                Block::Text { text } => {
                    self.cells.push(CellContent::Assistant { text: text.clone(), state });
                }
                Block::Reasoning(reasoning) if reasoning.text.trim().is_empty() => {}
                Block::Reasoning(reasoning) => {
                    let text = reasoning.text.clone();
                    self.cells.push(CellContent::Reasoning { text, state });
                }
                Block::ToolUse(call) => self.call(call),
                Block::ToolResult(result) => {
                    let original = originals.get(&result.tool_use_id).map(String::as_str);
                    self.result(result, original, message.interrupted);
                }
                Block::Image(_) => self.user("[image]".to_owned()),
            }
        }
    }

    /// Folds or unfolds the newest cell that can be folded; returns whether there was one.
    pub fn toggle_newest_fold(&mut self) -> bool {
        let newest = self.cells.as_slice().iter().rev().find(|cell| is_foldable(cell.content()));
        let Some((id, fold)) = newest.map(|cell| (cell.id(), cell.fold())) else { return false };
        let other = match fold {
            Fold::Folded => Fold::Open,
            Fold::Open => Fold::Folded,
        };
        self.cells.set_fold(id, other);
        true
    }

    /// The call that runs; the newest, where several do.
    pub fn running(&self) -> Option<&ToolCell> {
        let of_turn = self.cells.as_slice().iter().rev();
        of_turn.take_while(|cell| !matches!(cell.content(), CellContent::User { .. })).find_map(
            |cell| match cell.content() {
                CellContent::Tool(tool) if tool.state == ToolState::Running => Some(tool),
                _ => None,
            },
        )
    }

    /// The first words of the person, for the window's title.
    pub fn first_words(&self) -> Option<&str> {
        self.cells.as_slice().iter().find_map(|cell| match cell.content() {
            CellContent::User { text } => text.lines().map(str::trim).find(|line| !line.is_empty()),
            _ => None,
        })
    }

    /// The model's last words, for `/copy`.
    pub fn last_answer(&self) -> Option<&str> {
        self.cells.as_slice().iter().rev().find_map(|cell| match cell.content() {
            CellContent::Assistant { text, .. } => Some(text.as_str()),
            _ => None,
        })
    }

    fn append(&mut self, delta: &str, begin: impl FnOnce(String) -> CellContent) {
        self.drop_writing();
        let Some(id) = self.open else {
            self.open = Some(self.cells.push(begin(delta.to_owned())));
            return;
        };
        self.cells.edit(id, |content| match content {
            CellContent::Assistant { text, .. } | CellContent::Reasoning { text, .. } => {
                text.push_str(delta);
            }
            _ => {}
        });
    }

    fn end_block(&mut self, interrupted: bool) {
        let Some(id) = self.open.take() else { return };
        let now = if interrupted { TextState::Interrupted } else { TextState::Whole };
        self.cells.edit(id, |content| match content {
            CellContent::Assistant { state, .. } | CellContent::Reasoning { state, .. } => {
                *state = now;
            }
            _ => {}
        });
    }

    fn call_progress(&mut self, name: Option<String>, bytes: usize) {
        let written = format!("writing, {bytes} bytes so far");
        if let Some(id) = self.writing {
            self.cells.edit(id, |content| {
                if let CellContent::Tool(cell) = content {
                    cell.summary = Some(written);
                    if let Some(name) = name {
                        cell.tool = name;
                    }
                }
            });
        } else {
            let tool = name.unwrap_or_else(|| "call".to_owned());
            let mut cell = tool_cell(tool, String::new(), ToolState::Writing);
            cell.summary = Some(written);
            self.writing = Some(self.cells.push(CellContent::Tool(cell)));
        }
    }

    fn call(&mut self, call: &ToolUse) {
        let mut cell = tool_cell(call.name.clone(), subject(call), ToolState::Waiting);
        if let Some(list) = todo_list(call) {
            cell.subject = String::new();
            cell.output = list;
            cell.is_list = true;
        }
        let id = match self.writing.take() {
            Some(id) => {
                self.cells.edit(id, |content| *content = CellContent::Tool(cell));
                id
            }
            None => self.cells.push(CellContent::Tool(cell)),
        };
        self.calls.insert(call.id.clone(), id);
    }

    /// The reply broke while a call was being written.
    fn drop_writing(&mut self) {
        if let Some(id) = self.writing.take() {
            self.cells.edit(id, |content| {
                if let CellContent::Tool(cell) = content {
                    cell.state = ToolState::Interrupted;
                }
            });
        }
    }

    /// What a turn left open is closed when it ends.
    pub fn turn_ended(&mut self) {
        self.drop_writing();
        self.end_block(true);
    }

    fn edit_call(&mut self, call: &CallId, change: impl FnOnce(&mut ToolCell)) {
        let Some(id) = self.calls.get(call) else { return };
        self.cells.edit(*id, |content| {
            if let CellContent::Tool(cell) = content {
                change(cell);
            }
        });
    }
}

fn is_foldable(content: &CellContent) -> bool {
    matches!(
        content,
        CellContent::Tool(_) | CellContent::Reasoning { .. } | CellContent::Summary { .. }
    )
}

fn tool_cell(tool: String, subject: String, state: ToolState) -> ToolCell {
    ToolCell {
        tool,
        subject,
        state,
        output: String::new(),
        is_list: false,
        diff: None,
        summary: None,
    }
}

/// A call whose items are things to do is shown as that list.
fn todo_list(call: &ToolUse) -> Option<String> {
    let items = call.input.get("items")?.clone();
    let todos: Vec<Todo> = serde_json::from_value(items).ok()?;
    let row = |todo: &Todo| {
        let mark = match todo.state {
            TodoState::Pending => "☐",
            TodoState::InProgress => "▸",
            TodoState::Done => "☑",
        };
        let text = todo.text.split_whitespace().collect::<Vec<_>>().join(" ");
        format!("{mark} {text}\n")
    };
    Some(todos.iter().map(row).collect())
}

/// What a call works on, in a few words: its path, command or pattern.
fn subject(call: &ToolUse) -> String {
    if let Some(raw) = invalid_arguments(call) {
        return cut::chars(raw, 80).to_owned();
    }
    let keys = ["command", "path", "pattern", "url", "question", "prompt"];
    let named = keys.iter().find_map(|key| call.input.get(key)?.as_str());
    match (named, call.input.get("items").and_then(|items| items.as_array())) {
        (Some(text), _) => text.to_owned(),
        (None, Some(items)) if items.len() == 1 => "1 item".to_owned(),
        (None, Some(items)) => format!("{} items", items.len()),
        (None, None) if call.input.as_object().is_none_or(serde_json::Map::is_empty) => {
            String::new()
        }
        (None, None) => cut::chars(&call.input.to_string(), 80).to_owned(),
    }
}

/// Appends within the limit: the newest half stays whole, the oldest goes.
fn append_output(output: &mut String, text: &str) {
    output.push_str(text);
    if output.len() > CELL_OUTPUT_BYTES_MAX {
        let start = cut::ceil_boundary(output, output.len() - CELL_OUTPUT_BYTES_MAX / 2);
        output.replace_range(..start, "…\n");
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::base::id::MessageId;
    use crate::base::time::Timestamp;

    fn message(role: Role, block: Block) -> Message {
        Message {
            id: MessageId(1),
            parent_id: None,
            ts: Timestamp::from_millis(0),
            role,
            content: vec![block],
            interrupted: false,
        }
    }

    /// The cell that an opened session shows of a call and its result.
    fn opened(name: &str, input: serde_json::Value, content: &str, is_error: bool) -> ToolCell {
        let id = CallId::new("c1");
        let call = ToolUse { id: id.clone(), name: name.to_owned(), input };
        let result = ToolResult {
            tool_use_id: id,
            content: content.to_owned(),
            is_error,
            images: Vec::new(),
            shown: crate::conversation::message::Shown::default(),
        };
        let mut feed = Feed::default();
        feed.message(&message(Role::Assistant, Block::ToolUse(call)), &HashMap::new());
        feed.message(&message(Role::User, Block::ToolResult(result)), &HashMap::new());
        match feed.cells().as_slice() {
            [cell] => match cell.content() {
                CellContent::Tool(tool) => tool.clone(),
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_opened_session_shows_a_declined_call_as_declined() {
        let said = format!("{DECLINED} and said: not now");
        let input = json!({"command": "ls"});
        assert_eq!(opened("bash", input.clone(), &said, true).state, ToolState::Denied);
        assert_eq!(opened("bash", input.clone(), "exit 1", true).state, ToolState::Failed);
        // What a command prints is no answer of the person.
        assert_eq!(opened("bash", input, &said, false).state, ToolState::Done);
    }

    #[test]
    fn a_list_of_things_to_do_is_shown_as_one() {
        let items = json!({"items": [
            {"text": "read\nit", "state": "done"},
            {"text": "change it", "state": "in_progress"},
            {"text": "test it", "state": "pending"},
        ]});
        let cell = opened("todo", items, "The list is set", false);
        assert_eq!(cell.output, "☑ read it\n▸ change it\n☐ test it\n");
        // Another shape is a call like any other, and its failure is shown.
        let cell = opened("todo", json!({"items": [{"text": 1}]}), "wrong", true);
        assert_eq!((cell.subject.as_str(), cell.output.as_str()), ("1 item", "wrong"));
    }
}
