use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation;

use super::*;

fn typed(text: &str) -> Composer {
    let mut composer = Composer::default();
    type_text(&mut composer, text);
    composer
}

fn type_text(composer: &mut Composer, text: &str) {
    for letter in text.chars() {
        match letter {
            '\n' => composer.apply(Edit::Newline),
            _ => composer.type_key(Key::plain(KeyCode::Char(letter))),
        };
    }
}

fn apply_all(composer: &mut Composer, edits: &[Edit]) {
    for edit in edits {
        composer.apply(*edit);
    }
}

fn submitted(composer: &mut Composer) -> Option<String> {
    match composer.apply(Edit::Submit) {
        ComposerOutcome::Submit(submission) => Some(submission.text),
        _ => None,
    }
}

fn shown(composer: &Composer) -> Vec<String> {
    (0..composer.row_count())
        .map(|row| composer.row(row).into_iter().map(|piece| piece.text).collect())
        .collect()
}

#[test]
fn enter_sends_the_text_and_empties_the_composer() {
    let mut composer = typed("  run the tests \n now");
    assert_eq!(submitted(&mut composer).as_deref(), Some("  run the tests \n now"));
    assert!(composer.is_empty());
    assert_eq!(composer.history().entries(), ["  run the tests \n now"]);
}

#[test]
fn enter_never_sends_blank_text() {
    for text in ["", " ", "\n\n", "\t"] {
        let mut composer = typed(text);
        assert_eq!(composer.apply(Edit::Submit), ComposerOutcome::Nothing, "{text:?}");
        assert_eq!(composer.text(), text);
    }
}

#[test]
fn a_trailing_backslash_and_enter_make_a_new_line() {
    let mut composer = typed("one\\");
    assert_eq!(composer.apply(Edit::Submit), ComposerOutcome::Changed);
    type_text(&mut composer, "two");
    assert_eq!(submitted(&mut composer).as_deref(), Some("one\ntwo"));

    let mut inside = typed("a\\b");
    assert_eq!(submitted(&mut inside).as_deref(), Some("a\\b"));
}

#[test]
fn edits_do_what_their_names_say() {
    use Edit::*;
    for (text, edits, wanted) in [
        ("one two", &[DeleteWordBack][..], "one "),
        ("one two", &[DeleteToLineStart], ""),
        ("one two", &[WordLeft, DeleteToLineEnd], "one "),
        ("one two", &[LineStart, DeleteWordForward], " two"),
        ("one two", &[DeleteWordBack, LineStart, Yank], "twoone "),
        ("a\nb", &[LineStart, DeleteBack], "ab"),
        ("a\nb", &[Up, LineEnd, DeleteForward], "ab"),
        ("a\nb", &[LineStart, DeleteToLineStart], "ab"),
        ("a👩‍👩‍👧", &[DeleteBack], "a"),
        ("e\u{301}x", &[Left, DeleteBack], "x"),
        ("漢字", &[Left, Left, DeleteForward], "字"),
        ("🇩🇪🇫🇷", &[DeleteBack], "🇩🇪"),
        ("abc", &[Undo], ""),
        ("abc def", &[Undo], "abc "),
        ("abc def", &[Undo, Undo, Redo], "abc "),
        ("abc", &[DeleteToLineStart, Undo], "abc"),
    ] {
        let mut composer = typed(text);
        apply_all(&mut composer, edits);
        assert_eq!(composer.text(), wanted, "{text:?} {edits:?}");
    }
}

// T13: letters of AltGr are typed, other keys with Ctrl or Alt are not.
#[test]
fn alt_gr_types_and_unbound_keys_do_not() {
    let mut composer = Composer::default();
    let alt_gr = |letter| Key { ctrl: true, ..Key::alt(KeyCode::Char(letter)) };
    for letter in ['@', '{', '€', 'ą'] {
        composer.type_key(alt_gr(letter));
    }
    for key in [alt_gr('x'), Key::ctrl('x'), Key::alt(KeyCode::Char('x')), Key::ctrl('\u{1b}')] {
        assert_eq!(composer.type_key(key), ComposerOutcome::Nothing);
    }
    assert_eq!(composer.text(), "@{€ą");
}

// T07: one insert, nothing sent, nothing run as a key.
#[test]
fn a_paste_never_sends() {
    let mut composer = Composer::default();
    assert_eq!(composer.paste("a\r\nb\x1b[201~rm x\r"), ComposerOutcome::Changed);
    assert_eq!(composer.text(), "a\nb[201~rm x\n");
    composer.apply(Edit::Undo);
    assert!(composer.is_empty());
}

