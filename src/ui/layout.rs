//! Where everything is, for any size.
//!
//! Invariant: the rectangles lie within the area and do not overlap; what has no room has no rows.

use ratatui::layout::Rect;

/// Below this many columns or rows only one line asks for room (spec, workspace-ui).
pub const COLUMNS_MIN: u16 = 20;
pub const ROWS_MIN: u16 = 5;

/// Rows that a question may take: enough for a diff, with the conversation still in sight.
const QUESTION_SHARE_PERCENT: u16 = 60;

/// Below this height an open question leaves one row to the composer.
const QUESTION_ALONE_ROWS_MAX: u16 = 16;

/// Below this height the composer is one row without a border.
const BORDER_ROWS_MIN: u16 = 8;

/// From this height on an empty row parts the conversation from what is below it.
const GAP_ROWS_MIN: u16 = 12;

/// Waiting messages shown.
const QUEUE_ROWS_MAX: u16 = 3;

/// Suggested commands shown.
const SUGGESTION_ROWS_MAX: u16 = 6;

/// How many rows each part would like.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wanted {
    /// With its border.
    pub composer: u16,
    pub question: u16,
    pub queue: u16,
    pub suggestions: u16,
    pub progress: u16,
}

/// The rectangles, from top to bottom.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Layout {
    pub transcript: Rect,
    pub progress: Rect,
    pub queue: Rect,
    pub question: Rect,
    pub suggestions: Rect,
    pub composer: Rect,
    pub status: Rect,
}

/// Returns the layout, or `None` where there is no room for one.
pub fn layout(area: Rect, wanted: Wanted) -> Option<Layout> {
    if area.width < COLUMNS_MIN || area.height < ROWS_MIN {
        return None;
    }
    // The transcript keeps at least one row; the rest is given in the order of need.
    let mut left = area.height - 2;
    let composer = take(&mut left, composer_rows(area.height, wanted));
    let question =
        take(&mut left, wanted.question.min(share(area.height, QUESTION_SHARE_PERCENT).max(3)));
    let progress = take(&mut left, wanted.progress);
    let queue = take(&mut left, wanted.queue.min(QUEUE_ROWS_MAX));
    let suggestions = take(&mut left, wanted.suggestions.min(SUGGESTION_ROWS_MAX));
    let gap = take(&mut left, u16::from(area.height >= GAP_ROWS_MIN));
    let mut top = area.y;
    let mut next = |height: u16| {
        let rect = Rect { x: area.x, y: top, width: area.width, height };
        top += height;
        rect
    };
    let transcript = next(left + 1);
    next(gap);
    Some(Layout {
        transcript,
        progress: next(progress),
        queue: next(queue),
        question: next(question),
        suggestions: next(suggestions),
        composer: next(composer),
        status: next(1),
    })
}

/// Where there is little room an open question has it: nobody writes a message meanwhile.
fn composer_rows(height: u16, wanted: Wanted) -> u16 {
    let is_narrow =
        height < BORDER_ROWS_MIN || (wanted.question > 0 && height < QUESTION_ALONE_ROWS_MAX);
    if is_narrow { 1 } else { wanted.composer.max(1) }
}

fn share(rows: u16, percent: u16) -> u16 {
    u16::try_from(u32::from(rows) * u32::from(percent) / 100).unwrap_or(rows)
}

fn take(left: &mut u16, wanted: u16) -> u16 {
    let given = wanted.min(*left);
    *left -= given;
    given
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        // T04: no size and no wish makes rectangles leave the area or overlap.
        #[test]
        fn the_rows_add_up_for_any_size(
            width in 0_u16..400, height in 0_u16..200,
            wishes in prop::array::uniform5(0_u16..300),
        ) {
            let [composer, question, queue, suggestions, progress] = wishes;
            let wanted = Wanted { composer, question, queue, suggestions, progress: progress.min(1) };
            let Some(layout) = layout(Rect::new(0, 0, width, height), wanted) else {
                prop_assert!(width < COLUMNS_MIN || height < ROWS_MIN);
                return Ok(());
            };
            let parts = [layout.transcript, layout.progress, layout.queue, layout.question, layout.suggestions, layout.composer, layout.status];
            let mut top = 0;
            for part in parts {
                let gap = u16::from(part.y > top);
                prop_assert_eq!(part.y, top + gap);
                prop_assert!(gap == 0 || (top == layout.transcript.bottom() && height >= GAP_ROWS_MIN));
                top = part.bottom();
            }
            prop_assert_eq!(top, height);
            prop_assert!(layout.transcript.height >= 1 && layout.status.height == 1 && layout.composer.height >= 1);
        }
    }
}
