//! Unified diffs to lines: numbers, marks, words, syntax colours.
//!
//! Invariants: every line of the diff is shown whole; marks tell added from removed without colour; a damaged
//! diff shows its raw lines. Not here: making diffs, and the side-by-side view.

mod parse;
mod words;

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::ui::flow;
use crate::ui::highlight::LineHighlighter;
use crate::ui::theme::{Role, Theme};
use parse::{Row, Sign};

/// A diff that gets syntax colours, in bytes: parsing runs at 1 to 2 MB/s.
const SYNTAX_BYTES_MAX: usize = 200_000;
/// Columns of text below which line numbers are left out.
const TEXT_COLUMNS_MIN: usize = 20;

/// Added and removed lines.
pub fn stats(unified: &str) -> (usize, usize) {
    let rows = parse::rows(unified);
    let count = |wanted: Sign| rows.iter().filter(|row| row.sign() == Some(wanted)).count();
    (count(Sign::Added), count(Sign::Removed))
}

/// Lays out a unified diff of the file at `path`.
pub fn render(unified: &str, path: &str, width: u16, theme: &Theme) -> Vec<Line<'static>> {
    let rows = parse::rows(unified);
    let last_number = rows.iter().map(Row::number_max).max().unwrap_or(0);
    let digits = last_number.to_string().len().max(2);
    let has_numbers = usize::from(width) >= 2 * digits + 4 + TEXT_COLUMNS_MIN;
    let painter = Painter { width: width.max(1), theme, digits, has_numbers };
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
    let language = name.rsplit('.').next().unwrap_or_default();
    let syntax =
        if unified.len() > SYNTAX_BYTES_MAX { None } else { LineHighlighter::new(language) };
    let mut sides = Sides { fresh: syntax.clone(), new: syntax.clone(), old: syntax };
    let marks = words::marks(&rows);
    let mut lines = Vec::new();
    let mut hunk_count = 0;
    for (row, marks) in rows.iter().zip(&marks) {
        match row {
            Row::Hunk => {
                if hunk_count > 0 {
                    lines.push(painter.separator());
                }
                hunk_count += 1;
                sides.restart();
            }
            Row::Raw(text) => lines.extend(painter.raw(text)),
            Row::Text { sign, old, new, text } => {
                let colours = sides.line(*sign, text, theme);
                lines.extend(painter.text(*sign, (*old, *new), text, marks, colours));
            }
        }
    }
    lines
}

/// Parse states of the file before and after.
struct Sides {
    fresh: Option<LineHighlighter>,
    new: Option<LineHighlighter>,
    old: Option<LineHighlighter>,
}

impl Sides {
    fn restart(&mut self) {
        self.new.clone_from(&self.fresh);
        self.old.clone_from(&self.fresh);
    }

    fn line(&mut self, sign: Sign, text: &str, theme: &Theme) -> Option<Line<'static>> {
        match sign {
            Sign::Added => self.new.as_mut().map(|state| state.line(text, theme)),
            Sign::Removed => self.old.as_mut().map(|state| state.line(text, theme)),
            Sign::Same => {
                let line = self.new.as_mut().map(|state| state.line(text, theme));
                // Where both files are the same again, so nearly always are their states.
                self.old.clone_from(&self.new);
                line
            }
        }
    }
}

struct Painter<'a> {
    width: u16,
    theme: &'a Theme,
    digits: usize,
    has_numbers: bool,
}

