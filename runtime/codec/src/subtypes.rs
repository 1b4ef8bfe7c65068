//! Fields that allow subtypes: what their ExtensionObjects may hold (OPC 10000-6 §5.2.6).

use crate::{Array, ExtensionObject, ExtensionObjectBody, Matrix, TypeKey};

/// A field that holds structures as ExtensionObjects (OPC 10000-6 §5.2.6).
pub trait HoldsStructures {
    /// Whether every structure of a known type in it is `base` or derives from it. Bodies of unknown
    /// types are kept as they are, so that they count as fitting.
    fn hold_subtypes_of(&self, base: &TypeKey) -> bool;
}

impl HoldsStructures for ExtensionObject {
    fn hold_subtypes_of(&self, base: &TypeKey) -> bool {
        match self.body() {
            ExtensionObjectBody::Value(value) => value.descriptor().is_subtype_of(base),
            _ => true,
        }
    }
}

impl<T: HoldsStructures> HoldsStructures for [T] {
    fn hold_subtypes_of(&self, base: &TypeKey) -> bool {
        self.iter().all(|item| item.hold_subtypes_of(base))
    }
}

impl<T: HoldsStructures> HoldsStructures for Array<T> {
    fn hold_subtypes_of(&self, base: &TypeKey) -> bool {
        self.as_slice().hold_subtypes_of(base)
    }
}

impl<T: HoldsStructures> HoldsStructures for alloc::vec::Vec<T> {
    fn hold_subtypes_of(&self, base: &TypeKey) -> bool {
        self.as_slice().hold_subtypes_of(base)
    }
}

impl<T: HoldsStructures> HoldsStructures for Matrix<T> {
    fn hold_subtypes_of(&self, base: &TypeKey) -> bool {
        self.elements().hold_subtypes_of(base)
    }
}

impl<T: HoldsStructures> HoldsStructures for Option<T> {
    fn hold_subtypes_of(&self, base: &TypeKey) -> bool {
        self.as_ref().is_none_or(|value| value.hold_subtypes_of(base))
    }
}
