//! The one list: commands, models, themes, files, sessions, history, queue.
//!
//! Typing filters, the highlighted row can be chosen. Invariants: the highlighted row exists unless no row
//! matches; what is shown of a row holds no control character, while its key is kept as given. Not here:
//! what a chosen row means (`update::panel`), and lists too long for the loop (a worker ranks them and the
//! picker shows its results).

use unicode_segmentation::UnicodeSegmentation;

use super::rank::{self, Matches, Ranker, Subject};
use crate::app::action::ListMove;
use crate::app::key::{Key, KeyCode};
use crate::base::text::sanitize;

/// Clusters that a filter may have; a paste beyond them is cut.
const FILTER_CLUSTERS_MAX: usize = 200;

/// Rows of a page until the view says how many it shows.
const PAGE_ROWS: usize = 10;

/// One row of a list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PickerRow {
    /// What the app knows the row by; never shown.
    pub key: String,
    pub label: String,
    /// More about it, found by the filter too.
    pub detail: String,
    /// Short, at the right edge: a key, an age.
    pub hint: String,
}

/// Who filters the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    /// The picker itself, at each key.
    Own,
    /// A worker, which was last heard of a filter and knows how many rows there are in all.
    Worker { row_count: usize },
}

/// What a key did to the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PickerOutcome {
    Nothing,
    /// Another row is highlighted, as a preview may want to know.
    Moved,
    /// The filter changed: a worker that ranks must hear of it.
    Filtered,
    /// The row of this key was chosen.
    Chosen(String),
    Closed,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picker {
    title: String,
    rows: Vec<PickerRow>,
    source: Source,
    filter: String,
    /// Indices of the matching rows, best first.
    order: Vec<usize>,
    /// Index in `order`.
    selected: usize,
    page_rows: usize,
}

/// A row as the view draws it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownRow<'a> {
    pub row: &'a PickerRow,
    pub matches: Matches,
    pub is_selected: bool,
}

impl Picker {
    /// A list that filters itself; for up to some 2,000 rows.
    pub fn new(title: impl Into<String>, rows: Vec<PickerRow>) -> Self {
        let mut picker = Self {
            title: sanitize::line(&title.into()),
            rows: Vec::new(),
            source: Source::Own,
            filter: String::new(),
            order: Vec::new(),
            selected: 0,
            page_rows: PAGE_ROWS,
        };
        picker.set_rows(rows);
        picker
    }

    /// A list whose rows a worker ranks; empty until [`Picker::set_results`].
    pub fn ranked_by_worker(title: impl Into<String>) -> Self {
        Self { source: Source::Worker { row_count: 0 }, ..Self::new(title, Vec::new()) }
    }

    /// Replaces all rows; the highlight stays on its row if that is still there.
    pub fn set_rows(&mut self, rows: Vec<PickerRow>) {
        let key = self.selected().map(|row| row.key.clone());
        self.rows = rows.into_iter().map(safe_row).collect();
        self.rank();
        self.selected = key.and_then(|key| self.index_of(&key)).unwrap_or(0);
    }

    /// Takes a worker's rows for `filter`, best first, of `row_count` in all; false if the filter has
    /// changed since, and then they are not taken.
    pub fn set_results(&mut self, filter: &str, rows: Vec<PickerRow>, row_count: usize) -> bool {
        if filter != self.filter {
            return false;
        }
        self.source = Source::Worker { row_count };
        self.set_rows(rows);
        true
    }

    /// Highlights the row of `key`, such as the model in use.
    pub fn select(&mut self, key: &str) {
        if let Some(index) = self.index_of(key) {
            self.selected = index;
        }
    }

    /// Sets how many rows the view shows, for moves by page.
    pub fn set_page_rows(&mut self, rows: usize) {
        self.page_rows = rows.max(1);
    }

    pub fn apply(&mut self, list_move: ListMove) -> PickerOutcome {
        let last = self.order.len().saturating_sub(1);
        match list_move {
            ListMove::Up => self.move_to(self.selected.checked_sub(1).unwrap_or(last)),
            ListMove::Down if self.selected >= last => self.move_to(0),
            ListMove::Down => self.move_to(self.selected + 1),
            ListMove::PageUp => self.move_to(self.selected.saturating_sub(self.page_rows)),
            ListMove::PageDown => self.move_to((self.selected + self.page_rows).min(last)),
            ListMove::First => self.move_to(0),
            ListMove::Last => self.move_to(last),
            ListMove::Choose => self
                .selected()
                .map_or(PickerOutcome::Nothing, |row| PickerOutcome::Chosen(row.key.clone())),
            ListMove::Close => PickerOutcome::Closed,
            ListMove::Erase => {
                let last = self.filter.grapheme_indices(true).next_back().map(|(start, _)| start);
                self.cut_filter(last)
            }
            ListMove::ClearFilter => self.cut_filter((!self.filter.is_empty()).then_some(0)),
        }
    }

