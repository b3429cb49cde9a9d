//! What runs and what waits, between conversation and composer.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::app::cells::cell::ToolCell;
use crate::app::{App, SPINNER_MS};
use crate::base::text::{cut, sanitize, width};
use crate::base::time::Moment;
use crate::conversation::message::Block;
use crate::turn::Phase;

use super::theme::{Role, Theme};

/// Columns of what a running call works on: the time and the way out stay in sight.
const SUBJECT_COLUMNS_MAX: usize = 36;

/// Characters of it that are looked at.
const SUBJECT_CHARS_MAX: usize = 200;

const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

pub fn draw(app: &App, area: Rect, theme: &Theme, now: Moment, buf: &mut Buffer) {
    if area.is_empty() {
        return;
    }
    let Some((mark, text)) = words(app, now) else { return };
    let columns_max = usize::from(area.width).saturating_sub(3);
    let line = Line::from(vec![
        Span::raw(" "),
        Span::styled(mark, theme.style(Role::Accent)),
        Span::raw(" "),
        Span::styled(width::ellipsis(&text, columns_max), theme.style(Role::Dim)),
    ]);
    buf.set_line(area.x, area.y, &line, area.width);
}

fn words(app: &App, now: Moment) -> Option<(&'static str, String)> {
    let frame = usize::try_from(now.0 / SPINNER_MS).unwrap_or(0) % SPINNER.len();
    let spinner = SPINNER[frame];
    let live = app.front();
    let seconds = |since: Moment| now.since_ms(since) / 1_000;
    let turn = || seconds(live.turn.started());
    Some(match live.turn.phase() {
        Phase::Idle => return None,
        Phase::Waiting { since } => {
            (spinner, format!("Waiting for the model · {} s · Esc stops", seconds(since)))
        }
        Phase::Replying { .. } => (spinner, format!("Working · {} s · Esc stops", turn())),
        Phase::Tools { running, settled, all, .. } if all > 1 => {
            let name = live.feed.running().map_or_else(String::new, |tool| named(tool, " · "));
            let text = format!(
                "{settled} of {all} calls done, {running} running{name} · {} s · Esc stops",
                turn()
            );
            (spinner, text)
        }
        Phase::Tools { since, .. } => {
            let name = live.feed.running().map_or_else(String::new, |tool| named(tool, " "));
            (spinner, format!("Running{name} · {} s · Esc stops", seconds(since)))
        }
        Phase::Asking { .. } => ("?", "Waiting for your answer".to_owned()),
        Phase::Retrying { until, why, attempt } => {
            let left = until.since_ms(now).div_ceil(1_000);
            let why = sanitize::line(why);
            (spinner, format!("Attempt {attempt} in {left} s · Esc stops · {why}"))
        }
    })
}

/// A call by its tool and what it works on, behind a separator.
fn named(tool: &ToolCell, separator: &str) -> String {
    let subject = sanitize::line(cut::chars(&tool.subject, SUBJECT_CHARS_MAX));
    let name = sanitize::line(&tool.tool);
    if subject.is_empty() {
        format!("{separator}{name}")
    } else {
        format!("{separator}{name} {}", width::ellipsis(&subject, SUBJECT_COLUMNS_MAX))
    }
}

/// The messages that wait for the next round.
pub fn draw_queue(app: &App, area: Rect, theme: &Theme, buf: &mut Buffer) {
    let queue = app.front().turn.queue();
    let hidden = queue.len().saturating_sub(usize::from(area.height));
    for (row, (message, y)) in queue.iter().zip(area.y..area.bottom()).enumerate() {
        let is_last = row + 1 == usize::from(area.height).min(queue.len());
        // After an interruption nothing takes it by itself.
        let keys = if app.front().turn.is_idle() { "Enter sends, Up edits" } else { "Up edits" };
        let more = match (is_last, hidden) {
            (false, _) => String::new(),
            (true, 0) => format!(" · {keys}"),
            (true, hidden) => format!(" · +{hidden} more · {keys}"),
        };
        let room = usize::from(area.width).saturating_sub(11 + width::columns(&more));
        let text = format!(" queued: \"{}\"{more}", width::ellipsis(&words_of(message), room));
        buf.set_line(area.x, y, &Line::styled(text, theme.style(Role::Dim)), area.width);
    }
}

fn words_of(message: &[Block]) -> String {
    let text = message.iter().find_map(|block| match block {
        Block::Text { text } => Some(sanitize::line(text)),
        _ => None,
    });
    text.unwrap_or_else(|| "[image]".to_owned())
}
