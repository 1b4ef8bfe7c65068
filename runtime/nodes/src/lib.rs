//! Address space: static tables, references, type tree, dynamic nodes and value cells.
