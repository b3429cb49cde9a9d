//! Layout of long texts.

use crystal::ui::markdown::StreamLayout;
use crystal::ui::theme::Theme;
use crystal::ui::{diff, highlight, markdown};

const DOCUMENT_BYTES: usize = 80_000;
const WIDTH: u16 = 100;

fn main() {
    highlight::load_now();
    divan::main();
}

fn document() -> String {
    let sample = include_str!("../tests/data/sample.md");
    sample.repeat(DOCUMENT_BYTES / sample.len() + 1)
}

#[divan::bench(sample_count = 10, sample_size = 1)]
fn render_80_kb(bencher: divan::Bencher<'_, '_>) {
    let text = document();
    bencher.bench(|| markdown::render(&text, WIDTH, &Theme::plain()).len());
}

fn stream(text: &str) -> usize {
    let mut layout = StreamLayout::new(WIDTH, Theme::plain());
    let mut rows = 0;
    for end in (4..=text.len()).step_by(4).filter(|end| text.is_char_boundary(*end)) {
        rows = layout.update(&text[..end]).len();
    }
    rows
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn stream_80_kb_in_20_000_deltas(bencher: divan::Bencher<'_, '_>) {
    let text = document();
    bencher.bench(|| stream(&text));
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn stream_code_of_1_000_lines(bencher: divan::Bencher<'_, '_>) {
    let text = format!("```rust\n{}```\n", "    let value = call(\"text\", 12);\n".repeat(1_000));
    bencher.bench(|| stream(&text));
}

#[divan::bench(sample_count = 10, sample_size = 1)]
fn diff_of_10_000_lines(bencher: divan::Bencher<'_, '_>) {
    let body = " same line\n-let old = 1;\n+let new = 1;\n".repeat(3_333);
    let text = format!("@@ -1,6666 +1,6666 @@\n{body}");
    bencher.bench(|| diff::render(&text, "x.rs", WIDTH, &Theme::plain()).len());
}
