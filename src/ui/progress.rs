//! What runs and what waits, between conversation and composer.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::app::{App, SPINNER_MS};
use crate::base::text::{sanitize, width};
use crate::base::time::Moment;
use crate::conversation::message::Block;
use crate::turn::Phase;

use super::theme::{Role, Theme};

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
            let text = format!(
                "{settled} of {all} calls done, {running} running · {} s · Esc stops",
                turn()
            );
            (spinner, text)
        }
        Phase::Tools { since, .. } => {
            (spinner, format!("Running · {} s · Esc stops", seconds(since)))
        }
        Phase::Asking { .. } => ("?", "Waiting for your answer".to_owned()),
        Phase::Retrying { until, why, attempt } => {
            let left = until.since_ms(now).div_ceil(1_000);
            let why = sanitize::line(why);
            (spinner, format!("Attempt {attempt} in {left} s · Esc stops · {why}"))
        }
    })
}

/// The messages that wait for the next round.
pub fn draw_queue(app: &App, area: Rect, theme: &Theme, buf: &mut Buffer) {
    let queue = app.front().turn.queue();
    let hidden = queue.len().saturating_sub(usize::from(area.height));
    for (row, (message, y)) in queue.iter().zip(area.y..area.bottom()).enumerate() {
        let is_last = row + 1 == usize::from(area.height);
        let more = if is_last && hidden > 0 { format!(" (+{hidden} more)") } else { String::new() };
        let text = format!(" queued: {}{more}", words_of(message));
        let text = width::ellipsis(&text, usize::from(area.width));
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
