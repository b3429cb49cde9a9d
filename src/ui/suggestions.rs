//! The commands that fit what is being typed, above the composer.

use ratatui::text::{Line, Span};

use crate::app::App;
use crate::app::composer::{Intent, TriggerKind};
use crate::base::text::width;

use super::theme::{Role, Theme};

/// Columns of the form of a command; its meaning stands behind.
const USAGE_COLUMNS: usize = 26;

pub fn lines(app: &App, columns: u16, theme: &Theme) -> Vec<Line<'static>> {
    let composer = &app.front().composer;
    if app.panels.top().is_some() || composer.intent() != Intent::Command {
        return Vec::new();
    }
    let Some(trigger) = composer.trigger().filter(|trigger| trigger.kind == TriggerKind::Command)
    else {
        return Vec::new();
    };
    let line = |(usage, help): &(String, &'static str)| {
        let gap = USAGE_COLUMNS.saturating_sub(width::columns(usage)).max(2);
        let room = usize::from(columns).saturating_sub(1 + width::columns(usage) + gap);
        Line::from(vec![
            Span::raw(" "),
            Span::styled(usage.clone(), theme.style(Role::Accent)),
            Span::raw(" ".repeat(gap)),
            Span::styled(width::ellipsis(help, room), theme.style(Role::Dim)),
        ])
    };
    app.suggestions(&trigger.query).iter().map(line).collect()
}
