//! Nesting: at least 100 levels work, more end with an error, and whatever decodes can be compared,
//! printed, written and dropped, all on a stack of 256 KiB (case 005; OPC 10000-6 §5.1.8, §5.1.9).

use std::thread;

use uaforge_codec::{
    Array, ConstIdentifier, DataValue, DataValueRef, Decode, DecodeError, DecodeReason, DecodeRef as _,
    Decoder, DiagnosticInfo, Encode, Encoder, ExtensionObject, NodeId, StatusCode, Structure,
    StructureDescriptor, StructureKind, TypeKey, UaString, Variant,
};
use uaforge_tests::hostile::Known;
use uaforge_tests::nesting::{Holds, Link, again, decode, links, on_small_stack};
use uaforge_tests::notation::encoded;

/// The null ExtensionObject.
const NULL_OBJECT: [u8; 3] = [0; 3];

fn variants(levels: usize) -> Vec<u8> {
    let mut bytes = [0x98, 1, 0, 0, 0].repeat(levels);
    bytes.extend([0x01, 0x01]);
    bytes
}

#[test]
fn a_hundred_levels_of_variants() {
    on_small_stack("variants", || {
        let known = Known::default();
        assert_eq!(again::<Variant>(&variants(100), &known), Ok(variants(100)));
        // The view walks over one that stands in a DataValue, which is a level too.
        let walk = |levels| {
            let bytes = [vec![0x01], variants(levels)].concat();
            DataValueRef::decode_ref(&mut Decoder::new(&bytes, known.decoding())).map(|_| ())
        };
        walk(99).expect("at the limit");
        walk(100).expect_err("beyond it");
        let error = again::<Variant>(&variants(101), &known).expect_err("one too many");
        assert_eq!(error.reason(), DecodeReason::TooDeep);
        assert_eq!(error.status(), StatusCode::BAD_ENCODING_LIMITS_EXCEEDED);
    });
}

#[test]
fn a_hundred_levels_of_diagnostics() {
    on_small_stack("diagnostics", || {
        let known = Known::default();
        let levels = |count| [vec![0x40; count], vec![0x00]].concat();
        assert_eq!(again::<DiagnosticInfo>(&levels(100), &known), Ok(levels(100)));
        again::<DiagnosticInfo>(&levels(101), &known).expect_err("one too many");
    });
}

#[test]
fn types_that_alternate_share_the_levels() {
    on_small_stack("alternating", || {
        let known = Known::default();
        // A DataValue in a Variant is two levels.
        let levels = |count| [[0x17, 0x01].repeat(count), vec![0x00]].concat();
        assert_eq!(again::<Variant>(&levels(50), &known), Ok(levels(50)));
        again::<Variant>(&levels(51), &known).expect_err("too many");
    });
}

#[test]
fn a_hundred_thousand_levels_are_a_plain_error() {
    const NESTS: &[&[u8]] = &[
        &[0x98, 1, 0, 0, 0],
        &[0x17, 0x01],
        &[0x97, 1, 0, 0, 0, 0x01],
        &[0x40],
        &[0x98, 1, 0, 0, 0, 0x17, 0x01],
        // A LiteralOperand with a Variant that holds the next one, lengths left out.
        &[0x16, 0x01, 0x00, 0x55, 0x02, 0x01, 0xFF, 0xFF, 0xFF, 0xFF],
    ];
    on_small_stack("a hundred thousand", || {
        let known = Known::default();
        for nest in NESTS {
            let bytes = nest.repeat(100_000);
            let refused = [
                again::<Variant>(&bytes, &known).expect_err("too deep"),
                again::<DataValue>(&bytes, &known).expect_err("too deep"),
                again::<DiagnosticInfo>(&bytes, &known).expect_err("too deep"),
            ];
            let limits = StatusCode::BAD_ENCODING_LIMITS_EXCEEDED;
            assert!(refused.iter().any(|error| error.status() == limits), "{nest:?}: {refused:?}");
        }
    });
}

#[test]
fn deep_values_are_printed_in_part() {
    let known = Known::default();
    let shallow = decode::<Variant>(&variants(3), &known).expect("a value");
    assert_eq!(format!("{shallow:?}"), "Array(Variant([Array(Variant([Array(Variant([Boolean(true)]))]))]))");
    let deep = format!("{:?}", decode::<Variant>(&variants(100), &known).expect("a value"));
    assert_eq!(deep.matches("Array").count(), 9, "{deep}");
    assert_eq!(deep.matches('…').count(), 1, "{deep}");
    // Width and precision of scalars are theirs.
    assert_eq!(format!("{:.1?}", Variant::Double(64.52)), "Double(64.5)");
}

/// Every place of a structure that can hold any structure, with what else must stand between.
fn chains(links: &[Link]) -> Vec<Vec<&Link>> {
    let structures = || links.iter().filter(|link| link.holds == Holds::Structure);
    let chain = |link| match link {
        link if Link::accepts(link, link) => Some(vec![link]),
        link => Some(vec![link, structures().find(|open| link.accepts(open) && open.accepts(link))?]),
    };
    structures().filter_map(chain).collect()
}

