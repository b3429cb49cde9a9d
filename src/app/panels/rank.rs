//! The one fuzzy ranking: of commands, models, themes, files, sessions.
//!
//! Pure, so that a worker thread can rank what is too long for the loop. Invariant: rows of equal score keep
//! the given order, and an empty filter keeps it for all.

use std::cmp::Reverse;

use nucleo::pattern::{AtomKind, CaseMatching, Normalization, Pattern};
use nucleo::{Config, Matcher, Utf32Str};

/// What a filter is held against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subject<'a> {
    pub label: &'a str,
    /// Found too, but after every row whose label matches.
    pub detail: &'a str,
}

/// Which clusters of a subject the filter matched, by their index from 0.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Matches {
    pub label: Vec<usize>,
    pub detail: Vec<usize>,
}

/// A filter, ready to be held against many subjects.
pub struct Ranker {
    pattern: Pattern,
    matcher: Matcher,
    letters: Vec<char>,
}

impl std::fmt::Debug for Ranker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ranker").field("pattern", &self.pattern).finish_non_exhaustive()
    }
}

/// Better is smaller: a match in the label first, then the higher score.
type Rank = (bool, Reverse<u32>);

impl Ranker {
    /// Words of the filter match each for itself; a capital letter makes the case matter.
    pub fn new(filter: &str) -> Self {
        let pattern =
            Pattern::new(filter, CaseMatching::Smart, Normalization::Smart, AtomKind::Fuzzy);
        Self { pattern, matcher: Matcher::new(Config::DEFAULT), letters: Vec::new() }
    }

    fn rank(&mut self, subject: Subject<'_>) -> Option<Rank> {
        let label = Utf32Str::new(subject.label, &mut self.letters);
        if let Some(score) = self.pattern.score(label, &mut self.matcher) {
            return Some((false, Reverse(score)));
        }
        if subject.detail.is_empty() {
            return None;
        }
        let both = both(subject);
        let both = Utf32Str::new(&both, &mut self.letters);
        let score = self.pattern.score(both, &mut self.matcher)?;
        Some((true, Reverse(score)))
    }

    /// Returns what to highlight.
    pub fn matches(&mut self, subject: Subject<'_>) -> Matches {
        let mut found = Vec::new();
        let label = Utf32Str::new(subject.label, &mut self.letters);
        if self.pattern.indices(label, &mut self.matcher, &mut found).is_some() {
            return Matches { label: sorted(&found, 0), detail: Vec::new() };
        }
        let label_len = u32::try_from(label.len()).unwrap_or(u32::MAX);
        found.clear();
        let both = both(subject);
        let both = Utf32Str::new(&both, &mut self.letters);
        if self.pattern.indices(both, &mut self.matcher, &mut found).is_none() {
            return Matches::default();
        }
        let (in_label, rest): (Vec<u32>, Vec<u32>) =
            found.into_iter().partition(|index| *index < label_len);
        Matches { label: sorted(&in_label, 0), detail: sorted(&rest, label_len.saturating_add(1)) }
    }
}

fn both(subject: Subject<'_>) -> String {
    format!("{} {}", subject.label, subject.detail)
}

/// Indices from `first` on, in order and without doubles: several words may match one letter.
fn sorted(found: &[u32], first: u32) -> Vec<usize> {
    let mut indices: Vec<usize> = found
        .iter()
        .filter_map(|index| index.checked_sub(first))
        .filter_map(|index| usize::try_from(index).ok())
        .collect();
    indices.sort_unstable();
    indices.dedup();
    indices
}

/// Returns the indices of the subjects that match `filter`, best first.
pub fn rank<'a>(filter: &str, subjects: impl IntoIterator<Item = Subject<'a>>) -> Vec<usize> {
    let subjects = subjects.into_iter().enumerate();
    if filter.trim().is_empty() {
        return subjects.map(|(index, _)| index).collect();
    }
    let mut ranker = Ranker::new(filter);
    let mut found: Vec<(Rank, usize)> =
        subjects.filter_map(|(index, subject)| Some((ranker.rank(subject)?, index))).collect();
    found.sort_unstable();
    found.into_iter().map(|(_, index)| index).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(filter: &str, rows: &[(&str, &str)], wanted: &[usize]) {
        let subjects = rows.iter().map(|(label, detail)| Subject { label, detail });
        assert_eq!(rank(filter, subjects), wanted, "{filter:?}");
    }

    #[test]
    fn an_empty_filter_and_equal_scores_keep_the_given_order() {
        let rows = [("b", ""), ("a", ""), ("c", "")];
        check("", &rows, &[0, 1, 2]);
        check("  ", &rows, &[0, 1, 2]);
        check("x", &[("xa", ""), ("b", ""), ("xc", "")], &[0, 2]);
    }

    #[test]
    fn a_match_in_the_label_comes_before_one_in_the_detail() {
        let rows = [("fork", "start a new session here"), ("sessions", "list them")];
        check("session", &rows, &[1, 0]);
        check("fork session", &rows, &[0]);
        check("zzz", &rows, &[]);
    }

    // T14: indices count clusters, so a highlight covers the right cells although folding changes lengths.
    #[test]
    fn highlights_count_clusters() {
        for (filter, label, wanted) in [
            ("ab", "xaxb", vec![1, 3]),
            ("字", "漢字", vec![1]),
            ("x", "👩‍👩‍👧 x", vec![2]),
            ("b", "İb", vec![1]),
        ] {
            let matches = Ranker::new(filter).matches(Subject { label, detail: "" });
            assert_eq!(matches.label, wanted, "{filter} in {label}");
        }
        let subject = Subject { label: "ab", detail: "cd" };
        let matches = Ranker::new("a d").matches(subject);
        assert_eq!(matches, Matches { label: vec![0], detail: vec![1] });
    }
}
