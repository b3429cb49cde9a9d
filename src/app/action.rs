//! What a key can ask for, by name.
//!
//! The names are the words of `keys` in the config and of the help panel. Not here: which key asks for
//! what (`app::keymap`), and what an action does (`update`).

use super::composer::Edit;

/// A named request of the person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// Interrupts the turn, else clears the composer, else quits at the second time.
    Interrupt,
    /// Leaves the top layer, or interrupts the turn.
    Cancel,
    Quit,
    Suspend,
    Redraw,
    Help,
    Complete,
    SearchHistory,
    ToggleFold,
    ToggleMode,
    ToggleMouse,
    Edit(Edit),
    Scroll(Scroll),
    List(ListMove),
    Answer(Answer),
    ClosePanel,
}

/// Moves of the transcript, or of a panel with text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scroll {
    Up,
    Down,
    PageUp,
    PageDown,
    Start,
    End,
}

/// Moves in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ListMove {
    Up,
    Down,
    PageUp,
    PageDown,
    First,
    Last,
    Choose,
    Close,
    /// Removes the last cluster of the filter.
    Erase,
    /// Empties the filter.
    ClearFilter,
}

/// Answers to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Answer {
    Once,
    Always,
    No,
}

impl Action {
    /// The name in the config's `keys`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Interrupt => "interrupt",
            Self::Cancel => "cancel",
            Self::Quit => "quit",
            Self::Suspend => "suspend",
            Self::Redraw => "redraw",
            Self::Help => "help",
            Self::Complete => "complete",
            Self::SearchHistory => "search-history",
            Self::ToggleFold => "toggle-fold",
            Self::ToggleMode => "toggle-mode",
            Self::ToggleMouse => "toggle-mouse",
            Self::Edit(edit) => edit_name(edit),
            Self::Scroll(scroll) => scroll_name(scroll),
            Self::List(list) => list_name(list),
            Self::Answer(Answer::Once) => "answer-once",
            Self::Answer(Answer::Always) => "answer-always",
            Self::Answer(Answer::No) => "answer-no",
            Self::ClosePanel => "close-panel",
        }
    }
}

fn edit_name(edit: Edit) -> &'static str {
    match edit {
        Edit::Submit => "submit",
        Edit::Newline => "newline",
        Edit::DeleteBack => "delete-back",
        Edit::DeleteForward => "delete-forward",
        Edit::DeleteWordBack => "delete-word-back",
        Edit::DeleteWordForward => "delete-word-forward",
        Edit::DeleteToLineStart => "delete-to-line-start",
        Edit::DeleteToLineEnd => "delete-to-line-end",
        Edit::Yank => "yank",
        Edit::Undo => "undo",
        Edit::Redo => "redo",
        Edit::Left => "left",
        Edit::Right => "right",
        Edit::Up => "up",
        Edit::Down => "down",
        Edit::WordLeft => "word-left",
        Edit::WordRight => "word-right",
        Edit::LineStart => "line-start",
        Edit::LineEnd => "line-end",
        Edit::ExpandPaste => "expand-paste",
    }
}

fn scroll_name(scroll: Scroll) -> &'static str {
    match scroll {
        Scroll::Up => "scroll-up",
        Scroll::Down => "scroll-down",
        Scroll::PageUp => "scroll-page-up",
        Scroll::PageDown => "scroll-page-down",
        Scroll::Start => "scroll-start",
        Scroll::End => "scroll-end",
    }
}

fn list_name(list: ListMove) -> &'static str {
    match list {
        ListMove::Up => "list-up",
        ListMove::Down => "list-down",
        ListMove::PageUp => "list-page-up",
        ListMove::PageDown => "list-page-down",
        ListMove::First => "list-first",
        ListMove::Last => "list-last",
        ListMove::Choose => "list-choose",
        ListMove::Close => "list-close",
        ListMove::Erase => "list-erase",
        ListMove::ClearFilter => "list-clear-filter",
    }
}