fn nest(chain: &[&Link], levels: usize) -> Vec<u8> {
    let around = |bytes: Vec<u8>| chain.iter().rev().fold(bytes, |bytes, link| link.around(&bytes));
    (0..levels).fold(NULL_OBJECT.into(), |bytes, _| around(bytes))
}

/// As deep as it decodes, and one more level than that.
fn deepest(chain: &[&Link], known: &Known) -> (Vec<u8>, Vec<u8>) {
    let most = known.decoding().limits.max_depth as usize;
    let decodes = |levels: &usize| decode::<ExtensionObject>(&nest(chain, *levels), known).is_ok();
    // Structures alone take one level, Variants and DataValues between them take more.
    let levels = [1, 2, 3, 4, 5].into_iter().map(|each| most / each).find(decodes).expect("some depth");
    assert!(!decodes(&(levels + 1)), "{} has no limit", chain[0].name);
    (nest(chain, levels), nest(chain, levels + 1))
}

/// Structures are the widest values: their frames have to fit too.
#[test]
fn every_structure_nests_up_to_the_limit() {
    let big = thread::Builder::new().stack_size(64 << 20).spawn(|| {
        let known = Known::default();
        let links = links(known.decoding().types);
        let chains = chains(&links);
        let all = chains.iter().map(|chain| (chain[0].name.clone(), deepest(chain, &known)));
        all.collect::<Vec<_>>()
    });
    let all = big.expect("a thread").join().expect("no panic");
    assert!(all.len() > 200, "{} places hold structures", all.len());
    for (name, (good, bad)) in all {
        on_small_stack(&name, move || {
            let known = Known::default();
            again::<ExtensionObject>(&good, &known).expect("as before");
            let error = again::<ExtensionObject>(&bad, &known).expect_err("as before");
            assert_eq!(error.reason(), DecodeReason::TooDeep);
        });
    }
}

/// An array in place, as generated structures have them.
#[derive(Clone, Debug, Default, PartialEq)]
struct Holder<T> {
    items: Array<T>,
    name: UaString,
}

impl<T: Encode> Encode for Holder<T> {
    fn encode(&self, e: &mut Encoder<'_>) {
        self.items.encode(e);
        self.name.encode(e);
    }
}

impl<T: Decode> Decode for Holder<T> {
    fn decode_into(&mut self, d: &mut Decoder<'_>) -> Result<(), DecodeError> {
        d.field("items", &mut self.items)?;
        d.field("name", &mut self.name)
    }
}

type Four<T> = Holder<Holder<Holder<Holder<T>>>>;
type Wide = Four<Four<Four<ExtensionObject>>>;

impl Structure for Wide {
    const DATA_TYPE: TypeKey = TypeKey { namespace: "urn:vec:app", id: ConstIdentifier::Numeric(9000) };
    const DESCRIPTOR: &'static StructureDescriptor = &StructureDescriptor {
        name: "Wide",
        data_type: Self::DATA_TYPE,
        binary_encoding: Some(TypeKey { namespace: "urn:vec:app", id: ConstIdentifier::Numeric(9001) }),
        xml_encoding: None,
        json_encoding: None,
        kind: StructureKind::Plain,
        fields: &[],
        inherited: 0,
        supertypes: &[],
    };
}

/// Structures of users may hold more in place than those of the specification: that is bounded too.
#[test]
fn structures_in_place_are_bounded() {
    let around = |inner: Vec<u8>| {
        let body = [[1, 0, 0, 0].repeat(12), inner, vec![0xFF; 4 * 12]].concat();
        let len = u32::try_from(body.len()).expect("short").to_le_bytes();
        [encoded(&NodeId::numeric(1, 9001)), vec![1], len.to_vec(), body].concat()
    };
    let nested = move |levels| (0..levels).fold(NULL_OBJECT.to_vec(), |inner, _| around(inner));
    on_small_stack("Wide", move || {
        let known = Known::with(|types| types.register::<Wide>());
        let decodes = |levels: usize| again::<ExtensionObject>(&nested(levels), &known);
        let levels = (0..100).take_while(|levels| decodes(*levels).is_ok()).last().expect("some");
        assert!(levels > 25, "{levels}");
        assert_eq!(decodes(levels + 1).expect_err("too deep").reason(), DecodeReason::TooDeep);
    });
}

#[test]
fn every_structure_holds_deep_diagnostics() {
    let known = Known::default();
    let links = links(known.decoding().types);
    let places: Vec<_> = links.into_iter().filter(|link| link.holds == Holds::Diagnostics).collect();
    assert!(places.len() > 10, "{} places hold diagnostics", places.len());
    for link in places {
        let name = link.name.clone();
        on_small_stack(&name, move || {
            let known = Known::default();
            let deep = |levels| link.around(&[vec![0x40; levels], vec![0x00]].concat());
            // The ExtensionObject is a level too.
            again::<ExtensionObject>(&deep(99), &known).expect("at the limit");
            again::<ExtensionObject>(&deep(100), &known).expect_err("beyond it");
        });
    }
}
