//! config.json as values: schema, parsing, layers, edits.
//!
//! Text in, values out: no file is read and no environment variable here. `parse` turns a text into a
//! [`schema::Config`], `layer` says which value holds and where it came from, `edit` changes one key of a
//! text, `resolve` chooses the model.

pub mod builtin;
pub mod edit;
pub mod layer;
pub mod parse;
pub mod resolve;
pub mod schema;