    /// Types a key that no binding took into the filter.
    pub fn type_key(&mut self, key: Key) -> PickerOutcome {
        match key.code {
            KeyCode::Char(letter) if key.ctrl == key.alt => {
                self.add_to_filter(letter.encode_utf8(&mut [0; 4]))
            }
            _ => PickerOutcome::Nothing,
        }
    }

    /// A paste is filter text, never keys.
    pub fn paste(&mut self, text: &str) -> PickerOutcome {
        self.add_to_filter(text.trim_end_matches(['\r', '\n']))
    }

    pub fn title(&self) -> &str {
        &self.title
    }
    pub fn filter(&self) -> &str {
        &self.filter
    }
    pub fn selected(&self) -> Option<&PickerRow> {
        self.order.get(self.selected).map(|index| &self.rows[*index])
    }
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }
    /// How many rows match, and of how many.
    pub fn counts(&self) -> (usize, usize) {
        match self.source {
            Source::Own => (self.order.len(), self.rows.len()),
            Source::Worker { row_count } => (self.order.len(), row_count.max(self.order.len())),
        }
    }

    /// The rows for a view of `rows_max` rows, with the highlighted one among them.
    pub fn shown(&self, rows_max: usize) -> Vec<ShownRow<'_>> {
        let top = self
            .selected
            .saturating_sub(rows_max / 2)
            .min(self.order.len().saturating_sub(rows_max));
        let mut ranker = (!self.filter.trim().is_empty()).then(|| Ranker::new(&self.filter));
        let visible = self.order.iter().enumerate().skip(top).take(rows_max);
        visible
            .map(|(index, row_index)| {
                let row = &self.rows[*row_index];
                let matches = ranker.as_mut().map(|ranker| ranker.matches(subject(row)));
                ShownRow {
                    row,
                    matches: matches.unwrap_or_default(),
                    is_selected: index == self.selected,
                }
            })
            .collect()
    }

    fn move_to(&mut self, index: usize) -> PickerOutcome {
        if index == self.selected {
            return PickerOutcome::Nothing;
        }
        self.selected = index;
        PickerOutcome::Moved
    }

    fn index_of(&self, key: &str) -> Option<usize> {
        self.order.iter().position(|index| self.rows[*index].key == key)
    }

    fn add_to_filter(&mut self, text: &str) -> PickerOutcome {
        let room = FILTER_CLUSTERS_MAX.saturating_sub(self.filter.graphemes(true).count());
        // Typed text: what is not a character of it is dropped, not shown as a mark.
        let spaced = text.replace(['\n', '\t'], " ");
        let plain: String = spaced.chars().filter(|c| !c.is_control()).collect();
        let text: String = sanitize::line(&plain).graphemes(true).take(room).collect();
        if text.is_empty() {
            return PickerOutcome::Nothing;
        }
        self.filter.push_str(&text);
        self.filtered()
    }

    fn cut_filter(&mut self, end: Option<usize>) -> PickerOutcome {
        let Some(end) = end else { return PickerOutcome::Nothing };
        self.filter.truncate(end);
        self.filtered()
    }

    fn filtered(&mut self) -> PickerOutcome {
        self.selected = 0;
        self.rank();
        PickerOutcome::Filtered
    }

    fn rank(&mut self) {
        self.order = match self.source {
            Source::Own => rank::rank(&self.filter, self.rows.iter().map(subject)),
            // The worker's order stands until its next results arrive.
            Source::Worker { .. } => (0..self.rows.len()).collect(),
        };
    }
}

fn subject(row: &PickerRow) -> Subject<'_> {
    Subject { label: &row.label, detail: &row.detail }
}

