//! Sans-IO UA TCP and secure conversation: hello, chunks, sequence numbers, tokens.
