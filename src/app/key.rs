//! What a person does at the terminal, without the terminal library's types.

/// One thing that reached the program from the terminal.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    Key(Key),
    /// Bracketed paste, whole; never acts as keys.
    Paste(String),
    Resize(Size),
    Focus(Focused),
    Mouse(Mouse),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Size {
    pub columns: u16,
    pub rows: u16,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Focused {
    Gained,
    Lost,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mouse {
    pub column: u16,
    pub row: u16,
    pub act: MouseAct,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MouseAct {
    WheelUp,
    WheelDown,
    Press,
    Release,
}

/// A key press. Releases never get here; a held key is marked, so that a question can ignore it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key {
    pub code: KeyCode,
    pub ctrl: bool,
    pub alt: bool,
    pub shift: bool,
    pub is_repeat: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeyCode {
    /// The character as typed: upper case where Shift made it so.
    Char(char),
    Enter,
    Esc,
    Tab,
    BackTab,
    Backspace,
    Delete,
    Insert,
    Left,
    Right,
    Up,
    Down,
    Home,
    End,
    PageUp,
    PageDown,
    Function(u8),
}

impl Key {
    /// A key without modifiers.
    pub const fn plain(code: KeyCode) -> Self {
        Self { code, ctrl: false, alt: false, shift: false, is_repeat: false }
    }
    pub const fn ctrl(letter: char) -> Self {
        Self { ctrl: true, ..Self::plain(KeyCode::Char(letter)) }
    }
    pub const fn alt(code: KeyCode) -> Self {
        Self { alt: true, ..Self::plain(code) }
    }
    pub const fn shift(code: KeyCode) -> Self {
        Self { shift: true, ..Self::plain(code) }
    }
}