impl Painter<'_> {
    fn separator(&self) -> Line<'static> {
        let lead = if self.has_numbers { 2 * self.digits + 2 } else { 0 };
        Line::from(Span::styled(format!("{}⋯", " ".repeat(lead)), self.theme.style(Role::Dim)))
    }

    fn raw(&self, text: &str) -> Vec<Line<'static>> {
        let line = Line::from(Span::styled(text.to_owned(), self.theme.style(Role::Dim)));
        flow::wrap(&line, self.width, 2)
    }

    fn text(
        &self,
        sign: Sign,
        (old, new): (Option<usize>, Option<usize>),
        text: &str,
        marks: &[(usize, usize)],
        colours: Option<Line<'static>>,
    ) -> Vec<Line<'static>> {
        let (mark, role, word_role) = match sign {
            Sign::Added => ("+ ", Role::Added, Role::AddedWord),
            Sign::Removed => ("- ", Role::Removed, Role::RemovedWord),
            Sign::Same => ("  ", Role::Text, Role::Text),
        };
        let base = self.theme.style(role);
        // A role without a background tells by its foreground alone, which syntax colours would hide.
        let colours = colours.filter(|_| sign == Sign::Same || base.bg.is_some());
        let spans = colours.map_or_else(
            || vec![Span::styled(text.to_owned(), base)],
            |line| {
                line.spans
                    .into_iter()
                    .map(|span| Span::styled(span.content, base.patch(span.style)))
                    .collect()
            },
        );
        let mut gutter = Vec::new();
        if self.has_numbers {
            let digits = self.digits;
            let shown =
                |number: Option<usize>| number.map(|number| number.to_string()).unwrap_or_default();
            let numbers = format!("{:>digits$} {:>digits$} ", shown(old), shown(new));
            gutter.push(Span::styled(numbers, self.theme.style(Role::Dim)));
        }
        gutter.push(Span::styled(mark, base));
        let lead = gutter.iter().map(Span::width).sum::<usize>();
        let has_room = usize::from(self.width) > lead + 2;
        let room = if has_room { self.width - lead as u16 } else { self.width };
        let line = Line::from(marked(spans, marks, self.theme.style(word_role)));
        let rows = if has_room {
            flow::wrap(&line, room, 0)
        } else {
            flow::wrap(&joined(gutter.clone(), line), room, 0)
        };
        if !has_room {
            return rows;
        }
        let blank = Span::styled(" ".repeat(lead), Style::new());
        rows.into_iter()
            .enumerate()
            .map(|(index, row)| {
                if index == 0 {
                    joined(gutter.clone(), row)
                } else {
                    joined(vec![blank.clone()], row)
                }
            })
            .collect()
    }
}

fn joined(mut lead: Vec<Span<'static>>, line: Line<'static>) -> Line<'static> {
    lead.extend(line.spans);
    Line::from(lead)
}

/// Lays a style over byte ranges of the spans' joined text.
fn marked(spans: Vec<Span<'static>>, marks: &[(usize, usize)], style: Style) -> Vec<Span<'static>> {
    if marks.is_empty() {
        return spans;
    }
    let mut all = Vec::new();
    let mut offset = 0;
    for span in spans {
        let end = offset + span.content.len();
        let mut at = offset;
        let mut push = |from: usize, to: usize, style: Style| {
            if let Some(text) =
                span.content.get(from - offset..to - offset).filter(|text| !text.is_empty())
            {
                all.push(Span::styled(text.to_owned(), style));
            }
        };
        for &(from, to) in marks.iter().filter(|(from, to)| *from < end && *to > offset) {
            let (from, to) = (from.max(at), to.min(end));
            push(at, from, span.style);
            push(from, to, span.style.patch(style));
            at = to;
        }
        push(at, end, span.style);
        offset = end;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const DIFF: &str = "--- a/x.rs\n+++ b/x.rs\n@@ -1,3 +1,3 @@\n fn a() {\n-    old(1)\n+    new(1)\n }\n@@ -9 +9,2 @@\n z\n+y\n";

    fn shown(unified: &str, width: u16) -> String {
        render(unified, "x.rs", width, &Theme::plain())
            .iter()
            .map(|line| format!("{line}\n"))
            .collect()
    }

    #[test]
    fn lines_have_numbers_marks_and_separators() {
        let wanted = " 1  1   fn a() {\n 2    -     old(1)\n    2 +     new(1)\n 3  3   }\n      ⋯\n 9  9   z\n   10 + y\n";
        assert_eq!(shown(DIFF, 80), wanted);
        assert_eq!(stats(DIFF), (2, 1));
    }

    #[test]
    fn a_damaged_diff_shows_its_lines() {
        assert_eq!(shown("what\n@@ nonsense\n+a", 80), "what\n@@ nonsense\n+a\n");
        assert_eq!(stats("+a\n-b"), (0, 0));
    }

    #[test]
    fn long_lines_hang_under_their_text() {
        let text = "@@ -1 +1 @@\n+aaaa bbbb cccc dddd eeee ffff\n";
        assert_eq!(shown(text, 30), "    1 + aaaa bbbb cccc dddd\n        eeee ffff\n");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        // T14: any text and any width are drawn without a panic and within the width.
        #[test]
        fn any_diff_fits(lines in prop::collection::vec("(@@ -1,3 \\+1,3 @@|[-+ ][a-z 漢👍]{0,30}|\\PC{0,20})", 0..12), width in 0_u16..60) {
            for row in render(&lines.join("\n"), "x.rs", width, &Theme::plain()) {
                prop_assert!(flow::line_width(&row) <= usize::from(width).max(2));
            }
        }
    }
}
