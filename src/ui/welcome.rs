//! What an empty session shows.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::app::App;

use super::flow;
use super::theme::{Role, Theme};

pub fn draw(app: &App, area: Rect, theme: &Theme, buf: &mut Buffer) {
    let lines: Vec<Line<'static>> =
        lines(app, theme).iter().flat_map(|line| flow::wrap(line, area.width, 2)).collect();
    let top =
        area.bottom().saturating_sub(u16::try_from(lines.len()).unwrap_or(u16::MAX)).max(area.y);
    for (line, y) in lines.iter().zip(top..area.bottom()) {
        buf.set_line(area.x, y, line, area.width);
    }
}

fn lines(app: &App, theme: &Theme) -> Vec<Line<'static>> {
    let dim = |text: &'static str| Span::styled(text, theme.style(Role::Dim));
    let key = |text: &'static str| Span::styled(text, theme.style(Role::Accent));
    let mut out = vec![
        Line::from(vec![
            Span::styled("  crystal", theme.style(Role::Heading)),
            Span::styled(format!(" {}", app.options.version), theme.style(Role::Dim)),
        ]),
        Line::default(),
    ];
    if app.front().model().provider == "offline" {
        out.push(Line::from(dim(
            "  This is the offline demo: a small stand-in that uses the real tools, with no model and no network.",
        )));
        out.push(Line::from(dim("  Try: what is in this project?")));
        out.push(Line::from(dim(
            "  To connect a model set its key, such as ANTHROPIC_API_KEY or OPENAI_API_KEY, or add a provider to config.json, then /model.",
        )));
        out.push(Line::default());
    }
    out.push(Line::from(vec![
        Span::raw("  "),
        key("?"),
        dim(" keys   "),
        key("/"),
        dim(" commands   "),
        key("Shift+Tab"),
        dim(" plan or work   "),
        key("Esc"),
        dim(" stops"),
    ]));
    out.push(Line::default());
    out
}
