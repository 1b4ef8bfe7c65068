//! What encoding and decoding cost: every builtin type, some services, long arrays against memcpy.
//!
//! `cargo bench -p uaforge-bench --bench codec [FILTER]`. The figure is the best of many rounds, in
//! nanoseconds, as other work on the machine only adds to it.

use std::hint::black_box;
use std::time::{Duration, Instant};

use uaforge_codec::{
    Array, ByteString, ChunkLayout, DataValue, DateTime, Decode, DecodeContext, DecodeRef, Decoder,
    DiagnosticInfo, Encode, EncodeContext, Encoder, ExpandedNodeId, ExtensionObject, Guid, LocalizedText,
    NodeId, QualifiedName, StatusCode, UaString, Variant, VariantArray, XmlElement,
};
use uaforge_types::{
    Argument, BrowseRequest, BrowseRequestRef, PublishResponse, ReadRequest, ReadRequestRef, ReadResponse,
    ReadValueId, ReferenceDescription,
};

/// Elements of the long arrays.
const LONG: usize = 100_000;
/// How long a figure is measured.
const TIME: Duration = Duration::from_millis(120);

/// The chunks of a connection with 64 KB buffers.
const CHUNKS: ChunkLayout = ChunkLayout {
    header: 24,
    trailer: 0,
    chunk_size: 65_536,
    max_message: usize::MAX,
    max_chunks: usize::MAX,
};

struct Bench {
    filter: Option<String>,
}

impl Bench {
    /// Nanoseconds of one call, best of many rounds; `None` if it is filtered out.
    fn measure(&self, name: &str, mut call: impl FnMut()) -> Option<f64> {
        if self.filter.as_ref().is_some_and(|filter| !name.contains(filter.as_str())) {
            return None;
        }
        let begin = Instant::now();
        call();
        let once = begin.elapsed().max(Duration::from_nanos(20));
        let calls = (Duration::from_micros(200).as_nanos() / once.as_nanos()).clamp(1, 10_000) as u32;
        let (mut best, begin) = (f64::INFINITY, Instant::now());
        while begin.elapsed() < TIME {
            let round = Instant::now();
            (0..calls).for_each(|_| call());
            best = best.min(round.elapsed().as_nanos() as f64 / f64::from(calls));
        }
        Some(best)
    }

    fn row(&self, name: &str, bytes: usize, call: impl FnMut()) -> Option<f64> {
        let best = self.measure(name, call)?;
        println!("{name:<44} {bytes:>8} B {best:>12.1} ns {:>9.2} GB/s", bytes as f64 / best);
        Some(best)
    }

    fn value<T: Encode + Decode>(&self, name: &str, value: &T) {
        let bytes = encoded(value);
        let mut out = Vec::with_capacity(bytes.len());
        self.row(&format!("{name}, encode"), bytes.len(), || {
            out.clear();
            black_box(value).encode(&mut Encoder::new(&mut out, EncodeContext::default()));
        });
        self.row(&format!("{name}, decode"), bytes.len(), || {
            black_box(T::decode(&mut decoder(black_box(&bytes))).expect("it was encoded"));
        });
        let mut reused = T::default();
        self.row(&format!("{name}, decode again"), bytes.len(), || {
            reused.decode_into(&mut decoder(black_box(&bytes))).expect("it was encoded");
        });
    }

    fn view<'b, T: DecodeRef<'b>>(&self, name: &str, bytes: &'b [u8]) {
        self.row(&format!("{name}, view"), bytes.len(), || {
            black_box(T::decode_ref(&mut decoder(black_box(bytes))).expect("it was encoded"));
        });
    }

    /// A long array against memcpy of the bytes that it takes.
    fn array<T: Encode + Decode>(&self, name: &str, items: Vec<T>) {
        let array = Array::from(items);
        let bytes = encoded(&array);
        let mut out = Vec::with_capacity(bytes.len() * 2);
        let warm = self.measure(name, || {
            out.clear();
            out.extend_from_slice(black_box(&bytes));
        });
        let fresh = self.measure(name, || drop(black_box(bytes.to_vec())));
        let against = |what: &str, best: Option<f64>, memcpy: Option<f64>| {
            if let (Some(best), Some(memcpy)) = (best, memcpy) {
                println!("{name}, {what}: {:.2} of memcpy", memcpy / best);
            }
        };
        let best = self.row(&format!("{name}, encode into chunks"), bytes.len(), || {
            out.clear();
            black_box(&array).encode(&mut Encoder::chunked(&mut out, EncodeContext::default(), CHUNKS));
        });
        against("encode into chunks", best, warm);
        let best = self.row(&format!("{name}, decode"), bytes.len(), || {
            black_box(Array::<T>::decode(&mut decoder(black_box(&bytes))).expect("it was encoded"));
        });
        against("decode into a fresh allocation", best, fresh);
    }
}

fn decoder(bytes: &[u8]) -> Decoder<'_> {
    Decoder::new(bytes, DecodeContext::default())
}

fn encoded<T: Encode>(value: &T) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut e = Encoder::new(&mut bytes, EncodeContext::default());
    value.encode(&mut e);
    e.finish().expect("it can be written");
    bytes
}

