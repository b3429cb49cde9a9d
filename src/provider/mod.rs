//! Clients of models: one folder a wire API, behind one trait.
