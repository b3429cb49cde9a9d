//! The last row: mode, model, context, cost, place, title; or a hint.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::app::App;
use crate::approval::policy::Policy;
use crate::base::text::{sanitize, width};
use crate::base::time::Moment;
use crate::conversation::gear::Gear;
use crate::conversation::mode::Mode;

use super::theme::{Role, Theme};

/// From this fill on CTX is a warning.
const CONTEXT_WARNING_PERCENT: u8 = 80;

pub fn draw(app: &App, area: Rect, theme: &Theme, now: Moment, buf: &mut Buffer) {
    if area.is_empty() {
        return;
    }
    let line = match app.current_hint(now) {
        Some((hint, _)) => {
            Line::styled(format!(" {}", sanitize::line(hint)), theme.style(Role::Warning))
        }
        None => facts(app, usize::from(area.width), theme),
    };
    buf.set_style(area, theme.style(Role::Status));
    buf.set_line(area.x, area.y, &line, area.width);
}

/// The facts, joined by dots; those at the end go first where there is no room.
fn facts(app: &App, columns_max: usize, theme: &Theme) -> Line<'static> {
    let mut spans = vec![Span::raw(" ")];
    let mut columns = 1;
    for (index, (text, role)) in parts(app).into_iter().enumerate() {
        let separator = if index == 0 { "" } else { " · " };
        let needed = width::columns(separator) + width::columns(&text);
        if columns + needed > columns_max {
            let room = columns_max.saturating_sub(columns + width::columns(separator));
            if room > 4 {
                spans.push(Span::styled(separator, theme.style(Role::Status)));
                spans.push(Span::styled(width::ellipsis(&text, room), theme.style(role)));
            }
            break;
        }
        columns += needed;
        spans.push(Span::styled(separator, theme.style(Role::Status)));
        spans.push(Span::styled(text, theme.style(role)));
    }
    Line::from(spans)
}

fn parts(app: &App) -> Vec<(String, Role)> {
    let live = app.front();
    let spec = app.models.spec_of(live);
    let mode = match live.state.mode {
        Mode::Plan => ("plan".to_owned(), Role::ModePlan),
        Mode::Work => ("work".to_owned(), Role::ModeWork),
    };
    let mut parts = vec![mode];
    if app.approvals.policy == Policy::Full {
        parts.push(("full: nothing asks".to_owned(), Role::Error));
    }
    if live.storage.trouble.is_some() {
        parts.push(("NOT SAVED".to_owned(), Role::Error));
    }
    parts.push((model(&spec.provider, &spec.id, live.gear()), Role::Status));
    let context = live.context(&spec);
    let mark = if context.is_estimate { "~" } else { "" };
    let role =
        if context.percent >= CONTEXT_WARNING_PERCENT { Role::Warning } else { Role::Status };
    parts.push((format!("CTX {mark}{}%", context.percent), role));
    if let Some((price, total)) = spec.price.as_ref().zip(live.state.usage.total.as_ref()) {
        parts.push((format!("${:.2}", total.cost(price)), Role::Status));
    }
    parts.push((place(app), Role::Status));
    if let Some(title) = &live.state.title {
        parts.push((sanitize::line(title), Role::Status));
    }
    parts
}

fn model(provider: &str, id: &str, gear: Gear) -> String {
    let name = if provider == "offline" {
        "offline demo".to_owned()
    } else {
        sanitize::line(&format!("{provider}/{id}"))
    };
    match gear {
        Gear::Default => name,
        gear => format!("{name} {gear}"),
    }
}

fn place(app: &App) -> String {
    let shown = sanitize::line(&app.workspace.shown);
    match &app.workspace.branch {
        Some(branch) => format!("{shown} ({})", sanitize::line(branch)),
        None => shown,
    }
}
