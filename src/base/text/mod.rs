//! Text: sanitizing, width, wrapping, cutting, nearest names.

pub mod cut;
pub mod near;
pub mod width;
