//! The terminal: modes entered and left, input, output.
