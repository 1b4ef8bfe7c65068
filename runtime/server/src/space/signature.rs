//! The arguments of a Method, and whether values fit them (OPC 10000-3 §5.7, §8.6).

use uaforge_codec::{
    DecodeContext, ExtensionObject, FromVariant as _, NodeId, NodeIdRef, StatusCode, Variant,
};
use uaforge_nodes::{AttributeId, Direction, Node, Snapshot};
use uaforge_types::{Argument, ids, status};

use super::check;
use crate::methods::MethodError;

/// What a Method takes and gives.
#[derive(Debug)]
pub(crate) struct Signature {
    /// The Method that the arguments are those of.
    method: NodeId,
    inputs: Arguments,
    outputs: Arguments,
    /// Inputs that a call may leave out at the end.
    optional: usize,
}

/// The arguments of one direction.
#[derive(Debug)]
enum Arguments {
    /// As the model states them.
    Declared(Vec<Argument>),
    /// The handler knows how many, and checks their types itself.
    Counted(usize),
    /// The model has the property without a value.
    Any,
}

/// How many arguments a typed handler takes and gives. It counts where nothing of the Method is in the
/// address space, such as arguments that the model states for one of its objects only.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arity {
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
}

impl Signature {
    /// The signature of a Method and its declarations, from the Object's own up through the types: what
    /// one leaves out is taken from the next.
    pub(crate) fn of(
        methods: &[Node<'_>],
        snapshot: &Snapshot,
        decode: DecodeContext<'_>,
        arity: Option<Arity>,
    ) -> Self {
        let arguments = |property, count: Option<usize>| {
            let declared = declared(methods, property, snapshot, decode);
            match (declared, count) {
                (None, _) => Arguments::Any,
                (Some(declared), Some(count)) if declared.is_empty() && count > 0 => {
                    Arguments::Counted(count)
                }
                (Some(declared), _) => Arguments::Declared(declared),
            }
        };
        let described = reference_type(snapshot, HAS_OPTIONAL_INPUT);
        let optional = described.map_or(0, |filter| {
            let counts = methods.iter().map(|method| method.references(Direction::Forward, filter).count());
            counts.max().unwrap_or_default()
        });
        Self {
            method: methods.first().map(|method| method.id().to_owned()).unwrap_or_default(),
            inputs: arguments("InputArguments", arity.map(|arity| arity.inputs)),
            outputs: arguments("OutputArguments", arity.map(|arity| arity.outputs)),
            optional,
        }
    }

    pub(crate) fn method(&self) -> &NodeId {
        &self.method
    }

    /// Checks the inputs of a call; a null value becomes one of the declared type.
    pub(crate) fn check(&self, snapshot: &Snapshot, inputs: &[Variant]) -> Result<Vec<Variant>, MethodError> {
        match &self.inputs {
            Arguments::Declared(declared) => {
                let required = declared.len().saturating_sub(self.optional);
                check_inputs(snapshot, declared, required, inputs)
            }
            Arguments::Counted(count) => {
                check_count(*count, *count, inputs)?;
                Ok(inputs.to_vec())
            }
            Arguments::Any => Ok(inputs.to_vec()),
        }
    }

    /// Whether a handler gave what is declared. Types are looked at in debug builds only.
    pub(crate) fn takes_outputs(&self, snapshot: &Snapshot, outputs: &[Variant]) -> bool {
        let declared = match &self.outputs {
            Arguments::Declared(declared) => declared,
            Arguments::Counted(count) => return *count == outputs.len(),
            Arguments::Any => return true,
        };
        let fits = |(argument, value): (&Argument, &Variant)| check_one(snapshot, argument, value).is_ok();
        declared.len() == outputs.len() && (!cfg!(debug_assertions) || declared.iter().zip(outputs).all(fits))
    }
}

/// HasOptionalInputArgumentDescription (OPC 10000-3 §7.23).
const HAS_OPTIONAL_INPUT: NodeIdRef<'static> =
    ids::reference_type::HAS_OPTIONAL_INPUT_ARGUMENT_DESCRIPTION.identifier().in_namespace(0);
/// HasProperty (OPC 10000-3 §7.8).
const HAS_PROPERTY: NodeIdRef<'static> = ids::reference_type::HAS_PROPERTY.identifier().in_namespace(0);

fn reference_type(snapshot: &Snapshot, id: NodeIdRef<'_>) -> Option<uaforge_nodes::ReferenceFilter> {
    snapshot.reference_filter(id, true)
}

/// The arguments that the first of the methods with this property states; none if no one has it.
fn declared(
    methods: &[Node<'_>],
    property: &str,
    snapshot: &Snapshot,
    decode: DecodeContext<'_>,
) -> Option<Vec<Argument>> {
    let filter = reference_type(snapshot, HAS_PROPERTY)?;
    let mut without_value = false;
    for method in methods {
        let Some(node) = method.follow(filter, false, 0, property).next() else { continue };
        let value = node.attribute(AttributeId::Value).ok().and_then(|value| value.to_variant(decode).ok());
        match value.as_ref().map(|value| arguments(value, decode)) {
            Some(Some(arguments)) => return Some(arguments),
            _ => without_value = true,
        }
    }
    (!without_value).then(Vec::new)
}

fn arguments(value: &Variant, decode: DecodeContext<'_>) -> Option<Vec<Argument>> {
    let objects = ExtensionObject::array_from_variant(value).ok()?;
    objects.iter().map(|object| object.decode_as::<Argument>(decode).ok()).collect()
}

/// Checks inputs against a declaration whose first `required` arguments have to be there.
pub(crate) fn check_inputs(
    snapshot: &Snapshot,
    declared: &[Argument],
    required: usize,
    inputs: &[Variant],
) -> Result<Vec<Variant>, MethodError> {
    check_count(required, declared.len(), inputs)?;
    let mut taken = Vec::with_capacity(declared.len());
    let mut results: Vec<StatusCode> = Vec::new();
    for (index, (argument, value)) in declared.iter().zip(inputs).enumerate() {
        match check_one(snapshot, argument, value) {
            // Left out in the midst of others.
            _ if index >= required && value.is_null() => taken.push(Variant::Null),
            Ok(converted) => taken.push(converted.unwrap_or_else(|| value.clone())),
            Err(status) => {
                results.resize(index, StatusCode::GOOD);
                results.push(status);
            }
        }
    }
    if !results.is_empty() {
        return Err(MethodError { status: status::BAD_INVALID_ARGUMENT, input_argument_results: results });
    }
    // What was left out is no value.
    taken.resize(declared.len(), Variant::Null);
    Ok(taken)
}

fn check_count(least: usize, most: usize, inputs: &[Variant]) -> Result<(), MethodError> {
    match inputs.len() {
        count if count < least => Err(status::BAD_ARGUMENTS_MISSING.into()),
        count if count > most => Err(status::BAD_TOO_MANY_ARGUMENTS.into()),
        _ => Ok(()),
    }
}

fn check_one(
    snapshot: &Snapshot,
    argument: &Argument,
    value: &Variant,
) -> Result<Option<Variant>, StatusCode> {
    let dimensions = argument.array_dimensions.as_slice();
    check::value(snapshot, value, argument.data_type.as_ref(), argument.value_rank, dimensions)
}
