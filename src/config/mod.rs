//! config.json as values: schema, parsing, layers, edits.