// T07: a placeholder stands for long text, and the full text is sent and kept in the history.
#[test]
fn a_long_paste_is_a_chip_that_is_sent_in_full() {
    let pasted = "line\n".repeat(312);
    let mut composer = typed("look: ");
    composer.paste(&pasted);
    type_text(&mut composer, " and ");
    composer.paste(&"x".repeat(3_000));
    assert_eq!(shown(&composer), ["look: [pasted 312 lines] and [pasted 3000 characters]"]);
    let whole = format!("look: {pasted} and {}", "x".repeat(3_000));
    assert_eq!(composer.draft().as_ref(), Some(&whole));
    assert_eq!(submitted(&mut composer).as_ref(), Some(&whole));
    assert_eq!(composer.history().entries(), [whole]);
}

#[test]
fn a_chip_goes_and_comes_back_as_a_whole() {
    let pasted = "line\n".repeat(30);
    let mut composer = typed("a");
    composer.paste(&pasted);
    composer.apply(Edit::DeleteBack);
    assert_eq!(composer.text(), "a");
    composer.apply(Edit::Undo);
    assert_eq!(composer.text(), format!("a{pasted}"));
    composer.apply(Edit::Left);
    assert_eq!(composer.caret(), (0, 1));
    composer.apply(Edit::DeleteToLineEnd);
    composer.apply(Edit::Yank);
    assert_eq!(composer.text(), format!("a{pasted}"));
}

#[test]
fn a_key_expands_a_chip_in_place() {
    let pasted = "line\n".repeat(30);
    let mut composer = typed("a");
    composer.paste(&pasted);
    assert_eq!(composer.apply(Edit::ExpandPaste), ComposerOutcome::Changed);
    assert_eq!(composer.row_count(), 31);
    assert_eq!(composer.text(), format!("a{pasted}"));
    composer.apply(Edit::Undo);
    assert_eq!(shown(&composer), ["a[pasted 30 lines]"]);
    assert_eq!(typed("a").apply(Edit::ExpandPaste), ComposerOutcome::Nothing);
}

// T07: a paste of 10 MB is one chip, and the keys after it touch only the chip.
#[test]
fn a_paste_of_ten_megabytes_stays_one_short_row() {
    let pasted = "0123456789".repeat(1_000_000);
    let mut composer = Composer::default();
    composer.paste(&pasted);
    type_text(&mut composer, &"x".repeat(50));
    assert_eq!(composer.row_count(), 1);
    assert_eq!(composer.apply(Edit::ExpandPaste), ComposerOutcome::Refused(CHIP_TOO_LONG));
    let sent = submitted(&mut composer).unwrap();
    assert_eq!(sent.len(), pasted.len() + 50);

    composer.set_text(&pasted);
    assert_eq!(composer.row_count(), 1);
    assert_eq!(composer.text(), pasted);
}

#[test]
fn a_full_composer_refuses_keys_and_keeps_its_text() {
    let text = "x".repeat(buffer::TEXT_BYTES_MAX);
    let mut composer = Composer::default();
    composer.set_text(&text);
    let key = Key::plain(KeyCode::Char('y'));
    assert_eq!(composer.type_key(key), ComposerOutcome::Refused(TOO_LONG));
    assert_eq!(composer.text(), text);
    composer.apply(Edit::DeleteBack);
    assert_eq!(composer.type_key(key), ComposerOutcome::Changed);
}

#[test]
fn a_character_of_the_private_range_is_sent_as_it_is() {
    let pasted = "line\n".repeat(30);
    let mut composer = Composer::default();
    composer.paste("\u{100000}\u{10FFFD}");
    composer.paste(&pasted);
    type_text(&mut composer, "\u{100000}\u{100001}\u{100002}");
    let wanted = format!("\u{100000}\u{10FFFD}{pasted}\u{100000}\u{100001}\u{100002}");
    assert_eq!(submitted(&mut composer), Some(wanted));
}

#[test]
fn up_and_down_move_by_row_and_ask_for_the_history_at_the_edges() {
    let mut composer = typed("one two three");
    composer.set_width(9);
    assert_eq!(shown(&composer), ["one two ", "three"]);
    let down = composer.apply(Edit::Down);
    assert_eq!(down, ComposerOutcome::AskHistory(Direction::Newer));
    assert_eq!(composer.apply(Edit::Up), ComposerOutcome::Moved);
    assert_eq!(composer.caret(), (0, 5));
    assert_eq!(composer.apply(Edit::Up), ComposerOutcome::AskHistory(Direction::Older));
}

