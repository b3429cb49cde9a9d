//! A tool call: a headline, then its diff or its output.
//!
//! Folded, a call that only looked and went well is its headline alone: its summary (`214 lines`) stands
//! for the output. Of other calls the first and last lines are shown. While it runs: the newest lines.

use ratatui::text::{Line, Span};

use crate::app::cells::cell::{Fold, ToolCell, ToolState};
use crate::base::text::sanitize::{self, StyledLine};
use crate::base::text::{cut, width as columns};
use crate::ui::theme::{Role, Theme};
use crate::ui::{diff, flow};

/// Lines of live output shown while the call runs.
const LIVE_LINES: usize = 5;
/// Lines of the head and of the tail of folded output.
const FOLDED_HEAD_LINES: usize = 3;
const FOLDED_TAIL_LINES: usize = 3;
/// Rows of a folded diff.
const FOLDED_DIFF_ROWS: usize = 12;
/// Lines of an opened output; the newest are shown.
const OPEN_LINES_MAX: usize = 2_000;
/// Bytes looked at for a few lines: one enormous line must not be laid out to show its first columns.
const FEW_LINES_BYTES_MAX: usize = 16 * 1024;
/// Columns by which diff and output stand under the headline.
const INDENT: u16 = 2;
/// Tools whose summary says what a person wants to know: the output is for the model.
const LOOKING: [&str; 5] = ["read", "list", "glob", "grep", "fetch"];

pub fn render(tool: &ToolCell, fold: Fold, width: u16, theme: &Theme) -> Vec<Line<'static>> {
    let mut rows = vec![headline(tool, width, theme)];
    let inner = width.saturating_sub(INDENT);
    if inner == 0 {
        return rows;
    }
    if let Some(unified) = &tool.diff {
        let path = subject(tool);
        rows.extend(diff_rows(unified, &path, fold, inner, theme).into_iter().map(indented));
    }
    // The result of a change repeats its diff; what went wrong is said in words.
    if tool.diff.is_none() || tool.state != ToolState::Done {
        rows.extend(output_rows(tool, fold, inner, theme).into_iter().map(indented));
    }
    rows
}

fn headline(tool: &ToolCell, width: u16, theme: &Theme) -> Line<'static> {
    let (mark, role) = mark(tool);
    let name = sanitize::line(&tool.tool);
    let (suffix, counts) = match (&tool.diff, &tool.summary) {
        (Some(unified), _) => (String::new(), Some(changed_lines(unified))),
        (None, Some(summary)) => (format!(" ({})", sanitize::line(summary)), None),
        (None, None) => (String::new(), None),
    };
    let counts = counts.map(|(added, removed)| (format!("  +{added}"), format!(" −{removed}")));
    let counts_columns =
        counts.as_ref().map_or(0, |(added, removed)| added.len() + columns::columns(removed));
    let fixed = 2 + columns::columns(&name) + 1 + columns::columns(&suffix) + counts_columns;
    let room = usize::from(width).saturating_sub(fixed).max(1);
    let subject = columns::ellipsis(&subject(tool), room);
    let mut spans = vec![
        Span::styled(format!("{mark} "), theme.style(role)),
        Span::styled(name, theme.style(Role::Text)),
    ];
    if !subject.is_empty() {
        spans.push(Span::styled(format!(" {subject}"), theme.style(Role::Code)));
    }
    spans.push(Span::styled(suffix, theme.style(Role::Dim)));
    if let Some((added, removed)) = counts {
        spans.push(Span::styled(added, theme.style(Role::Added)));
        spans.push(Span::styled(removed, theme.style(Role::Removed)));
    }
    cut_row(spans, usize::from(width))
}

/// The subject as one line; a command of megabytes is not looked at whole.
fn subject(tool: &ToolCell) -> String {
    let end = cut::floor_boundary(&tool.subject, FEW_LINES_BYTES_MAX);
    sanitize::line(&tool.subject[..end])
}

fn mark(tool: &ToolCell) -> (&'static str, Role) {
    match tool.state {
        ToolState::Writing | ToolState::Waiting => ("·", Role::Dim),
        ToolState::Asking => ("?", Role::Warning),
        ToolState::Running => ("•", Role::Accent),
        ToolState::Done if tool.diff.is_some() => ("±", Role::Success),
        ToolState::Done => ("✓", Role::Success),
        ToolState::Failed => ("✗", Role::Error),
        ToolState::Denied => ("⊘", Role::Warning),
        ToolState::Interrupted => ("⏹", Role::Dim),
    }
}

