//! Which words of a changed line changed.
//!
//! Invariant: the marks depend on the text alone, so the work is limited by sizes, not by a clock.

use similar::{Algorithm, ChangeTag, utils::diff_words};

use super::parse::{Row, Sign};

/// A line that is compared by words, in bytes.
const LINE_BYTES_MAX: usize = 400;
/// Pairs that are compared in one diff.
const PAIRS_MAX: usize = 1_000;
/// Share of a pair that is equal, in percent, below which marks would only be noise.
const EQUAL_PERCENT_MIN: usize = 40;

type Marks = Vec<(usize, usize)>;

/// Byte ranges that changed, for each row.
pub fn marks(rows: &[Row<'_>]) -> Vec<Marks> {
    let mut all = vec![Marks::new(); rows.len()];
    let mut pairs_left = PAIRS_MAX;
    let mut at = 0;
    while at < rows.len() {
        let removed = run(rows, at, Sign::Removed);
        let added = run(rows, at + removed, Sign::Added);
        // Lines are paired in order, and only where their counts agree: else the pairs are guesses.
        if removed == added {
            for old in (at..at + removed).take(pairs_left) {
                let new = old + removed;
                (all[old], all[new]) = pair(text(&rows[old]), text(&rows[new]));
            }
            pairs_left = pairs_left.saturating_sub(removed);
        }
        at += (removed + added).max(1);
    }
    all
}

fn run(rows: &[Row<'_>], start: usize, sign: Sign) -> usize {
    rows[start..].iter().take_while(|row| row.sign() == Some(sign)).count()
}

fn text<'a>(row: &Row<'a>) -> &'a str {
    match row {
        Row::Text { text, .. } | Row::Raw(text) => text,
        Row::Hunk => "",
    }
}

fn pair(old: &str, new: &str) -> (Marks, Marks) {
    let mut marks = (Marks::new(), Marks::new());
    if old.len().max(new.len()) > LINE_BYTES_MAX {
        return marks;
    }
    let (mut old_at, mut new_at, mut equal) = (0, 0, 0);
    for (tag, part) in diff_words(Algorithm::Myers, old, new) {
        match tag {
            ChangeTag::Equal => {
                equal += part.trim().len();
                old_at += part.len();
                new_at += part.len();
            }
            ChangeTag::Delete => {
                marks.0.push((old_at, old_at + part.len()));
                old_at += part.len();
            }
            ChangeTag::Insert => {
                marks.1.push((new_at, new_at + part.len()));
                new_at += part.len();
            }
        }
    }
    let longest = old.trim().len().max(new.trim().len());
    if equal * 100 < longest * EQUAL_PERCENT_MIN { (Marks::new(), Marks::new()) } else { marks }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_changed_words_are_marked() {
        assert_eq!(pair("let é = one;", "let é = two;"), (vec![(9, 13)], vec![(9, 13)]));
        assert_eq!(pair("abc", "xyz"), (vec![], vec![]));
    }
}
