//! A reply as it arrives: 80 KB of markdown in 20,000 pieces, from report to the bytes of the frames.

mod bare;

use bare::{Bare, document};
use crystal::conversation::round::{RoundEvent, StopReason};
use crystal::ui::highlight;

const REPLY_BYTES: usize = 80_000;
/// Characters of a piece: what a model sends at a time.
const PIECE_CHARS: usize = 4;

fn main() {
    highlight::load_now();
    divan::main();
}

fn pieces() -> Vec<String> {
    let characters: Vec<char> = document(REPLY_BYTES).chars().collect();
    characters.chunks(PIECE_CHARS).map(|piece| piece.iter().collect()).collect()
}

fn stream(mut bare: Bare, pieces: &[String], pieces_a_frame: usize) {
    let task = bare.ask();
    for (index, piece) in pieces.iter().enumerate() {
        bare.say(task, RoundEvent::Text(piece.clone()));
        if index % pieces_a_frame == 0 {
            bare.draw();
        }
    }
    bare.say(task, RoundEvent::End { stop: StopReason::EndTurn, usage: None });
    bare.draw();
}

/// As fast as a server sends: a frame for every 600 pieces.
#[divan::bench(sample_count = 10, sample_size = 1)]
fn reply_of_80_kb_at_once(bencher: divan::Bencher<'_, '_>) {
    let pieces = pieces();
    bencher.with_inputs(Bare::new).bench_local_values(|bare| stream(bare, &pieces, 600));
}

/// As a model writes, at 200 pieces a second and 30 frames: 100 seconds of a stream.
#[divan::bench(sample_count = 3, sample_size = 1)]
fn reply_of_80_kb_at_a_pace(bencher: divan::Bencher<'_, '_>) {
    let pieces = pieces();
    bencher.with_inputs(Bare::new).bench_local_values(|bare| stream(bare, &pieces, 7));
}
