//! What the model thought: one dim row while folded.

use ratatui::text::{Line, Span};

use crate::app::cells::cell::{Fold, TextState};
use crate::base::text::{cut, sanitize, width as columns};
use crate::ui::theme::{Role, Theme};

/// Bytes looked at for the folded row: more than any row holds.
const FOLDED_BYTES_MAX: usize = 4 * 1024;

pub fn render(
    text: &str,
    state: TextState,
    fold: Fold,
    width: u16,
    theme: &Theme,
) -> Vec<Line<'static>> {
    let style = theme.style(Role::Dim);
    match fold {
        Fold::Folded => {
            let row = columns::ellipsis(&folded(text, state), usize::from(width));
            vec![Line::styled(row, style)]
        }
        Fold::Open => {
            let clean = sanitize::clean_code(text.trim_end());
            let mut rows = super::marked(Span::styled("∴ ", style), &clean, style, width);
            rows.extend(super::interrupted(state, width, theme));
            rows
        }
    }
}

/// The newest line while the model thinks, the first one after.
fn folded(text: &str, state: TextState) -> String {
    let is_said = |line: &&str| !line.trim().is_empty();
    let (verb, line) = match state {
        TextState::Streaming => {
            let start = cut::ceil_boundary(text, text.len().saturating_sub(FOLDED_BYTES_MAX));
            ("thinking", text[start..].lines().rev().find(is_said))
        }
        TextState::Whole | TextState::Interrupted => {
            let end = cut::floor_boundary(text, FOLDED_BYTES_MAX);
            ("thought", text[..end].lines().find(is_said))
        }
    };
    match line {
        Some(line) => format!("∴ {verb} · {}", sanitize::line(line).trim()),
        None => format!("∴ {verb}"),
    }
}
