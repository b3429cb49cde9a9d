//! What an empty session shows.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::app::App;

use super::flow;
use super::theme::{Role, Theme};

pub fn draw(app: &App, area: Rect, theme: &Theme, buf: &mut Buffer) {
    let wrapped = |lines: Vec<Line<'static>>| -> Vec<Line<'static>> {
        lines.iter().flat_map(|line| flow::wrap(line, area.width, 2)).collect()
    };
    let mut lines = wrapped(whole(app, theme));
    if lines.len() > usize::from(area.height) {
        lines = wrapped(short(app, theme));
    }
    let top =
        area.bottom().saturating_sub(u16::try_from(lines.len()).unwrap_or(u16::MAX)).max(area.y);
    for (line, y) in lines.iter().zip(top..area.bottom()) {
        buf.set_line(area.x, y, line, area.width);
    }
}

/// Where there is hardly room: what to try and where help is.
fn short(app: &App, theme: &Theme) -> Vec<Line<'static>> {
    let mut out = vec![name(app, theme)];
    if app.front().model().provider == "offline" {
        out.push(Line::styled("  Try: what is in this project?", theme.style(Role::Dim)));
    }
    out.push(Line::from(vec![
        Span::styled("  ?", theme.style(Role::Accent)),
        Span::styled(" help   ", theme.style(Role::Dim)),
        Span::styled("/", theme.style(Role::Accent)),
        Span::styled(" commands", theme.style(Role::Dim)),
    ]));
    out
}

fn name(app: &App, theme: &Theme) -> Line<'static> {
    Line::from(vec![
        Span::styled("  crystal", theme.style(Role::Heading)),
        Span::styled(format!(" {}", app.options.version), theme.style(Role::Dim)),
    ])
}

fn whole(app: &App, theme: &Theme) -> Vec<Line<'static>> {
    let dim = |text: &'static str| Span::styled(text, theme.style(Role::Dim));
    let key = |text: &'static str| Span::styled(text, theme.style(Role::Accent));
    let mut out = vec![name(app, theme), Line::default()];
    if app.front().model().provider == "offline" {
        out.push(Line::from(dim(
            "  This is the offline demo: a small stand-in that uses the real tools, with no model and no network.",
        )));
        out.push(Line::from(dim("  Try: what is in this project?")));
        out.push(Line::from(dim(
            "  To connect a model set OPENROUTER_API_KEY or DEEPSEEK_API_KEY, run Ollama, or add a server to config.json; then /model.",
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
    out
}
