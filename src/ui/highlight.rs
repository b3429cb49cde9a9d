//! Syntax colours of code, as the theme's roles.
//!
//! Invariants: nothing here loads the syntaxes but `Highlighter::warm`, which a thread beside the frame calls;
//! until then code is plain. Colours of a line depend only on it and the lines before it, so a streamed block
//! looks the same as a finished one. `Highlighter::generation` is part of the key of whatever caches the result.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxSet};

use crate::ui::theme::{Role, Theme};

/// Code that is coloured, in bytes; parsing runs at 1 to 2 MB/s, so this is a fifth of a second at worst.
const CODE_BYTES_MAX: usize = 200_000;
/// A line that is coloured, in bytes: minified code has lines that cost seconds.
const LINE_BYTES_MAX: usize = 2_000;

static SYNTAXES: OnceLock<SyntaxSet> = OnceLock::new();
/// Code was laid out without its colours.
static IS_WANTED: AtomicBool = AtomicBool::new(false);

/// The process-wide set of syntaxes.
#[derive(Debug, Clone, Copy)]
pub struct Highlighter;

impl Highlighter {
    /// Loads the syntaxes: tens of milliseconds, so never within a frame.
    pub fn warm() {
        SYNTAXES.get_or_init(two_face::syntax::extra_newlines);
    }
    pub fn ready() -> bool {
        SYNTAXES.get().is_some()
    }
    /// Whether code was laid out that would look different with the syntaxes.
    pub fn is_wanted() -> bool {
        !Self::ready() && IS_WANTED.load(Ordering::Relaxed)
    }
    /// Changes when code laid out before would now look different.
    pub fn generation() -> u64 {
        u64::from(Self::ready())
    }
}

/// Loads the syntaxes on this thread, for tests and benches.
pub fn load_now() {
    Highlighter::warm();
}

/// Colours a whole text, a line each; `None` if the language is unknown, the syntaxes are not loaded or the
/// text is too long.
pub fn highlight(code: &str, language: &str, theme: &Theme) -> Option<Vec<Line<'static>>> {
    if code.len() > CODE_BYTES_MAX || code.lines().any(|line| line.len() > LINE_BYTES_MAX) {
        return None;
    }
    let mut state = LineHighlighter::new(language)?;
    Some(code.lines().map(|line| state.line(line, theme)).collect())
}

/// The parse state between two lines; a clone of it tries a line that is not complete.
#[derive(Debug, Clone)]
pub struct LineHighlighter {
    parse: ParseState,
    stack: ScopeStack,
    bytes: usize,
}

impl LineHighlighter {
    /// Returns `None` if the language is unknown or the syntaxes are not loaded.
    pub fn new(language: &str) -> Option<Self> {
        let token = token(language)?;
        let Some(set) = SYNTAXES.get() else {
            IS_WANTED.store(true, Ordering::Relaxed);
            return None;
        };
        let syntax = set.find_syntax_by_token(&token)?;
        Some(Self { parse: ParseState::new(syntax), stack: ScopeStack::new(), bytes: 0 })
    }

    /// Colours the next line, given without its newline. Beyond the limits it is plain.
    pub fn line(&mut self, text: &str, theme: &Theme) -> Line<'static> {
        self.bytes = self.bytes.saturating_add(text.len() + 1);
        let plain = || Line::from(Span::styled(text.to_owned(), theme.style(Role::Code)));
        let Some(set) = SYNTAXES.get() else { return plain() };
        if self.bytes > CODE_BYTES_MAX || text.len() > LINE_BYTES_MAX {
            return plain();
        }
        let Ok(operations) = self.parse.parse_line(&format!("{text}\n"), set) else {
            return plain();
        };
        let mut spans = Vec::new();
        let mut start = 0;
        for (offset, operation) in operations {
            let end = offset.min(text.len());
            self.push(&mut spans, text.get(start..end), theme);
            start = end.max(start);
            if self.stack.apply(&operation).is_err() {
                self.stack = ScopeStack::new();
            }
        }
        self.push(&mut spans, text.get(start..), theme);
        Line::from(spans)
    }

    fn push(&self, spans: &mut Vec<Span<'static>>, text: Option<&str>, theme: &Theme) {
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            push_merged(spans, text, theme.style(role(&self.stack)));
        }
    }
}

/// Adds text to a line, joined to the span before it where the styles agree.
pub fn push_merged(spans: &mut Vec<Span<'static>>, text: &str, style: Style) {
    match spans.last_mut() {
        Some(last) if last.style == style => last.content.to_mut().push_str(text),
        Some(_) | None => spans.push(Span::styled(text.to_owned(), style)),
    }
}

