//! The intermediate representation of generated code and its emitters.
