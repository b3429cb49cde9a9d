//! A frame of a long transcript: 10,000 cells of 20 MB together.

mod bare;

use bare::{Bare, document};
use crystal::app::cells::cell::{CellContent, TextState};
use crystal::app::key::{KeyCode, Size};
use crystal::conversation::round::RoundEvent;
use crystal::ui::highlight;

const CELLS: usize = 10_000;
const CELL_BYTES: usize = 2_000;

fn main() {
    highlight::load_now();
    divan::main();
}

fn long() -> Bare {
    let mut bare = Bare::new();
    let text = document(CELL_BYTES);
    for _ in 0..CELLS {
        let content = CellContent::Assistant { text: text.clone(), state: TextState::Whole };
        bare.app.front_mut().feed.push(content);
    }
    bare.draw();
    bare
}

/// From a key to the bytes of its frame.
#[divan::bench(sample_count = 100, sample_size = 10)]
fn key_in_10_000_cells(bencher: divan::Bencher<'_, '_>) {
    let mut bare = long();
    bencher.bench_local(|| {
        bare.key(KeyCode::Char('x'));
        bare.draw();
        bare.key(KeyCode::Backspace);
        bare.draw();
    });
}

/// The same with nothing above the composer, to compare with.
#[divan::bench(sample_count = 100, sample_size = 10)]
fn key_in_an_empty_session(bencher: divan::Bencher<'_, '_>) {
    let mut bare = Bare::new();
    bencher.bench_local(|| {
        bare.key(KeyCode::Char('x'));
        bare.draw();
        bare.key(KeyCode::Backspace);
        bare.draw();
    });
}

#[divan::bench(sample_count = 100, sample_size = 10)]
fn streamed_word_below_10_000_cells(bencher: divan::Bencher<'_, '_>) {
    let mut bare = long();
    let task = bare.ask();
    bencher.bench_local(|| {
        bare.say(task, RoundEvent::Text("some words ".to_owned()));
        bare.draw();
    });
}

/// The first frame in another width: nothing that is off the screen is laid out.
#[divan::bench(sample_count = 50, sample_size = 2)]
fn resize_of_10_000_cells(bencher: divan::Bencher<'_, '_>) {
    let mut bare = long();
    bencher.bench_local(|| {
        for columns in [80, 120] {
            bare.resize(Size { columns, rows: 40 });
            bare.draw();
        }
    });
}