fn builtins(bench: &Bench) {
    bench.value("Boolean", &true);
    bench.value("SByte", &-1_i8);
    bench.value("Byte", &1_u8);
    bench.value("Int16", &-1_i16);
    bench.value("UInt16", &1_u16);
    bench.value("Int32", &-1_i32);
    bench.value("UInt32", &1_u32);
    bench.value("Int64", &-1_i64);
    bench.value("UInt64", &1_u64);
    bench.value("Float", &1.5_f32);
    bench.value("Double", &1.5_f64);
    bench.value("String", &UaString::from("a text of 24 characters."));
    bench.value("DateTime", &DateTime(133_000_000_000_000_000));
    bench.value("Guid", &Guid::NULL);
    bench.value("ByteString", &ByteString::from(&[7; 24][..]));
    bench.value("XmlElement", &XmlElement::from("<a>24 characters .</a>"));
    bench.value("NodeId, two bytes", &NodeId::numeric(0, 84));
    bench.value("NodeId, four bytes", &NodeId::numeric(2, 3_001));
    bench.value("NodeId, string", &NodeId::string(2, "Kettle1.Temperature"));
    bench.value("ExpandedNodeId", &ExpandedNodeId::from(NodeId::numeric(2, 3_001)));
    bench.value("StatusCode", &StatusCode::BAD_DECODING_ERROR);
    bench.value("QualifiedName", &QualifiedName { namespace_index: 2, name: "Temperature".into() });
    bench.value("LocalizedText", &LocalizedText { locale: "en".into(), text: "Temperature".into() });
    let argument = Argument { name: "Target".into(), value_rank: -1, ..Default::default() };
    bench.value("ExtensionObject, null", &ExtensionObject::NULL);
    bench.row("ExtensionObject, encode", encoded(&ExtensionObject::new(argument.clone())).len(), || {
        let mut out = Vec::with_capacity(100);
        let mut e = Encoder::new(&mut out, EncodeContext::default());
        ExtensionObject::encode_structure(black_box(&argument), &mut e);
    });
    bench.value("Variant, Double", &Variant::Double(1.5));
    bench.value("Variant, String", &Variant::String("a text of 24 characters.".into()));
    let numbers = VariantArray::Double((0..100).map(f64::from).collect::<Vec<_>>().into());
    bench.value("Variant, 100 Doubles", &Variant::from(numbers));
    let value = DataValue::new(1.5_f64).with_source_timestamp(DateTime(133_000_000_000_000_000));
    bench.value("DataValue", &value);
    bench.value("DiagnosticInfo", &DiagnosticInfo { symbolic_id: Some(3), ..Default::default() });
}

fn services(bench: &Bench) {
    for count in [1, 100] {
        let node =
            |id| ReadValueId { node_id: NodeId::numeric(2, id), attribute_id: 13, ..Default::default() };
        let request = ReadRequest { nodes_to_read: (0..count).map(node).collect(), ..Default::default() };
        bench.value(&format!("ReadRequest, {count}"), &request);
        bench.view::<ReadRequestRef<'_>>(&format!("ReadRequest, {count}"), &encoded(&request));
        let value = |number: u32| {
            let time = DateTime(133_000_000_000_000_000);
            DataValue::new(f64::from(number)).with_source_timestamp(time).with_server_timestamp(time)
        };
        let response = ReadResponse { results: (0..count).map(value).collect(), ..Default::default() };
        bench.value(&format!("ReadResponse, {count}"), &response);
    }
    let request =
        BrowseRequest { nodes_to_browse: Array::from(vec![Default::default()]), ..Default::default() };
    bench.value("BrowseRequest, 1", &request);
    bench.view::<BrowseRequestRef<'_>>("BrowseRequest, 1", &encoded(&request));
    let reference = ReferenceDescription {
        browse_name: QualifiedName { namespace_index: 2, name: "Temperature".into() },
        display_name: LocalizedText { text: "Temperature".into(), ..Default::default() },
        ..Default::default()
    };
    bench.value("ReferenceDescription", &reference);
    bench.value("PublishResponse, empty", &PublishResponse::default());
}

fn arrays(bench: &Bench) {
    let numbers = 0..LONG as u32;
    bench.array("100,000 Doubles", numbers.clone().map(f64::from).collect());
    bench.array("100,000 Floats", numbers.clone().map(|number| number as f32).collect());
    bench.array("100,000 Int32", numbers.clone().map(|number| number as i32).collect());
    bench.array("100,000 UInt16", numbers.clone().map(|number| number as u16).collect());
    bench.array("100,000 Bytes", numbers.clone().map(|number| number as u8).collect());
    bench.array("100,000 Booleans", numbers.clone().map(|number| number % 2 == 0).collect());
    bench.array("100,000 DateTimes", numbers.clone().map(|number| DateTime(i64::from(number))).collect());
    bench
        .array("100,000 Strings", numbers.clone().map(|number| UaString::from(number.to_string())).collect());
    bench.array("100,000 NodeIds", numbers.clone().map(|number| NodeId::numeric(2, number)).collect());
    bench.array("100,000 DataValues", numbers.map(|number| DataValue::new(f64::from(number))).collect());
}

fn main() {
    // Cargo adds `--bench`.
    let bench = Bench { filter: std::env::args().skip(1).find(|argument| !argument.starts_with("--")) };
    builtins(&bench);
    services(&bench);
    arrays(&bench);
}
