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

/// How much a fact is needed where there is no room for all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Need {
    Must,
    Context,
    Model,
    Cost,
    Place,
    Title,
}

#[derive(Debug)]
struct Part {
    need: Need,
    text: String,
    role: Role,
}

/// Below this a fact that is cut says nothing.
const CUT_COLUMNS_MIN: usize = 8;

const SEPARATOR: &str = " · ";

/// The facts, joined by dots. Where there is no room the least needed go first; the last to stay is cut.
fn facts(app: &App, columns_max: usize, theme: &Theme) -> Line<'static> {
    let mut spans = Vec::new();
    for part in fitting(parts(app), columns_max) {
        let separator = if spans.is_empty() { " " } else { SEPARATOR };
        spans.push(Span::styled(separator, theme.style(Role::Status)));
        spans.push(Span::styled(part.text, theme.style(part.role)));
    }
    Line::from(spans)
}

fn fitting(parts: Vec<Part>, columns_max: usize) -> Vec<Part> {
    let mut left = columns_max.saturating_sub(1);
    let mut by_need: Vec<(usize, Part)> = parts.into_iter().enumerate().collect();
    by_need.sort_by_key(|(_, part)| part.need);
    let mut kept: Vec<(usize, Part)> = Vec::new();
    for (place, mut part) in by_need {
        let gap = if kept.is_empty() { 0 } else { width::columns(SEPARATOR) };
        let room = left.saturating_sub(gap);
        let is_cut = width::columns(&part.text) > room;
        if is_cut {
            part.text = width::ellipsis(&part.text, room);
        }
        if !is_cut || room >= CUT_COLUMNS_MIN {
            left = room - width::columns(&part.text);
            kept.push((place, part));
        }
        if is_cut {
            break;
        }
    }
    kept.sort_by_key(|(place, _)| *place);
    kept.into_iter().map(|(_, part)| part).collect()
}

fn parts(app: &App) -> Vec<Part> {
    let live = app.front();
    let spec = app.models.spec_of(live);
    let part = |need, text, role| Part { need, text, role };
    let mut parts = vec![match live.state.mode {
        Mode::Plan => part(Need::Must, "plan".to_owned(), Role::ModePlan),
        Mode::Work => part(Need::Must, "work".to_owned(), Role::ModeWork),
    }];
    if app.approvals.policy == Policy::Full {
        parts.push(part(Need::Must, "full: nothing asks".to_owned(), Role::Error));
    }
    if live.storage.trouble.is_some() {
        parts.push(part(Need::Must, "NOT SAVED".to_owned(), Role::Error));
    }
    let model = model(&spec.provider, &spec.id, live.gear());
    parts.push(part(Need::Model, model, Role::Status));
    let context = live.context(&spec);
    let mark = if context.is_estimate { "~" } else { "" };
    let role =
        if context.percent >= CONTEXT_WARNING_PERCENT { Role::Warning } else { Role::Status };
    parts.push(part(Need::Context, format!("CTX {mark}{}%", context.percent), role));
    if let Some((price, total)) = spec.price.as_ref().zip(live.state.usage.total.as_ref()) {
        parts.push(part(Need::Cost, format!("${:.2}", total.cost(price)), Role::Status));
    }
    parts.push(part(Need::Place, place(app), Role::Status));
    if let Some(title) = &live.state.title {
        parts.push(part(Need::Title, sanitize::line(title), Role::Status));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_needed_most_stays_where_there_is_no_room() {
        let all = || {
            [
                (Need::Must, "work"),
                (Need::Model, "openai/gpt-5-codex high"),
                (Need::Context, "CTX 43%"),
                (Need::Cost, "$0.12"),
                (Need::Place, "~/proj (main)"),
                (Need::Title, "a title"),
            ]
            .map(|(need, text)| Part {
                need,
                text: text.to_owned(),
                role: Role::Status,
            })
        };
        for (columns, wanted) in [
            (100, "work · openai/gpt-5-codex high · CTX 43% · $0.12 · ~/proj (main) · a title"),
            (70, "work · openai/gpt-5-codex high · CTX 43% · $0.12 · ~/proj (main)"),
            (60, "work · openai/gpt-5-codex high · CTX 43% · $0.12 · ~/proj …"),
            (41, "work · openai/gpt-5-codex high · CTX 43%"),
            (30, "work · openai/gpt-… · CTX 43%"),
            (20, "work · CTX 43%"),
        ] {
            let kept = fitting(all().into(), columns);
            let texts: Vec<&str> = kept.iter().map(|part| part.text.as_str()).collect();
            assert_eq!(texts.join(SEPARATOR), wanted, "{columns}");
        }
    }
}
