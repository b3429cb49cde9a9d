//! Frames of the composer and of the picker, colour-free, in `snapshots/`.

use crystal::app::action::ListMove;
use crystal::app::composer::{Composer, Edit, text_columns};
use crystal::app::key::{Key, KeyCode};
use crystal::app::panels::picker::{Picker, PickerRow};
use crystal::ui::composer::{self, Border, ComposerView, Focus};
use crystal::ui::picker;
use crystal::ui::theme::{Role, Theme};
use proptest::prelude::*;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Modifier, Style};

const SIZES: [(u16, u16); 2] = [(80, 24), (40, 10)];

/// The frame as text, with the cursor's place below it.
fn text_of(buffer: &Buffer, cursor: Option<Position>) -> String {
    let mut text = String::new();
    for y in buffer.area.top()..buffer.area.bottom() {
        let mut row = String::new();
        let mut skip = 0;
        for x in buffer.area.left()..buffer.area.right() {
            let symbol = buffer[(x, y)].symbol();
            if skip == 0 {
                row.push_str(symbol);
                skip = crystal::base::text::width::columns(symbol).max(1);
            }
            skip -= 1;
        }
        text.push_str(row.trim_end());
        text.push('\n');
    }
    let place = match cursor {
        Some(at) => format!("cursor at column {}, row {}\n", at.x, at.y),
        None => "no cursor\n".to_owned(),
    };
    text + &place
}

fn snapshot(name: &str, frame: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.bind(|| insta::assert_snapshot!(name, frame));
}

fn composer_frame(composer: &mut Composer, border: Border, size: (u16, u16)) -> String {
    let screen = Rect::new(0, 0, size.0, size.1);
    composer.set_width(text_columns(screen.width));
    let height = composer::height(composer, screen);
    let area = Rect { y: screen.bottom() - height, height, ..screen };
    let mut buffer = Buffer::empty(screen);
    let theme = Theme::plain();
    let view = ComposerView { composer, theme: &theme, focus: Focus::Focused, border };
    let cursor = composer::draw(&view, area, &mut buffer);
    text_of(&buffer, cursor)
}

fn type_text(composer: &mut Composer, text: &str) {
    for letter in text.chars() {
        composer.type_key(Key::plain(KeyCode::Char(letter)));
    }
}

fn check_composer(name: &str, border: Border, fill: impl Fn(&mut Composer)) {
    for size in SIZES {
        let mut composer = Composer::default();
        fill(&mut composer);
        let frame = composer_frame(&mut composer, border, size);
        snapshot(&format!("composer_{name}_{}x{}", size.0, size.1), &frame);
    }
}

#[test]
fn an_empty_composer_says_what_to_do() {
    check_composer("empty", Border::Work, |_| {});
}

#[test]
fn a_composer_in_plan_mode_says_so_without_colours() {
    check_composer("plan", Border::Plan, |composer| type_text(composer, "how would you do it?"));
}

#[test]
fn several_lines_scroll_within_forty_percent() {
    check_composer("lines", Border::Work, |composer| {
        composer.paste(&(1..=14).map(|n| format!("line {n}\n")).collect::<String>());
        type_text(composer, "the last line is long enough to be wrapped at the narrow size");
        for _ in 0..6 {
            composer.apply(Edit::Up);
        }
    });
}

#[test]
fn a_long_paste_is_shown_as_a_chip() {
    check_composer("chip", Border::Work, |composer| {
        type_text(composer, "see ");
        composer.paste(&"line\n".repeat(312));
        type_text(composer, " and explain");
    });
}

// T02: tabs are expanded, wide text is whole, and the cursor stands where the text ends.
#[test]
fn wide_text_and_tabs_are_drawn_where_the_cursor_expects_them() {
    check_composer("wide", Border::Shell, |composer| {
        composer.paste("!echo\tone\t漢字漢字漢字漢字漢字漢字漢字 👩‍👩‍👧 e\u{301} 🇩🇪|");
    });
}

