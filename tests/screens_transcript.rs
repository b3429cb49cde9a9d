//! Frames of the transcript pane, and the invariants of its layout.

use crystal::app::cells::cell::{CellContent, Fold, NoticeKind, TextState, ToolCell, ToolState};
use crystal::app::cells::{Cell, CellId, Cells};
use crystal::app::scroll::{Anchor, Scroll};
use crystal::conversation::mode::Mode;
use crystal::ui::cache::ViewCache;
use crystal::ui::theme::Theme;
use crystal::ui::transcript::{draw, prepare};
use proptest::prelude::*;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

fn user(text: &str) -> CellContent {
    CellContent::User { text: text.to_owned() }
}

fn assistant(text: &str, state: TextState) -> CellContent {
    CellContent::Assistant { text: text.to_owned(), state }
}

fn tool(name: &str, subject: &str, state: ToolState, output: &str) -> ToolCell {
    ToolCell {
        tool: name.to_owned(),
        subject: subject.to_owned(),
        state,
        output: output.to_owned(),
        is_list: false,
        diff: None,
        summary: None,
    }
}

fn numbered(lines: usize) -> String {
    (1..=lines).map(|n| format!("line {n}\n")).collect()
}

fn sample() -> Cells {
    let mut cells = Cells::default();
    cells.push(CellContent::Summary {
        text: "The parser was rewritten; two tests still fail.\n\nNext: the lexer.".to_owned(),
    });
    cells.push(user("Why does the second test fail?\nIt passed yesterday."));
    cells.push(CellContent::Reasoning {
        text: "The person asks about a test.\nI should read it.".to_owned(),
        state: TextState::Whole,
    });
    let mut read = tool("read", "src/main.rs", ToolState::Done, &numbered(214));
    read.summary = Some("214 lines".to_owned());
    cells.push(CellContent::Tool(read));
    let mut edit = tool("edit", "src/app.rs", ToolState::Done, "done");
    edit.diff = Some(
        "--- a/src/app.rs\n+++ b/src/app.rs\n@@ -1,3 +1,3 @@\n fn main() {\n-    old();\n+    new();\n }\n".to_owned(),
    );
    cells.push(CellContent::Tool(edit));
    let output = format!("\x1b[32mok\x1b[0m\t1\n{}\x1b]0;title\x07end", numbered(20));
    cells.push(CellContent::Tool(tool("bash", "cargo test", ToolState::Failed, &output)));
    cells.push(CellContent::Tool(tool("bash", "rm -rf /", ToolState::Denied, "")));
    cells.push(CellContent::Notice { kind: NoticeKind::Warning, text: "Not saved yet".to_owned() });
    cells.push(CellContent::ModeChange(Mode::Plan));
    cells.push(CellContent::Compacted { before_tokens: 84_200, after_tokens: 12_000 });
    cells.push(assistant("The lexer skips 漢字 and 👩‍💻; a long line follows that has to be wrapped at the width of the pane, whatever it is.\n\nIt is cut", TextState::Interrupted));
    cells.push(CellContent::Tool(tool("bash", "make", ToolState::Running, &numbered(9))));
    cells
}

fn frame(cells: &Cells, scroll: &mut Scroll, cache: &mut ViewCache, area: Rect) -> Buffer {
    let prepared = prepare(cells, scroll, cache, area, &Theme::plain());
    *scroll = prepared.scroll();
    let mut buffer = Buffer::empty(area);
    draw(&prepared, &mut buffer);
    let first = buffer.clone();
    draw(&prepared, &mut buffer);
    assert_eq!(first, buffer, "drawing twice changes nothing");
    buffer
}

fn rows(buffer: &Buffer) -> Vec<String> {
    let area = buffer.area;
    let row = |y| -> String {
        let mut text = String::new();
        let mut x = 0;
        while x < area.width {
            let symbol = buffer[(x, y)].symbol();
            text.push_str(symbol);
            x += unicode_width::UnicodeWidthStr::width(symbol).clamp(1, 2) as u16;
        }
        text.trim_end().to_owned()
    };
    (0..area.height).map(row).collect()
}

fn screen(cells: &Cells, scroll: &mut Scroll, width: u16, height: u16) -> String {
    let area = Rect::new(0, 0, width, height);
    rows(&frame(cells, scroll, &mut ViewCache::default(), area)).join("\n")
}

