//! State to cells of the screen.
//!
//! Two steps a frame: [`prepare`] lays out what will be visible and fills the cache, [`draw`] only reads.
//! Invariant: no text reaches the buffer that has not passed `base::text::sanitize`.

pub mod cache;
pub mod cell;
pub mod composer;
pub mod diff;
pub mod flow;
pub mod growing;
pub mod highlight;
pub mod info;
pub mod layout;
pub mod markdown;
pub mod picker;
pub mod progress;
pub mod question;
pub mod status_bar;
pub mod suggestions;
pub mod theme;
pub mod transcript;
pub mod welcome;

use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::{Position, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Clear, Widget};

use crate::app::App;
use crate::app::panels::Panel;
use crate::app::scroll::Scroll;
use crate::base::time::Moment;
use crate::conversation::mode::Mode;
use crate::turn::Phase;

use cache::ViewCache;
use composer::{Border, ComposerView, Focus};
use layout::{Layout, Wanted};
use theme::{Role, Theme};
use transcript::PreparedTranscript;

/// A frame that is laid out and can be drawn.
#[derive(Debug)]
pub struct Prepared {
    area: Rect,
    layout: Option<Layout>,
    question: Vec<Line<'static>>,
    transcript: Option<PreparedTranscript>,
}

impl Prepared {
    /// Where the view came to rest, for the state to keep.
    pub fn scroll(&self) -> Option<Scroll> {
        self.transcript.as_ref().map(PreparedTranscript::scroll)
    }
}

/// Measures and lays out what will be visible.
pub fn prepare(app: &App, cache: &mut ViewCache, area: Rect, theme: &Theme) -> Prepared {
    let question = match app.panels.top() {
        Some(Panel::Question(panel)) => question::lines(panel, area.width, theme),
        Some(Panel::Trust(panel)) => question::trust_lines(panel, area.width, theme),
        Some(Panel::Info(_) | Panel::Picker(..)) | None => Vec::new(),
    };
    let live = app.front();
    let wanted = Wanted {
        composer: composer::height(&live.composer, area),
        question: rows(question.len()),
        queue: rows(live.turn.queue().len()),
        suggestions: rows(suggestions::lines(app, area.width, theme).len()),
        progress: u16::from(has_progress(app)),
    };
    let layout = layout::layout(area, wanted);
    let question = match (app.panels.top(), layout) {
        (Some(Panel::Question(panel)), Some(layout)) => {
            let rows = usize::from(layout.question.height);
            question::fitted(panel, question, rows, area.width, theme)
        }
        _ => question,
    };
    let transcript = layout.filter(|_| !live.feed.cells().is_empty()).map(|layout| {
        transcript::prepare(live.feed.cells(), &live.scroll, cache, layout.transcript, theme)
    });
    Prepared { area, layout, question, transcript }
}

/// An open question says by itself what is waited for.
fn has_progress(app: &App) -> bool {
    match app.front().turn.phase() {
        Phase::Idle => false,
        Phase::Asking { .. } => !matches!(app.panels.top(), Some(Panel::Question(_))),
        Phase::Waiting { .. }
        | Phase::Replying { .. }
        | Phase::Tools { .. }
        | Phase::Retrying { .. } => true,
    }
}

/// Draws a prepared frame; returns where the cursor is.
pub fn draw(
    app: &App,
    prepared: &Prepared,
    theme: &Theme,
    now: Moment,
    buf: &mut Buffer,
) -> Option<Position> {
    let cursor = draw_parts(app, prepared, theme, now, buf);
    uncolour_blanks(buf);
    cursor
}

/// Blanks in a row that are worth two changes of colour: fewer are cheaper sent in the colour around them.
const BLANKS_MIN: usize = 16;

/// Takes the colour of text from long runs of cells that show none: what looks like an empty terminal is not
/// sent. Blanks between words keep theirs, so that a line of text needs its colour once.
fn uncolour_blanks(buf: &mut Buffer) {
    let seen = Modifier::REVERSED | Modifier::UNDERLINED | Modifier::CROSSED_OUT;
    let is_blank = |cell: &Cell| {
        cell.bg == Color::Reset && !cell.modifier.intersects(seen) && cell.symbol() == " "
    };
    let columns = usize::from(buf.area.width).max(1);
    for row in buf.content.chunks_mut(columns) {
        for run in row.chunk_by_mut(|left, right| is_blank(left) == is_blank(right)) {
            if run.len() >= BLANKS_MIN && is_blank(&run[0]) {
                for cell in run {
                    cell.set_style(Style::reset());
                }
            }
        }
    }
}

