//! What the model wrote: markdown, without a mark.
//!
//! Not here: text that streams (`ui::growing`).

use ratatui::text::Line;

use crate::app::cells::cell::TextState;
use crate::base::text::sanitize;
use crate::ui::markdown;
use crate::ui::theme::Theme;

pub fn render(text: &str, state: TextState, width: u16, theme: &Theme) -> Vec<Line<'static>> {
    let mut rows = markdown::render(&sanitize::clean_code(text), width, theme);
    rows.extend(super::interrupted(state, width, theme));
    rows
}