/// Returns the numbers of added and removed lines. Before the first hunk `+` and `-` begin file names.
fn changed_lines(unified: &str) -> (usize, usize) {
    let hunks = || unified.lines().skip_while(|line| !line.starts_with("@@"));
    let count = |sign: char| hunks().filter(|line| line.starts_with(sign)).count();
    (count('+'), count('-'))
}

fn diff_rows(
    unified: &str,
    path: &str,
    fold: Fold,
    width: u16,
    theme: &Theme,
) -> Vec<Line<'static>> {
    let total = unified.lines().count();
    let few = FOLDED_DIFF_ROWS + 4;
    let end = match fold {
        Fold::Folded => nth_line_end(unified, few),
        Fold::Open => unified.len(),
    };
    let mut rows = diff::render(&sanitize::clean_code(&unified[..end]), path, width, theme);
    if fold == Fold::Folded {
        let left_out = total.saturating_sub(few);
        if left_out > 0 || rows.len() > FOLDED_DIFF_ROWS + 1 {
            let hidden = left_out + rows.len().saturating_sub(FOLDED_DIFF_ROWS);
            rows.truncate(FOLDED_DIFF_ROWS);
            rows.push(super::more(hidden, width, theme));
        }
    }
    rows
}

fn output_rows(tool: &ToolCell, fold: Fold, width: u16, theme: &Theme) -> Vec<Line<'static>> {
    let output = tool.output.trim_end_matches(['\n', '\r', ' ']);
    if output.is_empty() {
        return Vec::new();
    }
    if tool.state == ToolState::Running {
        return few_lines(newest(output, LIVE_LINES), width, theme);
    }
    if tool.is_list {
        return wrapped(output, width, theme);
    }
    let total = output.bytes().filter(|byte| *byte == b'\n').count() + 1;
    match (tool.state, fold) {
        (ToolState::Done, Fold::Folded)
            if tool.summary.is_some() && LOOKING.contains(&tool.tool.as_str()) =>
        {
            Vec::new()
        }
        (_, Fold::Folded) => {
            if total <= FOLDED_HEAD_LINES + FOLDED_TAIL_LINES + 1 {
                return few_lines(output, width, theme);
            }
            let head = &output[..nth_line_end(output, FOLDED_HEAD_LINES)];
            let mut rows = few_lines(head.trim_end_matches('\n'), width, theme);
            rows.push(super::more(total - FOLDED_HEAD_LINES - FOLDED_TAIL_LINES, width, theme));
            rows.extend(few_lines(newest(output, FOLDED_TAIL_LINES), width, theme));
            rows
        }
        (_, Fold::Open) => {
            let mut rows = Vec::new();
            if total > OPEN_LINES_MAX {
                let text =
                    format!("… {} earlier lines are in the session's file", total - OPEN_LINES_MAX);
                let text = columns::ellipsis(&text, usize::from(width));
                rows.push(Line::styled(text, theme.style(Role::Dim)));
            }
            rows.extend(wrapped(last_lines(output, OPEN_LINES_MAX), width, theme));
            rows
        }
    }
}

/// All of a text, in as many rows as it needs.
fn wrapped(text: &str, width: u16, theme: &Theme) -> Vec<Line<'static>> {
    let lines = sanitize::styled(text).into_iter();
    lines.flat_map(|line| flow::wrap(&Line::from(spans(line, theme)), width, 0)).collect()
}

/// One row a line, cut at the width.
fn few_lines(text: &str, width: u16, theme: &Theme) -> Vec<Line<'static>> {
    let end = cut::floor_boundary(text, FEW_LINES_BYTES_MAX);
    let lines = sanitize::styled(&text[..end]).into_iter();
    lines.map(|line| cut_row(spans(line, theme), usize::from(width))).collect()
}

fn spans(line: StyledLine, theme: &Theme) -> Vec<Span<'static>> {
    line.into_iter().map(|(sgr, run)| Span::styled(run, theme.output(sgr))).collect()
}

