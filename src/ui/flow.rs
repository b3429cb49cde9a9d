//! Word wrap of styled lines.
//!
//! Invariants: a cluster is never cut; the rows hold the text of the line apart from spaces at breaks; spaces
//! at the end make no row; no width panics. A row is wider than asked only if one cluster alone is.

use ratatui::text::{Line, Span};

use crate::base::text::width;

/// Columns of a line.
pub fn line_width(line: &Line<'_>) -> usize {
    line.spans.iter().map(|span| width::columns(&span.content)).sum()
}

/// Wraps a line into rows of at most `width` columns; rows after the first begin with `indent` spaces.
///
/// An indent that leaves no room is dropped. Returns at least one row.
pub fn wrap(line: &Line<'static>, width: u16, indent: u16) -> Vec<Line<'static>> {
    let width = usize::from(width.max(1));
    if line_width(line) <= width {
        return vec![line.clone()];
    }
    let indent = if usize::from(indent) + 1 < width { usize::from(indent) } else { 0 };
    let pieces = pieces(line);
    let mut rows = Vec::new();
    let mut start = 0;
    while let Some((begin, end, next)) =
        row(&pieces, start, if rows.is_empty() { width } else { width - indent })
    {
        let lead = if rows.is_empty() { 0 } else { indent };
        rows.push(built(line, &pieces[begin..end], lead));
        start = next;
    }
    if rows.is_empty() {
        rows.push(built(line, &[], 0));
    }
    rows
}

/// One cluster: where it is, and its columns.
#[derive(Debug, Clone, Copy)]
struct Piece {
    span: usize,
    start: usize,
    end: usize,
    columns: usize,
    is_space: bool,
}

fn pieces(line: &Line<'_>) -> Vec<Piece> {
    let bytes = line.spans.iter().map(|span| span.content.len()).sum();
    let mut all = Vec::with_capacity(bytes);
    for (span, content) in line.spans.iter().map(|span| span.content.as_ref()).enumerate() {
        if content.is_ascii() {
            all.extend(content.bytes().enumerate().map(|(start, byte)| Piece {
                span,
                start,
                end: start + 1,
                columns: 1,
                is_space: byte == b' ',
            }));
            continue;
        }
        let mut start = 0;
        for (cluster, columns) in width::graphemes(content) {
            let end = start + cluster.len();
            all.push(Piece { span, start, end, columns, is_space: cluster == " " });
            start = end;
        }
    }
    all
}

/// Returns where the row from `start` begins and ends, and where the next begins; `None` if only spaces are left.
fn row(pieces: &[Piece], start: usize, width: usize) -> Option<(usize, usize, usize)> {
    let first_word = start + pieces[start..].iter().position(|piece| !piece.is_space)?;
    let mut used = 0;
    let mut end = start;
    let mut break_at = None;
    while let Some(piece) = pieces.get(end) {
        let breaks_here = piece.is_space && !pieces[end.saturating_sub(1)].is_space;
        if end > first_word && (breaks_here || piece.columns == 2) {
            break_at = Some(end);
        }
        used += piece.columns;
        if used > width {
            break;
        }
        end += 1;
    }
    if end == pieces.len() {
        return Some((start, end, end));
    }
    // Leading spaces that fill the row are a break; they give way to the first word.
    if end <= first_word && first_word > start {
        return row(pieces, first_word, width);
    }
    let end = break_at.unwrap_or(end.max(start + 1));
    let spaces = pieces[end..].iter().take_while(|piece| piece.is_space).count();
    Some((start, end, end + spaces))
}

fn built(line: &Line<'static>, pieces: &[Piece], lead: usize) -> Line<'static> {
    let mut spans: Vec<Span<'static>> = Vec::new();
    if lead > 0 {
        spans.push(Span::raw(" ".repeat(lead)));
    }
    let used = pieces.len() - pieces.iter().rev().take_while(|piece| piece.is_space).count();
    for run in pieces[..used].chunk_by(|a, b| a.span == b.span) {
        let (first, last) = (run[0], run[run.len() - 1]);
        let span = &line.spans[first.span];
        let content = span.content.get(first.start..last.end).unwrap_or_default();
        spans.push(Span::styled(content.to_owned(), span.style));
    }
    Line { spans, style: line.style, alignment: line.alignment }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use ratatui::style::Style;

    fn texts(rows: &[Line<'_>]) -> Vec<String> {
        rows.iter().map(ToString::to_string).collect()
    }

    // T14: emoji and wide text are cut between clusters, never inside.
    #[test]
    fn words_wrap_and_long_words_are_cut() {
        for (text, width, indent, wanted) in [
            ("one two three", 7, 0, vec!["one two", "three"]),
            ("one two three", 7, 2, vec!["one two", "  three"]),
            ("one   ", 3, 0, vec!["one"]),
            ("abcdefgh", 3, 0, vec!["abc", "def", "gh"]),
            ("a abcdefgh", 4, 0, vec!["a", "abcd", "efgh"]),
            ("漢字漢字", 5, 0, vec!["漢字", "漢字"]),
            ("漢字", 1, 0, vec!["漢", "字"]),
            ("ab", 0, 9, vec!["a", "b"]),
            ("    ", 2, 0, vec![""]),
            ("  ab cd", 4, 0, vec!["  ab", "cd"]),
            ("    é", 1, 0, vec!["é"]),
            ("👩‍👩‍👧👩‍👩‍👧", 2, 0, vec!["👩‍👩‍👧", "👩‍👩‍👧"]),
        ] {
            assert_eq!(texts(&wrap(&Line::from(text), width, indent)), wanted, "{text} in {width}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]
        #[test]
        fn wrapping_keeps_the_text_and_the_width(
            parts in prop::collection::vec("[a-c 漢é👍]{0,12}", 0..6), width in 0_u16..20, indent in 0_u16..8,
        ) {
            let line = Line::from(parts.into_iter().map(|part| Span::styled(part, Style::new())).collect::<Vec<_>>());
            let rows = wrap(&line, width, indent);
            let solid = |text: String| text.replace(' ', "");
            prop_assert_eq!(solid(texts(&rows).concat()), solid(line.to_string()));
            prop_assert!(rows.iter().all(|row| line_width(row) <= usize::from(width).max(2)));
        }
    }
}
