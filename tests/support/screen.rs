//! The workspace in a terminal.

use crate::pty::Pty;
use crate::support::{CRYSTAL, World};

pub const SIZE: (u16, u16) = (80, 24);

/// A program in a terminal, in the workspace.
pub fn terminal(world: &World, program: &str, args: &[&str]) -> Pty {
    let env = world.env();
    let env: Vec<(&str, &str)> = env.iter().map(|(name, value)| (*name, value.as_str())).collect();
    Pty::spawn_in(&world.work(), program, args, &env, SIZE)
}

/// Opens the workspace and waits until it can be typed into.
pub fn open(world: &World, args: &[&str]) -> Pty {
    let mut pty = terminal(world, CRYSTAL, args);
    pty.wait_for_text("CTX");
    pty
}

/// Leaves it in order.
pub fn quit(mut pty: Pty) -> Pty {
    pty.send_keys("/quit<enter>");
    assert_eq!(pty.exit_status().exit_code(), 0);
    pty.assert_restored();
    pty
}
