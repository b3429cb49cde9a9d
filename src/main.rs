//! Starts crystal; everything else is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    crystal::cli::main()
}