#[test]
fn a_short_row_does_not_lose_the_column() {
    let mut composer = typed("long line\nx\nlong line");
    apply_all(&mut composer, &[Edit::Up, Edit::Up]);
    assert_eq!(composer.caret(), (0, 9));
}

#[test]
fn the_draft_survives_a_walk_through_the_history() {
    let mut composer = Composer::new(History::new(["old", "new\nlines"].map(str::to_owned)));
    type_text(&mut composer, "draft");
    let pasted = "line\n".repeat(30);
    composer.paste(&pasted);
    for (direction, wanted) in [
        (Direction::Older, "new\nlines".to_owned()),
        (Direction::Older, "old".to_owned()),
        (Direction::Older, "old".to_owned()),
        (Direction::Newer, "new\nlines".to_owned()),
        (Direction::Newer, format!("draft{pasted}")),
        (Direction::Newer, format!("draft{pasted}")),
    ] {
        composer.recall(direction);
        assert_eq!(composer.text(), wanted);
    }
    assert_eq!(shown(&composer), ["draft[pasted 30 lines]"]);
}

#[test]
fn a_recalled_entry_that_is_edited_is_the_new_draft() {
    let mut composer = Composer::new(History::new(["old".to_owned()]));
    composer.recall(Direction::Older);
    type_text(&mut composer, "!");
    composer.recall(Direction::Older);
    assert_eq!(composer.text(), "old");
    composer.recall(Direction::Newer);
    assert_eq!(composer.text(), "old!");
}

#[test]
fn clearing_can_be_undone() {
    let mut composer = typed("text");
    assert!(composer.clear());
    assert!(!composer.clear());
    composer.apply(Edit::Undo);
    assert_eq!(composer.text(), "text");
    composer.set_text("other");
    composer.apply(Edit::Undo);
    assert_eq!(composer.text(), "text");
}

#[test]
fn the_text_says_what_it_asks_to_complete() {
    for (text, wanted) in [
        ("/the", Some((TriggerKind::Command, "the"))),
        ("/theme cr", Some((TriggerKind::Command, "theme cr"))),
        ("see @src/ma", Some((TriggerKind::File, "src/ma"))),
        ("@", Some((TriggerKind::File, ""))),
        ("a@b", None),
        ("text", None),
        ("/a\n/b", None),
    ] {
        let trigger = typed(text).trigger();
        let found = trigger.as_ref().map(|trigger| (trigger.kind, trigger.query.as_str()));
        assert_eq!(found, wanted, "{text}");
    }
    let mut composer = typed("see @ma");
    let trigger = composer.trigger().unwrap();
    composer.complete(&trigger, "src/main.rs ");
    assert_eq!(composer.text(), "see @src/main.rs ");
    assert_eq!(composer.complete(&trigger, "x"), ComposerOutcome::Nothing);
    assert_eq!(typed("!ls").intent(), Intent::Shell);
}

/// The text as clusters cannot be modelled by splitting once: an insertion may join its neighbours. So the
/// model is the whole string with a byte caret, cut anew at each step.
#[derive(Debug, Default)]
struct Model {
    text: String,
    caret: usize,
}

impl Model {
    fn borders(&self) -> Vec<usize> {
        let starts = self.text.grapheme_indices(true).map(|(start, _)| start);
        starts.chain([self.text.len()]).collect()
    }
    fn before(&self) -> usize {
        self.borders().into_iter().rfind(|border| *border < self.caret).unwrap_or(self.caret)
    }
    fn after(&self) -> usize {
        self.borders().into_iter().find(|border| *border > self.caret).unwrap_or(self.caret)
    }
    fn insert(&mut self, text: &str) {
        self.text.insert_str(self.caret, text);
        self.caret += text.len();
        self.snap();
    }
    fn remove(&mut self, start: usize, end: usize) {
        self.text.replace_range(start..end, "");
        self.caret = start;
        self.snap();
    }
    fn snap(&mut self) {
        let borders = self.borders();
        self.caret = borders.into_iter().find(|border| *border >= self.caret).unwrap_or(0);
    }
    fn apply(&mut self, edit: Edit) {
        match edit {
            Edit::Newline => self.insert("\n"),
            Edit::DeleteBack => self.remove(self.before(), self.caret),
            Edit::DeleteForward => self.remove(self.caret, self.after()),
            Edit::Left => self.caret = self.before(),
            Edit::Right => self.caret = self.after(),
            Edit::LineStart => {
                self.caret = self.text[..self.caret].rfind('\n').map_or(0, |at| at + 1);
            }
            Edit::LineEnd => {
                let rest = &self.text[self.caret..];
                self.caret += rest.find('\n').unwrap_or(rest.len());
            }
            _ => {}
        }
    }
}

