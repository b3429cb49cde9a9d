//! Text: sanitizing, width, wrapping, cutting, nearest names.

pub mod cut;
pub mod near;
pub mod sanitize;
pub mod scan;
pub mod sgr;
pub mod width;
pub mod wrap;
