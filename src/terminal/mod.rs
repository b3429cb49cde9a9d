//! The terminal: modes entered and left, input, output.
//!
//! Invariant: whatever ends the program, as long as code can still run, the terminal is left as it was
//! found; and nothing is written to it while another program owns it.
//! Not here: what is drawn (`ui`), what a key means (`update`).

pub mod facts;
pub mod guard;
pub mod handoff;
pub mod hangup;
pub mod input;
pub mod out;
pub mod screen;
pub mod signals;
