//! One cell to rows: a pure function of content, fold, width and theme.
//!
//! Invariants: untrusted text passes `base::text::sanitize` here and nowhere else; no row is wider than the
//! width, but for one cluster that alone is; the cost of a folded cell does not grow with its output.

pub mod assistant;
pub mod notice;
pub mod reasoning;
pub mod summary;
pub mod tool;
pub mod user;

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::flow;
use super::theme::{Role, Theme};
use crate::app::cells::cell::{CellContent, Fold, TextState};
use crate::base::text::{width as columns, wrap};

/// Stands under text that was cut off.
pub const INTERRUPTED: &str = "⏹ interrupted";

/// Below this a row is looked at once more: one cluster may fill more than a row.
const NARROW_COLUMNS: u16 = 40;

/// Returns the rows of a cell; none at width 0.
pub fn render(content: &CellContent, fold: Fold, width: u16, theme: &Theme) -> Vec<Line<'static>> {
    if width == 0 {
        return Vec::new();
    }
    let mut rows = rows(content, fold, width, theme);
    if width < NARROW_COLUMNS {
        // Nothing breaks a cluster; one that is wider than the row is cut.
        for row in rows.iter_mut().filter(|row| flow::line_width(row) > usize::from(width)) {
            *row = tool::cut_row(std::mem::take(&mut row.spans), usize::from(width));
        }
    }
    rows
}

fn rows(content: &CellContent, fold: Fold, width: u16, theme: &Theme) -> Vec<Line<'static>> {
    match content {
        CellContent::User { text } => user::render(text, width, theme),
        CellContent::Assistant { text, state } => assistant::render(text, *state, width, theme),
        CellContent::Reasoning { text, state } => {
            reasoning::render(text, *state, fold, width, theme)
        }
        CellContent::Tool(tool) => tool::render(tool, fold, width, theme),
        CellContent::Notice { kind, text } => notice::render(*kind, text, width, theme),
        CellContent::ModeChange(mode) => notice::mode_change(*mode, width, theme),
        CellContent::Compacted { before_tokens, after_tokens } => {
            notice::compacted(*before_tokens, *after_tokens, width, theme)
        }
        CellContent::Summary { text } => summary::render(text, fold, width, theme),
    }
}

/// Returns clean text wrapped beside a mark: the first row carries it, the others are indented.
fn marked(mark: Span<'static>, text: &str, style: Style, width: u16) -> Vec<Line<'static>> {
    let width = usize::from(width);
    let mark_columns = columns::columns(&mark.content);
    // Where there is hardly room for the text, it goes before the mark.
    let (mark, indent) =
        if width > mark_columns * 2 { (Some(mark), mark_columns) } else { (None, 0) };
    let mut rows = Vec::new();
    for line in text.split('\n') {
        for range in wrap::rows(line, width - indent) {
            let lead = match &mark {
                Some(mark) if rows.is_empty() => mark.clone(),
                _ => Span::raw(" ".repeat(indent)),
            };
            rows.push(Line::from(vec![lead, Span::styled(line[range].to_owned(), style)]));
        }
    }
    rows
}

/// Returns the dim row that says that text was cut off, if it was.
pub(super) fn interrupted(state: TextState, width: u16, theme: &Theme) -> Option<Line<'static>> {
    match state {
        TextState::Interrupted => Some(Line::styled(
            columns::ellipsis(INTERRUPTED, usize::from(width)),
            theme.style(Role::Dim),
        )),
        TextState::Streaming | TextState::Whole => None,
    }
}

/// Returns the row that stands for lines not shown.
fn more(lines: usize, width: u16, theme: &Theme) -> Line<'static> {
    let unit = if lines == 1 { "line" } else { "lines" };
    let text = format!("… +{lines} {unit} (Ctrl+O)");
    Line::styled(columns::ellipsis(&text, usize::from(width)), theme.style(Role::Dim))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::cells::cell::{NoticeKind, ToolCell, ToolState};
    use proptest::prelude::*;

    fn check(content: &CellContent, fold: Fold, width: u16, wanted: &[&str]) {
        let rows: Vec<String> =
            render(content, fold, width, &Theme::plain()).iter().map(ToString::to_string).collect();
        assert_eq!(rows, wanted);
    }

    #[test]
    fn reasoning_is_one_row_until_it_is_opened() {
        let thought = |state| CellContent::Reasoning { text: "\nfirst\nsecond".to_owned(), state };
        check(&thought(TextState::Streaming), Fold::Folded, 40, &["∴ thinking · second"]);
        check(&thought(TextState::Whole), Fold::Folded, 40, &["∴ thought · first"]);
        check(&thought(TextState::Whole), Fold::Folded, 9, &["∴ though…"]);
        check(
            &thought(TextState::Interrupted),
            Fold::Open,
            40,
            &["∴ ", "  first", "  second", INTERRUPTED],
        );
    }

    #[test]
    fn the_summary_is_a_panel_where_there_is_room() {
        let summary = CellContent::Summary { text: "漢字 one".to_owned() };
        let framed =
            ["╭ Earlier context ────╮", "│ 漢字 one            │", "╰─────────────────────╯"];
        check(&summary, Fold::Open, 23, &framed);
        check(&summary, Fold::Open, 10, &["漢字 one"]);
    }

    #[test]
    fn what_the_person_wrote_is_indented_under_its_mark() {
        let text = CellContent::User { text: "one two three\n\tfour\n".to_owned() };
        check(&text, Fold::Open, 10, &["› one two ", "  three", "      four"]);
        check(&text, Fold::Open, 3, &["one", "two", "thr", "ee", "   ", "fou", "r"]);
    }

    // T07: a message of megabytes is shown by its beginning.
    #[test]
    fn an_enormous_message_is_cut() {
        let text = CellContent::User { text: "word ".repeat(1_000_000) };
        let rows = render(&text, Fold::Open, 82, &Theme::plain());
        assert_eq!(rows.len(), 64 * 1024 / 80 + 2);
        assert!(
            rows.last()
                .is_some_and(|row| row.to_string().ends_with("bytes more, sent but not shown"))
        );
    }

    fn contents(text: &str) -> Vec<CellContent> {
        let text = text.to_owned();
        vec![
            CellContent::User { text: text.clone() },
            CellContent::Reasoning { text: text.clone(), state: TextState::Interrupted },
            CellContent::Notice { kind: NoticeKind::Error, text: text.clone() },
            CellContent::Summary { text: text.clone() },
            CellContent::Compacted { before_tokens: u64::MAX, after_tokens: 1 },
            CellContent::Tool(ToolCell {
                tool: "bash".to_owned(),
                subject: text.clone(),
                state: ToolState::Failed,
                output: text.repeat(9),
                is_list: false,
                diff: Some(text.clone()),
                summary: Some(text),
            }),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        // T04, T14: whatever the text and the width, a row fits.
        #[test]
        fn no_row_is_wider_than_the_width(text in "(\\PC|[\n\t\r\u{1b}漢👩]){0,30}", width in 0_u16..40) {
            for content in contents(&text) {
                for fold in [Fold::Folded, Fold::Open] {
                    for row in render(&content, fold, width, &Theme::plain()) {
                        let used: usize = row.spans.iter().map(|s| columns::columns(&s.content)).sum();
                        let text = row.to_string();
                        let is_one_cluster = columns::graphemes(&text).count() == 1;
                        prop_assert!(used <= usize::from(width) || is_one_cluster, "{row:?} in {width}");
                    }
                }
            }
        }
    }
}
