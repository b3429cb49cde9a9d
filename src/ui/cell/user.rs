//! What the person wrote.

use ratatui::text::{Line, Span};

use crate::base::text::{cut, sanitize, width as columns};
use crate::ui::theme::{Role, Theme};

/// Bytes of a message that are shown: a paste of megabytes must not stall the frame that shows it.
const SHOWN_BYTES_MAX: usize = 64 * 1024;

pub fn render(text: &str, width: u16, theme: &Theme) -> Vec<Line<'static>> {
    let text = text.trim_end_matches(['\n', '\r']);
    let (shown, rest) = text.split_at(cut::floor_boundary(text, SHOWN_BYTES_MAX));
    let mark = Span::styled("› ", theme.style(Role::Accent));
    let clean = sanitize::clean_code(shown);
    let mut rows = super::marked(mark, &clean, theme.style(Role::User), width);
    if !rest.is_empty() {
        let more = format!("  … {} bytes more, sent but not shown", rest.len());
        let more = columns::ellipsis(&more, usize::from(width));
        rows.push(Line::styled(more, theme.style(Role::Dim)));
    }
    rows
}
