//! What stands between the command line and the first frame.
//!
//! The workspace is measured inside this process, from its configuration to the bytes of the first frame: a
//! terminal's own time would hide it. What a process costs by itself is measured by starting the program for
//! commands that need no terminal.

#![allow(clippy::expect_used, reason = "a bench that cannot run stops")]

mod bare;

use std::process::{Command, Stdio};

use bare::Bare;

fn main() {
    divan::main();
}

#[divan::bench(sample_count = 50, sample_size = 1)]
fn launch_and_first_frame(bencher: divan::Bencher<'_, '_>) {
    // The program makes its runtime before; what looks for leftovers runs beside the frame.
    let runtime = tokio::runtime::Runtime::new().expect("a bench has what it needs");
    let _entered = runtime.enter();
    bencher.bench_local(|| Bare::new().draw());
}

#[divan::bench(args = ["--version", "config path", "config show"], sample_count = 30, sample_size = 1)]
fn process(arguments: &str) {
    let status = Command::new(env!("CARGO_BIN_EXE_crystal"))
        .args(arguments.split(' '))
        .env("CRYSTAL_HOME", "/nonexistent/home")
        .stdout(Stdio::null())
        .status();
    assert!(status.expect("a bench has what it needs").success());
}