#[derive(Debug, Clone)]
enum Step {
    Type(&'static str),
    Edit(Edit),
    Width(u16),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    const TEXTS: &[&str] = &[
        "a",
        " ",
        "b\tc",
        "漢",
        "字",
        "👩",
        "\u{200d}",
        "👧",
        "\u{301}",
        "🇩",
        "🇪",
        "\u{fe0f}",
        "❤",
        "ｶ",
        "ﾞ",
        "क्षि",
        "\u{202e}",
        "ё",
        "\u{100000}",
    ];
    const EDITS: &[Edit] = &[
        Edit::Newline,
        Edit::DeleteBack,
        Edit::DeleteForward,
        Edit::Left,
        Edit::Right,
        Edit::LineStart,
        Edit::LineEnd,
    ];
    let step = prop_oneof![
        4 => prop::sample::select(TEXTS).prop_map(Step::Type),
        4 => prop::sample::select(EDITS).prop_map(Step::Edit),
        1 => (0_u16..12).prop_map(Step::Width),
    ];
    prop::collection::vec(step, 0..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    // T14: edits at any place of any text do what they do to a string.
    #[test]
    fn edits_agree_with_a_plain_string(steps in steps()) {
        let mut composer = Composer::default();
        let mut model = Model::default();
        for step in steps {
            match step {
                Step::Type(text) => {
                    for letter in text.chars() {
                        composer.type_key(Key::plain(KeyCode::Char(letter)));
                        model.insert(letter.encode_utf8(&mut [0; 4]));
                    }
                }
                Step::Edit(edit) => {
                    composer.apply(edit);
                    model.apply(edit);
                }
                Step::Width(columns) => composer.set_width(columns),
            }
            prop_assert_eq!(composer.text(), &*model.text);
            let caret = composer.buffer.caret();
            let lines = &composer.buffer.lines()[..caret.line];
            let before: usize = lines.iter().map(|line| line.len() + 1).sum();
            prop_assert_eq!(before + caret.byte, model.caret);
        }
        let text = (!model.text.trim().is_empty() && !model.text[..model.caret].ends_with('\\'))
            .then_some(model.text);
        prop_assert_eq!(submitted(&mut composer), text);
    }

    // T04: any width; the rows hold the whole text and the caret is on one of them.
    #[test]
    fn rows_hold_the_whole_text_at_any_width(
        text in "([a-z 漢👩\u{301}\t\n]|\u{200d}){0,60}",
        columns in 0_u16..30,
    ) {
        let mut composer = Composer::default();
        composer.paste(&text);
        composer.set_width(columns);
        let drawn: usize = (0..composer.row_count())
            .flat_map(|row| composer.row(row))
            .map(|piece| piece.text.trim().len())
            .sum();
        let wanted: usize = text.split_whitespace().map(str::len).sum();
        if text.len() <= CHIP_BYTES && text.lines().count() <= CHIP_LINES {
            prop_assert_eq!(drawn, wanted);
        }
        let (row, column) = composer.caret();
        prop_assert!(row < composer.row_count());
        prop_assert!(column <= usize::from(columns.max(2)));
        for edit in [Edit::Up, Edit::Down, Edit::Up, Edit::Up, Edit::Left, Edit::Down] {
            composer.apply(edit);
            prop_assert!(composer.caret().0 < composer.row_count());
        }
    }

    #[test]
    fn undo_goes_back_to_the_beginning_and_redo_to_the_end(steps in steps()) {
        let mut composer = Composer::default();
        for step in steps {
            match step {
                Step::Type(text) => type_text(&mut composer, text),
                Step::Edit(edit) => drop(composer.apply(edit)),
                Step::Width(columns) => composer.set_width(columns),
            }
        }
        let text = composer.text();
        while composer.apply(Edit::Undo) == ComposerOutcome::Changed {}
        prop_assert_eq!(composer.text(), "");
        while composer.apply(Edit::Redo) == ComposerOutcome::Changed {}
        prop_assert_eq!(composer.text(), text);
    }
}