/// The one gate for what a row shows.
fn safe_row(row: PickerRow) -> PickerRow {
    PickerRow {
        key: row.key,
        label: sanitize::line(&row.label),
        detail: sanitize::line(&row.detail),
        hint: sanitize::line(&row.hint),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn row(name: &str) -> PickerRow {
        PickerRow { key: name.to_owned(), label: name.to_owned(), ..PickerRow::default() }
    }

    fn picker(names: &[&str]) -> Picker {
        Picker::new("models", names.iter().map(|name| row(name)).collect())
    }

    fn key_of(picker: &Picker) -> &str {
        picker.selected().map_or("", |row| &row.key)
    }

    fn type_text(picker: &mut Picker, text: &str) {
        for letter in text.chars() {
            picker.type_key(Key::plain(KeyCode::Char(letter)));
        }
    }

    #[test]
    fn moves_wrap_around_and_pages_stop_at_the_ends() {
        let mut picker = picker(&["a", "b", "c", "d", "e"]);
        picker.set_page_rows(3);
        for (list_move, wanted) in [
            (ListMove::Up, "e"),
            (ListMove::Down, "a"),
            (ListMove::PageDown, "d"),
            (ListMove::PageDown, "e"),
            (ListMove::PageUp, "b"),
            (ListMove::First, "a"),
            (ListMove::Last, "e"),
        ] {
            assert_eq!(picker.apply(list_move), PickerOutcome::Moved);
            assert_eq!(key_of(&picker), wanted, "{list_move:?}");
        }
    }

    #[test]
    fn typing_filters_and_enter_chooses_the_best() {
        let mut picker = picker(&["crystal-dark", "crystal-light", "mono"]);
        type_text(&mut picker, "light");
        assert_eq!(picker.counts(), (1, 3));
        let chosen = PickerOutcome::Chosen("crystal-light".to_owned());
        assert_eq!(picker.apply(ListMove::Choose), chosen);
        assert_eq!(picker.apply(ListMove::Erase), PickerOutcome::Filtered);
        assert_eq!(picker.filter(), "ligh");
        picker.apply(ListMove::ClearFilter);
        assert_eq!(picker.counts(), (3, 3));
        assert_eq!(picker.apply(ListMove::Close), PickerOutcome::Closed);
    }

    #[test]
    fn a_list_without_a_match_chooses_nothing() {
        let mut picker = picker(&["a"]);
        type_text(&mut picker, "zz");
        for list_move in [ListMove::Choose, ListMove::Up, ListMove::Down, ListMove::PageDown] {
            assert_eq!(picker.apply(list_move), PickerOutcome::Nothing, "{list_move:?}");
        }
    }

    #[test]
    fn new_rows_leave_the_highlight_on_its_row() {
        let mut picker = picker(&["a", "b"]);
        picker.select("b");
        picker.set_rows(vec![row("new"), row("a"), row("b")]);
        assert_eq!(key_of(&picker), "b");
        picker.set_rows(vec![row("new")]);
        assert_eq!(key_of(&picker), "new");
    }

    #[test]
    fn results_for_an_old_filter_are_not_taken() {
        let mut picker = Picker::ranked_by_worker("files");
        type_text(&mut picker, "ab");
        assert!(!picker.set_results("a", vec![row("old")], 9));
        assert!(picker.set_results("ab", vec![row("x"), row("y")], 100_000));
        assert_eq!(picker.counts(), (2, 100_000));
        assert_eq!(key_of(&picker), "x");
    }

    // T03, T07: a row cannot write to the terminal, and a paste in a list is filter text.
    #[test]
    fn control_characters_are_neither_shown_nor_run() {
        let mut picker = picker(&["a\x1b[2Jb\tc\u{9b}"]);
        assert_eq!(picker.shown(1)[0].row.label, "ab      c");
        assert_eq!(key_of(&picker), "a\x1b[2Jb\tc\u{9b}");
        assert_eq!(picker.paste("a\x1b\r"), PickerOutcome::Filtered);
        assert_eq!(picker.filter(), "a");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn the_highlighted_row_is_always_among_those_shown(
            names in prop::collection::vec("[a-c漢]{0,4}", 0..12),
            filter in "[a-c漢]{0,2}",
            downs in 0_usize..15,
            rows_max in 0_usize..6,
        ) {
            let mut picker = Picker::new("t", names.iter().map(|name| row(name)).collect());
            type_text(&mut picker, &filter);
            for _ in 0..downs {
                picker.apply(ListMove::Down);
            }
            let shown = picker.shown(rows_max);
            prop_assert!(shown.len() <= rows_max);
            let is_visible = shown.iter().any(|row| row.is_selected);
            prop_assert_eq!(is_visible, rows_max > 0 && !picker.is_empty());
        }
    }
}