#[test]
fn the_transcript_at_three_sizes() {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| {
        for (width, height) in [(80, 24), (120, 40), (40, 10)] {
            let name = format!("transcript_{width}x{height}");
            let mut scroll = Scroll::default();
            insta::assert_snapshot!(name, screen(&sample(), &mut scroll, width, height));
            scroll.home();
            let name = format!("transcript_home_{width}x{height}");
            insta::assert_snapshot!(name, screen(&sample(), &mut scroll, width, height));
        }
    });
}

type Move = fn(&mut Scroll);

// T08: what a frame costs does not depend on the length of the transcript.
#[test]
fn a_frame_lays_out_visible_cells_only() {
    let mut cells = Cells::default();
    for n in 0..10_000 {
        cells.push(user(&format!("question {n}\nand more")));
        cells.push(assistant(&format!("answer {n}\n\nin two parts"), TextState::Whole));
    }
    let (mut cache, mut scroll) = (ViewCache::default(), Scroll::default());
    let area = Rect::new(0, 0, 80, 24);
    let moves: [Move; 9] = [
        |_| {},
        |_| {},
        |s| s.lines(-3),
        |s| s.pages(-1),
        Scroll::home,
        |s| s.pages(1),
        |s| s.show(CellId(9_000)),
        |s| s.lines(-1),
        Scroll::end,
    ];
    for (index, act) in moves.iter().enumerate() {
        let before = cache.layouts();
        act(&mut scroll);
        let prepared = prepare(&cells, &scroll, &mut cache, area, &Theme::plain());
        scroll = prepared.scroll();
        let (used, seen) = (cache.layouts() - before, prepared.visible().count() as u64);
        assert!(used <= seen + 1, "move {index}: {used} layouts for {seen} cells");
    }
}

// T08: a delta lays out one cell.
#[test]
fn streaming_lays_out_one_cell_a_change() {
    let mut cells = sample();
    let id = cells.push(assistant("", TextState::Streaming));
    let (mut cache, mut scroll) = (ViewCache::default(), Scroll::default());
    let area = Rect::new(0, 0, 80, 24);
    frame(&cells, &mut scroll, &mut cache, area);
    for n in 0..50 {
        let before = cache.layouts();
        append(&mut cells, id, &format!("word {n}{}", if n % 7 == 0 { "\n\n" } else { " " }));
        frame(&cells, &mut scroll, &mut cache, area);
        assert!(cache.layouts() - before <= 2, "delta {n}");
    }
    let warm = frame(&cells, &mut scroll, &mut cache, area);
    assert_eq!(warm, frame(&cells, &mut scroll, &mut ViewCache::default(), area));
}

fn append(cells: &mut Cells, id: CellId, more: &str) {
    cells.edit(id, |content| {
        if let CellContent::Assistant { text, .. } = content {
            text.push_str(more);
        }
    });
}

// T09: the line at the top stays while text comes below; a mark says so; the end follows again.
#[test]
fn the_view_stays_while_text_grows_below() {
    let mut cells = sample();
    let id = cells.push(assistant(&numbered(30), TextState::Streaming));
    let (mut cache, mut scroll) = (ViewCache::default(), Scroll::default());
    let area = Rect::new(0, 0, 60, 12);
    frame(&cells, &mut scroll, &mut cache, area);
    scroll.lines(-20);
    let before = rows(&frame(&cells, &mut scroll, &mut cache, area));
    assert!(!before.join("").contains("↓ new"));
    for _ in 0..20 {
        append(&mut cells, id, "\nanother line");
        let after = rows(&frame(&cells, &mut scroll, &mut cache, area));
        assert_eq!(before[..11], after[..11]);
        assert!(after[11].ends_with("↓ new"), "{after:?}");
    }
    scroll.pages(99);
    let end = rows(&frame(&cells, &mut scroll, &mut cache, area));
    assert_eq!(scroll.anchor(), Anchor::End);
    assert_eq!(end[11], "another line");
    append(&mut cells, id, "\nthe last");
    assert_eq!(rows(&frame(&cells, &mut scroll, &mut cache, area))[11], "the last");
}

