//! Routing of events to the parts of the workspace.