fn rows() -> Vec<PickerRow> {
    [
        ("sessions", "lists the sessions of this workspace", ""),
        ("compact", "condenses the older part of the conversation", ""),
        ("theme", "chooses colours, with a live preview", ""),
        ("thinking", "sets how long the model thinks", "high"),
        ("会話", "a name of wide letters", "漢字"),
        ("tab\there\x1b[2J", "control characters do not act", ""),
        ("a-very-long-name-of-a-command-that-does-not-fit", "nor does this text fit", "alt+p"),
        ("quit", "leaves", "ctrl+d"),
    ]
    .into_iter()
    .map(|(label, detail, hint)| PickerRow {
        key: label.to_owned(),
        label: label.to_owned(),
        detail: detail.to_owned(),
        hint: hint.to_owned(),
    })
    .collect()
}

fn check_picker(name: &str, filter: &str, moves: &[ListMove]) {
    for size in SIZES {
        let mut list = Picker::new("Commands", rows());
        list.paste(filter);
        for list_move in moves {
            list.apply(*list_move);
        }
        let area = Rect::new(0, 0, size.0, size.1.min(picker::height(&list)));
        let mut buffer = Buffer::empty(Rect::new(0, 0, size.0, size.1));
        let cursor = picker::draw(&list, &Theme::plain(), area, &mut buffer);
        snapshot(&format!("picker_{name}_{}x{}", size.0, size.1), &text_of(&buffer, cursor));
    }
}

#[test]
fn a_list_shows_label_detail_and_hint() {
    check_picker("whole", "", &[ListMove::Down, ListMove::Down, ListMove::Down]);
}

#[test]
fn a_filtered_list_shows_the_best_first_and_how_many() {
    check_picker("filtered", "th", &[]);
}

#[test]
fn a_list_without_a_match_says_so() {
    check_picker("no_match", "zzz", &[]);
}

#[test]
fn matched_letters_have_their_own_style() {
    let mut styles = [Style::new(); Role::COUNT];
    styles[Role::Match as usize] = Style::new().add_modifier(Modifier::BOLD);
    styles[Role::Selection as usize] = Style::new().add_modifier(Modifier::REVERSED);
    let mut list = Picker::new("Commands", rows());
    list.paste("会");
    let area = Rect::new(0, 0, 40, 6);
    let mut buffer = Buffer::empty(area);
    picker::draw(&list, &Theme::new(1, styles), area, &mut buffer);
    let bold: String = buffer
        .content
        .iter()
        .filter(|cell| cell.modifier.contains(Modifier::BOLD))
        .map(ratatui::buffer::Cell::symbol)
        .collect();
    assert_eq!(bold, "会");
    assert!(buffer[(1, 2)].modifier.contains(Modifier::REVERSED));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    // T03, T04: any rectangle of any screen, inside or not; nothing outside is touched, no control character.
    #[test]
    fn any_rectangle_can_be_drawn_into(
        (x, y, width, height) in (0_u16..12, 0_u16..8, 0_u16..40, 0_u16..12),
        (columns, rows) in (0_u16..30, 0_u16..10),
        text in "([a-c 漢👩\u{301}\u{200d}\t\n\u{1b}\u{9b}\u{202e}ﾞ]){0,80}",
    ) {
        let area = Rect::new(x, y, width, height);
        let screen = Rect::new(0, 0, columns, rows);
        let theme = Theme::plain();
        let mut composer = Composer::default();
        composer.paste(&text);
        composer.set_width(text_columns(width));
        let mut list = Picker::new(text.clone(), vec![PickerRow {
            key: String::new(), label: text.clone(), detail: text.clone(), hint: text,
        }]);
        list.paste("a");
        for draws_list in [false, true] {
            let mut buffer = Buffer::empty(screen);
            let cursor = if draws_list {
                picker::draw(&list, &theme, area, &mut buffer)
            } else {
                let focus = Focus::Focused;
                let view = ComposerView { composer: &composer, theme: &theme, focus, border: Border::Plan };
                composer::draw(&view, area, &mut buffer)
            };
            if let Some(at) = cursor {
                prop_assert!(area.intersection(screen).contains(at));
            }
            for cell_y in screen.top()..screen.bottom() {
                for cell_x in screen.left()..screen.right() {
                    let symbol = buffer[(cell_x, cell_y)].symbol();
                    prop_assert!(!symbol.contains(char::is_control), "{symbol:?}");
                    let is_inside = area.contains(Position { x: cell_x, y: cell_y });
                    prop_assert!(is_inside || symbol == " ", "{symbol:?}");
                }
            }
        }
    }
}
