//! Decoders, channels and the NodeSet reader against bytes of any kind: what the mutation tests and the
//! fuzzers run.

mod channel;
mod nodeset;
mod text;

pub use channel::receive_as_everything;
pub use nodeset::read_as_nodeset;
pub use text::{read_as_json, read_as_xml, text_seeds};

use uaforge_codec::{
    Array, ByteString, DataValue, DataValueRef, Decode, DecodeContext, DecodeLimits, DecodeRef, Decoder,
    DiagnosticInfo, Encode, EncodeContext, EncodedPiece, Encoder, ExpandedNodeId, ExtensionObject,
    LocalizedText, Matrix, NamespaceMap, NodeId, NumericRange, QualifiedName, TypeRegistry, UaString,
    Variant, XmlElement,
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

/// Walks over a DataValue, then decodes it.
fn walk(bytes: &[u8], cx: DecodeContext<'_>) {
    let mut d = Decoder::new(bytes, cx);
    if let Ok(view) = DataValueRef::decode_ref(&mut d) {
        let _ = view.decode_into(&mut Box::default(), &mut d);
    }
}

/// Whatever can be decoded can be walked over, as far and with the same status.
fn walk_as_decode(bytes: &[u8], known: &Known) {
    let mut decoder = Decoder::new(bytes, known.decoding());
    let Ok(value) = DataValue::decode(&mut decoder) else { return };
    let mut walker = Decoder::new(bytes, known.decoding());
    let view = DataValueRef::decode_ref(&mut walker).expect("what can be decoded");
    assert_eq!((walker.remaining(), view.status()), (decoder.remaining(), value.status_or_good()));
}

/// Cuts parts out of what may be an encoded Variant; they lie in it.
fn cut(bytes: &[u8], _: DecodeContext<'_>) {
    for range in ["0", "1:3", "0,0", "0:1,1:2", "0:4294967295", "0,0:1,2:3"] {
        let range: NumericRange = range.parse().expect("a range");
        let _ = range.cut_encoded(bytes, &mut |piece| {
            if let EncodedPiece::Same(at) = piece {
                assert!(bytes.get(at.clone()).is_some(), "{at:?} of {}", bytes.len());
            }
        });
    }
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
            Target { name: "DataValueRef", decode: walk, round_trip: walk_as_decode },
            Target { name: "NumericRange", decode: cut, round_trip: |_, _| {} },
        ];
    };
}

targets! {
    views {
    ReadRequestRef, WriteRequestRef, BrowseRequestRef, BrowseNextRequestRef,
    TranslateBrowsePathsToNodeIdsRequestRef, RegisterNodesRequestRef,
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
