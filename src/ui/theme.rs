//! Roles to styles.

use ratatui::style::Style;

/// What a piece of the screen means; a theme says how it looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    Text,
    /// Less important: hints, reasoning, line numbers.
    Dim,
    Accent,
    /// The person's own words.
    User,
    Heading,
    /// Inline code and code blocks without a language.
    Code,
    Link,
    Quote,
    Added,
    Removed,
    AddedWord,
    RemovedWord,
    Success,
    Warning,
    Error,
    Border,
    BorderActive,
    /// The highlighted row of a list.
    Selection,
    /// Characters that a filter matched.
    Match,
    Status,
    ModeWork,
    ModePlan,
    SyntaxKeyword,
    SyntaxString,
    SyntaxComment,
    SyntaxFunction,
    SyntaxType,
    SyntaxNumber,
    SyntaxConstant,
    SyntaxPunctuation,
}

impl Role {
    pub const COUNT: usize = Self::SyntaxPunctuation as usize + 1;
}

/// One style a role. Cheap to compare by `id`: two themes with one id draw the same.
#[derive(Debug, Clone, PartialEq)]
pub struct Theme {
    pub id: u64,
    styles: [Style; Role::COUNT],
}

impl Theme {
    pub fn new(id: u64, styles: [Style; Role::COUNT]) -> Self {
        Self { id, styles }
    }
    /// No colours at all, for tests and `NO_COLOR`.
    pub fn plain() -> Self {
        Self::new(0, [Style::new(); Role::COUNT])
    }
    pub fn style(&self, role: Role) -> Style {
        self.styles[role as usize]
    }
}