// T09: resizing keeps the line at the top, and going back returns to the same row.
#[test]
fn resizing_keeps_the_line_at_the_top() {
    let mut cells = Cells::default();
    let words: String = (0..400).map(|n| format!("word{n} ")).collect();
    cells.push(assistant(&words, TextState::Whole));
    cells.push(user("end"));
    let (mut cache, mut scroll) = (ViewCache::default(), Scroll::default());
    let wide = Rect::new(0, 0, 80, 10);
    frame(&cells, &mut scroll, &mut cache, wide);
    scroll.lines(-15);
    let top = rows(&frame(&cells, &mut scroll, &mut cache, wide))[0].clone();
    let word = top.split(' ').next().unwrap().to_owned();
    for width in [40, 20, 100, 33] {
        let area = Rect::new(0, 0, width, 10);
        let shown = rows(&frame(&cells, &mut scroll, &mut cache, area));
        assert!(shown[0].contains(&word), "{width}: {word} not in {:?}", shown[0]);
    }
    assert_eq!(rows(&frame(&cells, &mut scroll, &mut cache, wide))[0], top);
}

// T04
#[test]
fn no_size_panics() {
    let cells = sample();
    let (mut cache, mut scroll) = (ViewCache::default(), Scroll::default());
    for (width, height) in
        [(0, 0), (1, 1), (2, 1), (5, 2), (20, 5), (49, 11), (300, 3), (3, 300), (0, 9), (9, 0)]
    {
        for rows in [-5, 0, 2, -100] {
            scroll.lines(rows);
            let area = Rect::new(0, 0, width, height);
            frame(&cells, &mut scroll, &mut cache, area);
            // An area beyond the buffer is clamped.
            let prepared = prepare(
                &cells,
                &scroll,
                &mut cache,
                Rect::new(3, 2, width, height),
                &Theme::plain(),
            );
            draw(&prepared, &mut Buffer::empty(Rect::new(0, 0, 10, 4)));
        }
    }
}

// T03: nothing of a sequence reaches a cell of the screen, in any place that text goes to.
#[test]
fn no_sequence_reaches_the_screen() {
    let evil = "a\x1b[31m\x1b]52;c;ZXZpbA==\x07\u{9b}2J\x1b]0;t\nb\x1bPq\x1b\\\u{202e}\u{e0041}\tc";
    let mut cells = Cells::default();
    cells.push(user(evil));
    cells.push(assistant(evil, TextState::Streaming));
    cells.push(CellContent::Reasoning { text: evil.to_owned(), state: TextState::Whole });
    cells.push(CellContent::Notice { kind: NoticeKind::Error, text: evil.to_owned() });
    cells.push(CellContent::Summary { text: evil.to_owned() });
    let mut call = tool(evil, evil, ToolState::Failed, evil);
    call.diff = Some(format!("@@ -1 +1 @@\n+{evil}"));
    cells.push(CellContent::Tool(call));
    let ids: Vec<CellId> = cells.as_slice().iter().map(Cell::id).collect();
    for fold in [Fold::Open, Fold::Folded] {
        for id in &ids {
            cells.set_fold(*id, fold);
        }
        let text = screen(&cells, &mut Scroll::default(), 80, 60);
        let is_bad =
            |c: char| (c.is_control() && c != '\n') || matches!(c, '\u{202e}' | '\u{e0041}');
        assert!(!text.chars().any(is_bad), "{text:?}");
        assert!(!text.contains("[31m") && !text.contains("52;c"), "{text}");
    }
}

/// Blocks whose shapes a seam between frozen and open text could change.
const BLOCKS: [&str; 10] = [
    "# A heading",
    "A paragraph of\ntwo lines with `code` and *more*.",
    "- one\n- two\n  - three",
    "1. one\n\n2. two",
    "```rust\nfn main() {\n\n    run();\n}\n```",
    "> quoted\n> twice",
    "| a | b |\n|---|---|\n| 1 | 2 |",
    "---",
    "漢字 👩\u{200d}💻 with a\ttab\rover",
    "- [ ] open\n- [x] done",
];

fn blocks() -> impl Strategy<Value = String> {
    proptest::collection::vec(proptest::sample::select(BLOCKS.to_vec()), 1..6)
        .prop_map(|blocks| blocks.join("\n\n"))
}

