//! What can be done to the text in the composer, by name.

/// One edit or move. The keys for them are in `app::keymap`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Edit {
    Submit,
    Newline,
    DeleteBack,
    DeleteForward,
    DeleteWordBack,
    DeleteWordForward,
    DeleteToLineStart,
    DeleteToLineEnd,
    /// Puts back what the last deletion by word or line took.
    Yank,
    Undo,
    Redo,
    Left,
    Right,
    Up,
    Down,
    WordLeft,
    WordRight,
    LineStart,
    LineEnd,
    ExpandPaste,
}
