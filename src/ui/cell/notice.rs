//! The program's own lines: notices, changes of mode, compactions.

use ratatui::text::{Line, Span};

use crate::app::cells::cell::NoticeKind;
use crate::base::text::sanitize;
use crate::conversation::mode::Mode;
use crate::ui::theme::{Role, Theme};

pub fn render(kind: NoticeKind, text: &str, width: u16, theme: &Theme) -> Vec<Line<'static>> {
    let (mark, role, text_role) = match kind {
        NoticeKind::Info => ("· ", Role::Dim, Role::Dim),
        NoticeKind::Warning => ("! ", Role::Warning, Role::Text),
        NoticeKind::Error => ("✗ ", Role::Error, Role::Error),
    };
    let clean = sanitize::clean(text.trim_end());
    super::marked(Span::styled(mark, theme.style(role)), &clean, theme.style(text_role), width)
}

pub fn mode_change(mode: Mode, width: u16, theme: &Theme) -> Vec<Line<'static>> {
    let (name, role) = match mode {
        Mode::Plan => {
            ("plan mode: the model reads and proposes, nothing is changed", Role::ModePlan)
        }
        Mode::Work => (
            "work mode: the model may change files and run commands, with your approval",
            Role::ModeWork,
        ),
    };
    super::marked(Span::styled("◆ ", theme.style(role)), name, theme.style(role), width)
}

pub fn compacted(
    before_tokens: u64,
    after_tokens: u64,
    width: u16,
    theme: &Theme,
) -> Vec<Line<'static>> {
    let text = format!("compacted: {} → {} tokens", short(before_tokens), short(after_tokens));
    let dim = theme.style(Role::Dim);
    super::marked(Span::styled("⇣ ", dim), &text, dim, width)
}

/// `950`, `8.4k`, `84k`, `1.2M`.
fn short(tokens: u64) -> String {
    match tokens {
        0..1_000 => tokens.to_string(),
        1_000..10_000 => format!("{}.{}k", tokens / 1_000, tokens % 1_000 / 100),
        10_000..1_000_000 => format!("{}k", tokens / 1_000),
        _ => format!("{}.{}M", tokens / 1_000_000, tokens % 1_000_000 / 100_000),
    }
}
