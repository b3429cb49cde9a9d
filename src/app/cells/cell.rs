//! What the transcript pane shows, one cell a thing said or done.
//!
//! A cell's text is untrusted as it comes; it passes [`crate::base::text::sanitize`] when it is laid out.

use crate::conversation::mode::Mode;

/// One unit of the transcript pane.
#[derive(Debug, Clone, PartialEq)]
pub enum CellContent {
    /// What the person wrote.
    User {
        text: String,
    },
    /// What the model wrote, as markdown.
    Assistant {
        text: String,
        state: TextState,
    },
    /// What the model thought; shown dimmed, folded unless opened.
    Reasoning {
        text: String,
        state: TextState,
    },
    Tool(ToolCell),
    /// A line of the program's own.
    Notice {
        kind: NoticeKind,
        text: String,
    },
    /// The mode changed.
    ModeChange(Mode),
    /// A compaction happened; tokens before and after.
    Compacted {
        before_tokens: u64,
        after_tokens: u64,
    },
    /// The stored summary, in a rounded panel titled `Earlier context`.
    Summary {
        text: String,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextState {
    Streaming,
    Whole,
    /// Cut by Esc, a crash, or a broken connection.
    Interrupted,
}

/// A tool call: its headline, its state, its output.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCell {
    pub tool: String,
    /// What it works on, such as a path or a command; one line when shown.
    pub subject: String,
    pub state: ToolState,
    /// Output so far or the whole result; head and tail within a limit, colours (SGR) still in it.
    pub output: String,
    /// The output is a list for the person: shown whole, however the cell is folded.
    pub is_list: bool,
    /// The change to a file as a unified diff.
    pub diff: Option<String>,
    /// A few words such as `214 lines`.
    pub summary: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolState {
    /// The model is still writing the arguments.
    Writing,
    Waiting,
    /// A question about it is open.
    Asking,
    Running,
    Done,
    Failed,
    Denied,
    Interrupted,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoticeKind {
    Info,
    Warning,
    Error,
}

/// Whether a cell shows all of itself. Each kind decides what its folded form is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fold {
    Folded,
    Open,
}