/// Returns the spans as one row, with `…` where they do not fit.
pub(super) fn cut_row(spans: Vec<Span<'static>>, width: usize) -> Line<'static> {
    let total: usize = spans.iter().map(|span| columns::columns(&span.content)).sum();
    if total <= width {
        return Line::from(spans);
    }
    let mut left = width.saturating_sub(1);
    let mut kept = Vec::new();
    for span in spans {
        let text = columns::cut(&span.content, left);
        left -= columns::columns(text);
        let is_cut = text.len() < span.content.len();
        let text = if is_cut && width > 0 { format!("{text}…") } else { text.to_owned() };
        kept.push(Span::styled(text, span.style));
        if is_cut {
            break;
        }
    }
    Line::from(kept)
}

fn indented(mut row: Line<'static>) -> Line<'static> {
    row.spans.insert(0, Span::raw(" ".repeat(usize::from(INDENT))));
    row
}

/// Returns where the first `lines` lines end.
fn nth_line_end(text: &str, lines: usize) -> usize {
    text.match_indices('\n').nth(lines.saturating_sub(1)).map_or(text.len(), |(at, _)| at + 1)
}

/// Returns the last lines, without the beginning of an enormous one.
fn newest(text: &str, lines: usize) -> &str {
    let last = last_lines(text, lines);
    if last.len() <= FEW_LINES_BYTES_MAX {
        return last;
    }
    let last = &last[cut::ceil_boundary(last, last.len() - FEW_LINES_BYTES_MAX)..];
    // A cut may have gone through an escape sequence; behind a line's start or a carriage return it has not.
    last.find(['\n', '\r']).map_or(last, |at| &last[at + 1..])
}

fn last_lines(text: &str, lines: usize) -> &str {
    let start = text.rmatch_indices('\n').nth(lines.saturating_sub(1)).map_or(0, |(at, _)| at + 1);
    &text[start..]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(state: ToolState, output: &str) -> ToolCell {
        ToolCell {
            tool: "bash".to_owned(),
            subject: "make".to_owned(),
            state,
            output: output.to_owned(),
            is_list: false,
            diff: None,
            summary: None,
        }
    }

    fn check(tool: &ToolCell, fold: Fold, width: u16, wanted: &[&str]) {
        let rows: Vec<String> =
            render(tool, fold, width, &Theme::plain()).iter().map(ToString::to_string).collect();
        assert_eq!(rows, wanted);
    }

    fn numbered(lines: usize) -> String {
        (1..=lines).map(|n| format!("{n}\n")).collect()
    }

    #[test]
    fn every_state_has_its_mark() {
        for (state, wanted) in [
            (ToolState::Writing, "· bash make"),
            (ToolState::Waiting, "· bash make"),
            (ToolState::Asking, "? bash make"),
            (ToolState::Running, "• bash make"),
            (ToolState::Done, "✓ bash make"),
            (ToolState::Failed, "✗ bash make"),
            (ToolState::Denied, "⊘ bash make"),
            (ToolState::Interrupted, "⏹ bash make"),
        ] {
            check(&call(state, ""), Fold::Folded, 40, &[wanted]);
        }
    }

    #[test]
    fn folded_output_shows_its_ends() {
        let tool = call(ToolState::Done, &numbered(9));
        let wanted =
            ["✓ bash make", "  1", "  2", "  3", "  … +3 lines (Ctrl+O)", "  7", "  8", "  9"];
        check(&tool, Fold::Folded, 40, &wanted);
        assert_eq!(render(&tool, Fold::Open, 40, &Theme::plain()).len(), 10);
        check(&call(ToolState::Done, "1\n2\n"), Fold::Folded, 40, &["✓ bash make", "  1", "  2"]);
    }

    // T08: progress bars of megabytes show their last state, and cost what they show.
    #[test]
    fn live_output_shows_the_newest_state() {
        let bar: String = (0..200_000).map(|n| format!("\r{n:>7} of 200000")).collect();
        check(
            &call(ToolState::Running, &bar),
            Fold::Folded,
            40,
            &["• bash make", "   199999 of 200000"],
        );
    }

    #[test]
    fn a_long_subject_leaves_room_for_the_summary() {
        let mut tool = call(ToolState::Done, "x");
        tool.tool = "read".to_owned();
        tool.subject = "src/a/very/long/path/of/a/file.rs".to_owned();
        tool.summary = Some("214 lines".to_owned());
        check(&tool, Fold::Folded, 30, &["✓ read src/a/very… (214 lines)"]);
    }

    #[test]
    fn a_folded_diff_is_cut_and_counted() {
        let lines: String = (0..100).map(|n| format!("+{n}\n")).collect();
        let mut tool = call(ToolState::Done, "");
        tool.diff = Some(format!("--- a\n+++ b\n@@ -1,1 +1,100 @@\n{lines}--- gone\n"));
        let rows = render(&tool, Fold::Folded, 40, &Theme::plain());
        assert_eq!(rows[0].to_string(), "± bash make  +100 −1");
        assert_eq!(rows.len(), 1 + FOLDED_DIFF_ROWS + 1);
    }
}
