//! What the generator wrote for one NodeSet per feature, compiled under the lints of the workspace.

#[rustfmt::skip]
#[path = "../../goldens/abstract_types/mod.rs"]
pub mod abstract_types;

#[rustfmt::skip]
#[path = "../../goldens/allow_subtypes/mod.rs"]
pub mod allow_subtypes;

#[rustfmt::skip]
#[path = "../../goldens/awkward_names/mod.rs"]
pub mod awkward_names;

#[rustfmt::skip]
#[path = "../../goldens/bsd_switch_and_length_fields/mod.rs"]
pub mod bsd_switch_and_length_fields;

#[rustfmt::skip]
#[path = "../../goldens/case_collisions/mod.rs"]
pub mod case_collisions;

#[rustfmt::skip]
#[path = "../../goldens/enum_negative_and_gaps/mod.rs"]
pub mod enum_negative_and_gaps;

#[rustfmt::skip]
#[path = "../../goldens/inheritance/mod.rs"]
pub mod inheritance;

#[rustfmt::skip]
#[path = "../../goldens/matrices/mod.rs"]
pub mod matrices;

#[rustfmt::skip]
#[path = "../../goldens/methods/mod.rs"]
pub mod methods;

#[rustfmt::skip]
#[path = "../../goldens/methods_derived/mod.rs"]
pub mod methods_derived;

#[rustfmt::skip]
#[path = "../../goldens/node_attributes/mod.rs"]
pub mod node_attributes;

#[rustfmt::skip]
#[path = "../../goldens/option_set_byte/mod.rs"]
pub mod option_set_byte;

#[rustfmt::skip]
#[path = "../../goldens/option_set_structure/mod.rs"]
pub mod option_set_structure;

#[rustfmt::skip]
#[path = "../../goldens/option_sets/mod.rs"]
pub mod option_sets;

#[rustfmt::skip]
#[path = "../../goldens/recursion/mod.rs"]
pub mod recursion;

#[rustfmt::skip]
#[path = "../../goldens/recursive_structure/mod.rs"]
pub mod recursive_structure;

#[rustfmt::skip]
#[path = "../../goldens/reserved_words/mod.rs"]
pub mod reserved_words;

#[rustfmt::skip]
#[path = "../../goldens/simple_types/mod.rs"]
pub mod simple_types;

#[rustfmt::skip]
#[path = "../../goldens/struct_optional_fields/mod.rs"]
pub mod struct_optional_fields;

#[rustfmt::skip]
#[path = "../../goldens/two_models_base/mod.rs"]
pub mod two_models_base;

#[rustfmt::skip]
#[path = "../../goldens/two_models_derived/mod.rs"]
pub mod two_models_derived;

#[rustfmt::skip]
#[path = "../../goldens/typed_client_method_call/mod.rs"]
pub mod typed_client_method_call;

#[rustfmt::skip]
#[path = "../../goldens/union_basic/mod.rs"]
pub mod union_basic;

#[rustfmt::skip]
#[path = "../../goldens/unions/mod.rs"]
pub mod unions;

#[rustfmt::skip]
#[path = "../../goldens/value_ranks_and_dimensions/mod.rs"]
pub mod value_ranks_and_dimensions;

#[rustfmt::skip]
#[path = "../../goldens/vectors/mod.rs"]
pub mod vectors;

#[rustfmt::skip]
#[path = "../../goldens/xml_values/mod.rs"]
pub mod xml_values;

#[rustfmt::skip]
#[path = "../../goldens/shapes/mod.rs"]
pub mod shapes;

#[rustfmt::skip]
#[path = "../../goldens/object_names/mod.rs"]
pub mod object_names;

#[rustfmt::skip]
#[path = "../../goldens/node_ids/mod.rs"]
pub mod node_ids;

#[rustfmt::skip]
#[path = "../../goldens/base_types/mod.rs"]
pub mod base_types;