fn draw_parts(
    app: &App,
    prepared: &Prepared,
    theme: &Theme,
    now: Moment,
    buf: &mut Buffer,
) -> Option<Position> {
    let area = prepared.area.intersection(buf.area);
    buf.set_style(area, theme.style(Role::Text));
    let Some(layout) = prepared.layout else {
        draw_no_room(area, buf);
        return None;
    };
    match &prepared.transcript {
        Some(transcript) => transcript::draw(transcript, buf),
        None => welcome::draw(app, layout.transcript, theme, buf),
    }
    progress::draw(app, layout.progress, theme, now, buf);
    progress::draw_queue(app, layout.queue, theme, buf);
    draw_lines(&prepared.question, layout.question, buf);
    draw_lines(&suggestions::lines(app, layout.suggestions.width, theme), layout.suggestions, buf);
    let has_focus = app.panels.top().is_none();
    let view = ComposerView {
        composer: &app.front().composer,
        theme,
        focus: if has_focus { Focus::Focused } else { Focus::Unfocused },
        border: match app.front().state.mode {
            Mode::Plan => Border::Plan,
            Mode::Work => Border::Work,
        },
    };
    let cursor = composer::draw(&view, layout.composer, buf);
    status_bar::draw(app, layout.status, theme, now, buf);
    draw_overlay(app, layout, theme, buf).or(cursor)
}

/// Panels that cover the conversation. Returns their cursor.
fn draw_overlay(app: &App, layout: Layout, theme: &Theme, buf: &mut Buffer) -> Option<Position> {
    let above = Rect { height: layout.composer.y - layout.transcript.y, ..layout.transcript };
    match app.panels.top()? {
        Panel::Info(panel) => {
            let area = lower(above, info::height(panel, above.width, theme));
            Clear.render(area, buf);
            info::draw(panel, area, theme, buf);
            None
        }
        Panel::Picker(_, picker) => {
            let area = lower(above, picker::height(picker));
            Clear.render(area, buf);
            picker::draw(picker, theme, area, buf)
        }
        Panel::Question(_) | Panel::Trust(_) => None,
    }
}

/// The lower rows of an area: a panel is as high as what it holds, and the conversation stays in sight.
fn lower(area: Rect, rows: u16) -> Rect {
    let height = rows.min(area.height);
    Rect { y: area.bottom() - height, height, ..area }
}

fn draw_lines(lines: &[Line<'static>], area: Rect, buf: &mut Buffer) {
    for (line, y) in lines.iter().zip(area.y..area.bottom()) {
        buf.set_line(area.x, y, line, area.width);
    }
}

fn draw_no_room(area: Rect, buf: &mut Buffer) {
    if area.width > 0 && area.height > 0 {
        buf.set_stringn(
            area.x,
            area.y,
            "crystal: more room",
            usize::from(area.width),
            ratatui::style::Style::new(),
        );
    }
}

fn rows(count: usize) -> u16 {
    u16::try_from(count).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    // T11: a coloured line is one run of its colour, and the rest of its row is nothing.
    #[test]
    fn only_long_runs_of_blanks_lose_their_colour() {
        let mut buf = Buffer::empty(Rect::new(0, 0, 40, 2));
        let style = Style::new().fg(Color::Red);
        buf.set_style(buf.area, style);
        buf.set_string(0, 0, "two words", style);
        buf.set_string(0, 1, "marked", style.bg(Color::Blue));
        buf.set_style(Rect::new(0, 1, 40, 1), Style::new().bg(Color::Blue));
        uncolour_blanks(&mut buf);
        assert!((0..9).all(|x| buf[(x, 0)].fg == Color::Red));
        assert!((9..40).all(|x| buf[(x, 0)] == Cell::default()), "{buf:?}");
        assert!((0..40).all(|x| buf[(x, 1)].bg == Color::Blue));
    }
}