/// The name by which the syntaxes know a language; `None` for text that has no colours.
fn token(language: &str) -> Option<String> {
    let lower = language.trim().to_lowercase();
    let token = match lower.as_str() {
        "" | "text" | "txt" | "plain" | "plaintext" => return None,
        "shell" | "console" | "shell-session" | "zsh" => "sh",
        "jsonc" | "json5" | "jsonl" => "json",
        "golang" => "go",
        "c++" => "cpp",
        other => other,
    };
    Some(token.to_owned())
}

fn role(stack: &ScopeStack) -> Role {
    let table = scope_roles();
    stack
        .as_slice()
        .iter()
        .rev()
        .find_map(|scope| table.iter().find(|(prefix, _)| prefix.is_prefix_of(*scope)))
        .map_or(Role::Code, |(_, role)| *role)
}

/// Scopes to roles; the first that fits wins, so a longer prefix stands before a shorter one.
const SCOPE_ROLES: [(&str, Role); 27] = [
    ("comment", Role::SyntaxComment),
    ("punctuation.definition.comment", Role::SyntaxComment),
    ("punctuation.definition.string", Role::SyntaxString),
    ("constant.numeric", Role::SyntaxNumber),
    ("constant.character", Role::SyntaxConstant),
    ("constant", Role::SyntaxConstant),
    ("string", Role::SyntaxString),
    ("keyword.operator", Role::SyntaxPunctuation),
    ("keyword", Role::SyntaxKeyword),
    ("storage.type.function", Role::SyntaxKeyword),
    ("storage", Role::SyntaxKeyword),
    ("entity.name.function", Role::SyntaxFunction),
    ("entity.name.type", Role::SyntaxType),
    ("entity.name.struct", Role::SyntaxType),
    ("entity.name.class", Role::SyntaxType),
    ("entity.name.enum", Role::SyntaxType),
    ("entity.name.tag", Role::SyntaxKeyword),
    ("entity.name.section", Role::SyntaxFunction),
    ("entity.other.attribute-name", Role::SyntaxType),
    ("entity.other.inherited-class", Role::SyntaxType),
    ("support.function", Role::SyntaxFunction),
    ("variable.function", Role::SyntaxFunction),
    ("support.type", Role::SyntaxType),
    ("support.class", Role::SyntaxType),
    ("variable.language", Role::SyntaxConstant),
    ("support.macro", Role::SyntaxFunction),
    ("punctuation", Role::SyntaxPunctuation),
];

fn scope_roles() -> &'static [(Scope, Role)] {
    static TABLE: OnceLock<Vec<(Scope, Role)>> = OnceLock::new();
    TABLE.get_or_init(|| {
        SCOPE_ROLES
            .iter()
            .filter_map(|(name, role)| Scope::new(name).ok().map(|scope| (scope, *role)))
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::theme::Theme;
    use ratatui::style::{Color, Style};

    fn theme() -> Theme {
        let mut styles = [Style::new(); Role::COUNT];
        for (index, style) in styles.iter_mut().enumerate() {
            *style = Style::new().fg(Color::Indexed(index as u8));
        }
        Theme::new(7, styles)
    }

    #[test]
    fn common_languages_have_colours_and_unknown_ones_have_none() {
        load_now();
        for language in [
            "rust",
            "py",
            "python",
            "js",
            "ts",
            "typescript",
            "tsx",
            "go",
            "c",
            "c++",
            "java",
            "sh",
            "bash",
            "json",
            "yaml",
            "toml",
            "html",
            "css",
            "sql",
            "diff",
            "dockerfile",
            "makefile",
        ] {
            assert!(highlight("x = 1", language, &Theme::plain()).is_some(), "{language}");
        }
        assert!(highlight("x", "no-such-language", &Theme::plain()).is_none());
        assert!(highlight(&"x".repeat(LINE_BYTES_MAX + 1), "rust", &Theme::plain()).is_none());
        assert!(highlight(&"x\n".repeat(CODE_BYTES_MAX), "rust", &Theme::plain()).is_none());
    }

    #[test]
    fn words_get_the_roles_of_their_scopes() {
        load_now();
        let theme = theme();
        let lines = highlight("fn main() { let x = \"é\"; } // end", "rust", &theme).unwrap();
        assert_eq!(lines[0].to_string(), "fn main() { let x = \"é\"; } // end");
        for (text, role) in [
            ("fn", Role::SyntaxKeyword),
            ("main", Role::SyntaxFunction),
            ("// end", Role::SyntaxComment),
        ] {
            let span = lines[0].spans.iter().find(|span| span.content.contains(text)).unwrap();
            assert_eq!(span.style, theme.style(role), "{text}");
        }
    }
}
