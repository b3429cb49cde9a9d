//! State to cells of the screen.

pub mod theme;
