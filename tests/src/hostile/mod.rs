//! Decoders, channels and the NodeSet reader against bytes of any kind: what the mutation tests and the
//! fuzzers run.

mod channel;
mod nodeset;

pub use channel::receive_as_everything;
pub use nodeset::read_as_nodeset;

use uaforge_codec::{
    Array, ByteString, DataValue, Decode, DecodeContext, DecodeLimits, DecodeRef, Decoder, DiagnosticInfo,
    Encode, EncodeContext, Encoder, ExpandedNodeId, ExtensionObject, LocalizedText, Matrix, NamespaceMap,
    NodeId, QualifiedName, TypeRegistry, UaString, Variant, XmlElement,
};
use uaforge_types as types;

use crate::fixtures::vec;
use crate::notation::namespaces;

/// Namespaces and types that the decoders know.
#[derive(Debug)]
pub struct Known {
    namespaces: NamespaceMap,
    types: TypeRegistry,
}

static LIMITS: DecodeLimits = DecodeLimits::DEFAULT;

impl Default for Known {
    fn default() -> Self {
        Self::with(|_| {})
    }
}

impl Known {
    /// The types of namespace 0, those of the vectors and further ones.
    #[must_use]
    pub fn with(register: impl FnOnce(&mut TypeRegistry)) -> Self {
        let mut registry = TypeRegistry::new();
        types::register_types(&mut registry);
        vec::register_types(&mut registry);
        register(&mut registry);
        Self { namespaces: namespaces(), types: registry }
    }

    /// For decoding with the default limits.
    #[must_use]
    pub fn decoding(&self) -> DecodeContext<'_> {
        DecodeContext { limits: &LIMITS, namespaces: &self.namespaces, types: &self.types }
    }

    /// For encoding.
    #[must_use]
    pub fn encoding(&self) -> EncodeContext<'_> {
        EncodeContext { namespaces: &self.namespaces }
    }
}

/// A type to decode hostile bytes as.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name.
    pub name: &'static str,
    /// Decodes and drops.
    pub decode: fn(&[u8], DecodeContext<'_>),
    /// Decodes, encodes what came out, and does so again with that.
    ///
    /// Panics unless the second round gives the bytes of the first.
    pub round_trip: fn(&[u8], &Known),
}

fn owned<T: Decode>(bytes: &[u8], cx: DecodeContext<'_>) {
    let mut value = Box::<T>::default();
    // An error is as good as a value.
    let _ = value.decode_into(&mut Decoder::new(bytes, cx));
}

fn round_trip<T: Decode + Encode>(bytes: &[u8], known: &Known) {
    let written = |bytes: &[u8]| {
        let value = T::decode(&mut Decoder::new(bytes, known.decoding())).ok()?;
        let mut out = Vec::new();
        let mut e = Encoder::new(&mut out, known.encoding());
        value.encode(&mut e);
        // What came out of a message at the limit of nesting can always be written.
        e.finish().expect("a decoded value can be written");
        Some(out)
    };
    if let Some(first) = written(bytes) {
        // A canonical encoding may be longer than the bytes it came from, never need more.
        if let Some(second) = written(&first) {
            assert_eq!(first, second, "{}", std::any::type_name::<T>());
        }
    }
}

fn view<'a, T: DecodeRef<'a>>(bytes: &'a [u8], cx: DecodeContext<'a>) {
    let _ = T::decode_ref(&mut Decoder::new(bytes, cx));
}

macro_rules! targets {
    (views { $($view:ident,)* } owned { $($owned:ty,)* }) => {
        /// Every target.
        pub const TARGETS: &[Target] = &[
            $(Target {
                name: stringify!($owned),
                decode: owned::<$owned>,
                round_trip: round_trip::<$owned>,
            },)*
            $(Target {
                name: stringify!($view),
                decode: |bytes, cx| view::<types::$view<'_>>(bytes, cx),
                round_trip: |_, _| {},
            },)*
        ];
    };
}

targets! {
    views {
    ReadRequestRef, BrowseRequestRef, BrowseNextRequestRef, TranslateBrowsePathsToNodeIdsRequestRef,
    }
    owned {
    Variant, DataValue, DiagnosticInfo, ExtensionObject, Array<Variant>, Array<DataValue>, Array<DiagnosticInfo>,
    Array<ExtensionObject>, UaString, ByteString, XmlElement, NodeId, ExpandedNodeId, QualifiedName, LocalizedText,
    Array<NodeId>, Array<ExpandedNodeId>, Array<QualifiedName>, Array<LocalizedText>, Array<UaString>, Array<bool>,
    Array<f64>, Vec<String>, Matrix<f64>, Matrix<Variant>, Array<Array<u8>>,
    types::ReadRequest, types::ReadResponse, types::WriteRequest, types::BrowseRequest, types::BrowseResponse,
    types::TranslateBrowsePathsToNodeIdsRequest, types::CreateSessionRequest, types::CreateSessionResponse,
    types::ActivateSessionRequest, types::GetEndpointsResponse, types::FindServersResponse,
    types::CreateMonitoredItemsRequest, types::PublishRequest, types::PublishResponse, types::CallRequest,
    types::CallResponse, types::AddNodesRequest, types::HistoryReadRequest, types::QueryFirstRequest,
    types::Argument, types::StructureDefinition, types::PubSubConfigurationDataType, types::DataSetMetaDataType,
    Array<types::ServerStatusDataType>, Array<vec::VecOptional>, Array<vec::VecUnion>, vec::VecOuter,
    }
}

/// Decodes `input` as everything.
pub fn decode_as_everything(input: &[u8], known: &Known) {
    for target in TARGETS {
        (target.decode)(input, known.decoding());
        (target.round_trip)(input, known);
    }
}