#[derive(Debug, Clone)]
enum Step {
    Push(u8),
    Append(String),
    Whole,
    Fold(usize),
    Lines(i32),
    Pages(i32),
    Home,
    End,
    Resize(u16, u16),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (0_u8..6).prop_map(Step::Push),
        "[a-z 漢\n*`#]{0,30}".prop_map(Step::Append),
        Just(Step::Whole),
        (0_usize..20).prop_map(Step::Fold),
        (-9_i32..9).prop_map(Step::Lines),
        (-2_i32..2).prop_map(Step::Pages),
        Just(Step::Home),
        Just(Step::End),
        (0_u16..60, 0_u16..15).prop_map(|(width, height)| Step::Resize(width, height)),
    ]
}

fn push(cells: &mut Cells, kind: u8) {
    match kind {
        0 => cells.push(user("a question of some words")),
        1 => cells.push(assistant("", TextState::Streaming)),
        2 => cells.push(CellContent::Tool(tool("bash", "x", ToolState::Done, &numbered(30)))),
        3 => cells.push(CellContent::Reasoning { text: "hm".to_owned(), state: TextState::Whole }),
        4 => cells.push(CellContent::Summary { text: "was\n\nhere".to_owned() }),
        _ => cells.push(CellContent::Notice { kind: NoticeKind::Info, text: "ok".to_owned() }),
    };
}

fn change(cells: &mut Cells, scroll: &mut Scroll, area: &mut Rect, step: &Step) {
    let last = cells.as_slice().last().map(Cell::id);
    match (step, last) {
        (Step::Push(kind), _) => push(cells, *kind),
        (Step::Append(text), Some(id)) => append(cells, id, text),
        (Step::Whole, Some(id)) => cells.edit(id, |content| {
            if let CellContent::Assistant { state, .. } = content {
                *state = TextState::Whole;
            }
        }),
        (Step::Fold(index), Some(_)) => {
            let cell = &cells.as_slice()[index % cells.as_slice().len()];
            let fold = if cell.fold() == Fold::Open { Fold::Folded } else { Fold::Open };
            let id = cell.id();
            cells.set_fold(id, fold);
        }
        (Step::Append(_) | Step::Whole | Step::Fold(_), None) => {}
        (Step::Lines(rows), _) => scroll.lines(*rows),
        (Step::Pages(pages), _) => scroll.pages(*pages),
        (Step::Home, _) => scroll.home(),
        (Step::End, _) => scroll.end(),
        (Step::Resize(width, height), _) => *area = Rect::new(0, 0, *width, *height),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    // Text that came in pieces ends up as the whole would look, so nothing jumps when a stream ends.
    #[test]
    fn streamed_text_looks_like_the_whole(text in blocks(), step in 1_usize..40, width in 12_u16..60) {
        let area = Rect::new(0, 0, width, 80);
        let (mut cache, mut scroll) = (ViewCache::default(), Scroll::default());
        let mut cells = Cells::default();
        let id = cells.push(assistant("", TextState::Streaming));
        let chars: Vec<char> = text.chars().collect();
        for piece in chars.chunks(step) {
            append(&mut cells, id, &piece.iter().collect::<String>());
            frame(&cells, &mut scroll, &mut cache, area);
        }
        let streamed = frame(&cells, &mut scroll, &mut cache, area);
        let mut whole = Cells::default();
        whole.push(assistant(&text, TextState::Whole));
        prop_assert_eq!(rows(&streamed), rows(&frame(&whole, &mut scroll, &mut ViewCache::default(), area)));
    }

    // The cache can be dropped at any moment without a visible change.
    #[test]
    fn a_cold_cache_draws_what_a_warm_one_draws(steps in proptest::collection::vec(step(), 1..40)) {
        let (mut cells, mut scroll) = (Cells::default(), Scroll::default());
        let mut area = Rect::new(0, 0, 40, 10);
        let (mut warm, mut tiny) = (ViewCache::default(), ViewCache::with_budget(2_000));
        for step in &steps {
            change(&mut cells, &mut scroll, &mut area, step);
            let (mut cold_scroll, mut tiny_scroll) = (scroll, scroll);
            let cold = frame(&cells, &mut cold_scroll, &mut ViewCache::default(), area);
            let small = frame(&cells, &mut tiny_scroll, &mut tiny, area);
            let kept = frame(&cells, &mut scroll, &mut warm, area);
            prop_assert_eq!(&cold, &kept);
            prop_assert_eq!(&cold, &small);
            prop_assert_eq!(cold_scroll, scroll);
        }
    }
}
