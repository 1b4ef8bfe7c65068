//! The codegen cases 011 to 019, and 026: generated types against the vectors of `cases/`, in both directions.
//!
//! That generation succeeds without a warning, twice with the same bytes, and that the output compiles
//! is the business of the goldens, which are made of the same files.

use std::fmt::Debug;

use serde_json::Value;
use uaforge_codec::{
    Array, Decode, DecodeContext, DecodeError, DecodeReason, Decoder, Encode, EncodeContext, Encoder,
    ExtensionObject, Matrix, ModelNamespaces, NamespaceMap, StatusCode, Structure, TypeRegistry, Variant,
};
use uaforge_goldens::{
    allow_subtypes, bsd_switch_and_length_fields, case_collisions, enum_negative_and_gaps, option_set_byte,
    recursion, recursive_structure, reserved_words, struct_optional_fields, union_basic,
    value_ranks_and_dimensions,
};

/// The vectors of a case.
struct Vectors {
    /// Those that are read and written.
    values: Vec<Vec<u8>>,
    /// Those that are refused, with the statuses that are right.
    errors: Vec<(Vec<u8>, Vec<StatusCode>)>,
}

fn vectors(case: &str) -> Vectors {
    let path = format!("{}/../cases/{case}/expected.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("a case");
    let expected: Value = serde_json::from_str(&text).expect("JSON");
    let mut vectors = Vectors { values: Vec::new(), errors: Vec::new() };
    for vector in expected["vectors"].as_array().expect("vectors") {
        let bytes = hex::decode(vector["hex"].as_str().expect("hex")).expect("hex");
        match vector["outcome"].as_str() {
            Some("value") => vectors.values.push(bytes),
            Some("error") => {
                let names = vector["status"].as_array().expect("statuses").iter();
                vectors.errors.push((bytes, names.map(|name| status(name.as_str())).collect()));
            }
            other => panic!("{other:?} is no outcome"),
        }
    }
    vectors
}

fn status(name: Option<&str>) -> StatusCode {
    match name {
        Some("Bad_DecodingError") => StatusCode::BAD_DECODING_ERROR,
        Some("Bad_EncodingLimitsExceeded") => StatusCode::BAD_ENCODING_LIMITS_EXCEEDED,
        other => panic!("{other:?} is no status of these cases"),
    }
}

fn decode<T: Decode>(bytes: &[u8], cx: DecodeContext<'_>) -> Result<T, DecodeError> {
    let mut d = Decoder::new(bytes, cx);
    let value = T::decode(&mut d)?;
    d.finish()?;
    Ok(value)
}

fn encode(value: &impl Encode, namespaces: &NamespaceMap) -> Vec<u8> {
    let mut out = Vec::new();
    let mut e = Encoder::new(&mut out, EncodeContext { namespaces });
    value.encode(&mut e);
    e.finish().expect("it can be written");
    out
}

/// Both directions, and decoding into a value that held something else.
fn check<T: Structure>(bytes: &[u8], value: &T, used: &T) {
    let cx = DecodeContext::default();
    assert_eq!(&decode::<T>(bytes, cx).expect("it can be read"), value);
    assert_eq!(hex::encode(encode(value, cx.namespaces)), hex::encode(bytes));
    let mut reused = used.clone();
    reused.decode_into(&mut Decoder::new(bytes, cx)).expect("it can be read");
    assert_eq!(&reused, value);
}

/// Each value stands for one vector; the default takes the fewest bytes.
fn check_all<T: Structure>(vectors: &[Vec<u8>], values: &[T], used: &T) {
    assert_eq!(vectors.len(), values.len());
    for (bytes, value) in vectors.iter().zip(values) {
        check(bytes, value, used);
    }
    check_min_size::<T>();
}

/// The bound of the type is what its default takes; recursive types have none.
fn check_min_size<T: Structure>() {
    let least = encode(&T::default(), NamespaceMap::ns0_only()).len();
    assert!(T::MIN_SIZE == least || T::MIN_SIZE == 0, "{} is not {least}", T::MIN_SIZE);
}

fn refuse<T: Decode + Debug>(bytes: &[u8], status: &[StatusCode]) {
    let error = decode::<T>(bytes, DecodeContext::default()).expect_err("it is refused");
    assert!(status.contains(&error.status()), "{error}");
}

fn refuse_all<T: Decode + Debug>(vectors: &Vectors, count: usize) {
    assert_eq!(vectors.errors.len(), count);
    for (bytes, status) in &vectors.errors {
        refuse::<T>(bytes, status);
    }
}

/// A thread with little stack.
fn on_small_stack(run: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(256 << 10).spawn(run).expect("a thread");
    thread.join().expect("nothing panics or overflows");
}

#[test]
fn case_011_struct_optional_fields() {
    use struct_optional_fields::ScanSettings as Scan;
    let vectors = vectors("011-struct-optional-fields");
    let values = [
        Scan { mode: 7, limit: None, count: 258, label: None },
        Scan { mode: 1, limit: Some(2.5), count: 0, label: None },
        Scan { mode: 1, limit: None, count: 0, label: Some("x".into()) },
        Scan { mode: 255, limit: Some(-0.5), count: 65_535, label: Some("".into()) },
    ];
    check_all(&vectors.values, &values, &values[3]);
    refuse_all::<Scan>(&vectors, 1);
    assert_ne!(Scan::MIN_SIZE, 0);
}

#[test]
fn case_012_union_basic() {
    use union_basic::Reading;
    let vectors = vectors("012-union-basic");
    let values = [
        Reading::Null,
        Reading::Number(4_000_000_000),
        Reading::Text("ok".into()),
        Reading::Text(uaforge_codec::UaString::NULL),
        Reading::Flag(true),
    ];
    check_all(&vectors.values, &values, &values[1]);
    refuse_all::<Reading>(&vectors, 2);
    assert_ne!(Reading::MIN_SIZE, 0);
}

#[test]
fn case_013_recursive_structure() {
    use recursive_structure::TreeNode;
    let vectors = vectors("013-recursive-structure");
    let leaf =
        |name: Option<&str>, children| TreeNode { name: name.map(Into::into).unwrap_or_default(), children };
    let children = vec![leaf(Some("a"), vec![].into()), leaf(None, vec![].into())];
    let values = [leaf(Some("leaf"), Array::NULL), leaf(Some("r"), children.into())];
    check_all(&vectors.values, &values, &values[1]);
}

/// On a small stack: 100 000 levels are refused; a tree of 90 is read, compared, shown and dropped.
#[test]
fn case_013_deep_trees() {
    use recursive_structure::TreeNode;
    let nested = |levels: usize| {
        let mut bytes = [0, 0, 0, 0, 1, 0, 0, 0].repeat(levels);
        bytes.extend([0; 8]);
        bytes
    };
    on_small_stack(move || {
        refuse::<TreeNode>(&nested(20_000), &LIMITS);
        refuse::<TreeNode>(&nested(100_000), &LIMITS);
        let tree: TreeNode = decode(&nested(90), DecodeContext::default()).expect("90 levels are few");
        let same = tree.clone();
        assert!(tree == same && !format!("{tree:?}").is_empty());
        assert_eq!(encode(&tree, NamespaceMap::ns0_only()), nested(90));
    });
}

/// A structure in an optional field of itself: the mask, the value and the next one.
#[test]
fn case_013_through_an_optional_field() {
    use recursion::{Chain, Outside};
    let link = |value, next| Chain { value, next };
    let chain = link(1, Some(link(2, None).into()));
    let bytes = [1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0];
    check(&bytes, &chain, &link(3, Some(link(4, Some(link(5, None).into())).into())));
    let board = Matrix::new(vec![1, 2], vec![chain.clone(), link(7, None)]).expect("one by two");
    let outside = Outside { chain: chain.clone(), board };
    let bytes = encode(&outside, NamespaceMap::ns0_only());
    check(&bytes, &outside, &Outside::default());
    on_small_stack(|| deep::<Chain>(&[1, 0, 0, 0, 5, 0, 0, 0], &[0, 0, 0, 0, 6, 0, 0, 0]));
}

/// Two structures that contain each other.
#[test]
fn case_013_mutual() {
    use recursion::{Husband, Wife};
    let husband = Husband { name: "a".into(), wife: None };
    let wife = Wife { name: "b".into(), husband: Some(husband.into()) };
    let couple = Husband { name: "c".into(), wife: Some(wife.into()) };
    let text = |text: u8| [1, 0, 0, 0, text];
    let bytes = [&[1, 0, 0, 0][..], &text(b'c'), &[1, 0, 0, 0], &text(b'b'), &[0; 4], &text(b'a')].concat();
    check(&bytes, &couple, &couple);
    on_small_stack(|| deep::<Husband>(&[1, 0, 0, 0, 0, 0, 0, 0], &[0; 8]));
}

/// A union that is its own member, alone and in an array.
#[test]
fn case_013_through_a_union() {
    use recursion::Expression;
    let number = Expression::Number(1.0);
    let one = [&[1, 0, 0, 0][..], &1.0_f64.to_le_bytes()].concat();
    let sum = Expression::Sum(vec![number.clone(), Expression::Negated(number.into())].into());
    let bytes = [&[3, 0, 0, 0, 2, 0, 0, 0][..], &one, &[2, 0, 0, 0], &one].concat();
    check(&bytes, &sum, &Expression::Sum(vec![sum.clone()].into()));
    on_small_stack(|| {
        deep::<Expression>(&[2, 0, 0, 0], &[0; 4]);
        deep::<Expression>(&[3, 0, 0, 0, 1, 0, 0, 0], &[0; 4]);
    });
}

/// Structures that contain each other through a union and an array, none of them optional.
#[test]
fn case_013_structure_and_union() {
    use recursion::{Branch, Leaf, Twig};
    let leaf = Branch { twig: Twig::Leaf(Leaf { size: 3 }) };
    let tree = Branch { twig: Twig::Branch(Branch { twig: Twig::Branches(vec![leaf].into()) }.into()) };
    let bytes = [2, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 3, 0];
    check(&bytes, &tree, &tree);
    on_small_stack(|| deep::<Branch>(&[2, 0, 0, 0], &[0; 4]));
}

const LIMITS: [StatusCode; 2] = [StatusCode::BAD_ENCODING_LIMITS_EXCEEDED, StatusCode::BAD_DECODING_ERROR];

/// A few levels are read, written, compared and dropped; far too many are refused.
fn deep<T: Structure>(level: &[u8], end: &[u8]) {
    let nested = |levels: usize| [level.repeat(levels).as_slice(), end].concat();
    refuse::<T>(&nested(100_000), &LIMITS);
    let few = nested(45);
    let value: T = decode(&few, DecodeContext::default()).expect("45 levels are few");
    assert!(value == value.clone() && !format!("{value:?}").is_empty());
    assert_eq!(encode(&value, NamespaceMap::ns0_only()), few);
}

#[test]
fn case_014_enum_negative_and_gaps() {
    use enum_negative_and_gaps::{Grade, Graded};
    let vectors = vectors("014-enum-negative-and-gaps");
    let values = [
        Graded { value: Grade::LOW, history: vec![Grade::BROKEN, Grade::TOP].into() },
        Graded { value: Grade::NONE, history: Array::NULL },
        Graded { value: Grade(3), history: vec![].into() },
    ];
    check_all(&vectors.values, &values, &values[0]);
    assert_eq!((Grade::BROKEN.0, Grade::HIGH.0, Grade::TOP.0), (i32::MIN, 5, i32::MAX));
    assert_eq!(format!("{:?} {:?}", Grade::NONE, Grade(3)), "None Grade(3)");
}

#[test]
fn case_015_option_set_byte() {
    use option_set_byte::{Door, DoorFlags};
    let vectors = vectors("015-option-set-byte");
    let values = [
        Door { flags: DoorFlags::OPEN | DoorFlags::ALARM, id: 513 },
        Door { flags: DoorFlags::default(), id: 0 },
        Door { flags: DoorFlags::OPEN | DoorFlags(1 << 4), id: 0 },
    ];
    check_all(&vectors.values, &values, &values[0]);
    assert!(values[0].flags.contains(DoorFlags::ALARM) && !values[0].flags.contains(DoorFlags::LOCKED));
}

#[test]
fn case_016_reserved_words() {
    use reserved_words::{Enum, Keywords, ids};
    let value = Keywords {
        r#type: 1,
        self_: 2,
        self_3: 3,
        super_: 4,
        crate_: 5,
        r#async: 6,
        r#await: 7,
        r#match: 8,
        r#yield: 9,
        r#gen: 10,
        r#try: 11,
        union: 12,
        r#move: 13,
        r#ref: 14,
        r#dyn: 15,
        r#abstract: 16,
        r#box: 17,
        r#macro: 18,
        r#static: 19,
        unnamed: 20,
    };
    check(&vectors("016-reserved-words").values[0], &value, &Keywords::default());
    let names: Vec<&str> = Keywords::DESCRIPTOR.fields.iter().map(|field| field.name).collect();
    assert_eq!(names[..5], ["type", "self", "Self", "super", "crate"]);
    assert_eq!(names[19], "_");
    assert_eq!((Enum::TRUE.0, Enum::FALSE.0, Enum::AS.0, Enum::IN.0), (0, 1, 2, 3));
    let _ = (ids::object_type::IMPL, ids::method::IMPL_LOOP, ids::variable::IMPL_WHERE);
}

#[test]
fn case_017_case_collisions() {
    use case_collisions::{Axis, Switch, VALVE, Valve, ids};
    let vectors = vectors("017-case-collisions");
    let axis = Axis { max_speed: 1, max_speed_2: 2, max_speed_3: 3, max_speed_4: 4 };
    check(&vectors.values[0], &axis, &Axis::default());
    check(&vectors.values[1], &Valve { open: true }, &Valve::default());
    check(&vectors.values[2], &VALVE { position: 1.0 }, &VALVE::default());
    assert_eq!((Switch::ON.0, Switch::ON_2.0), (1, 2));
    assert_ne!(ids::object::MOTOR, ids::object::MOTOR_I_5103);
}

#[test]
fn case_018_value_ranks_and_dimensions() {
    use value_ranks_and_dimensions::{Namespaces, Table, ids};
    let cells = Matrix::new(vec![2, 2], vec![1, 2, 3, 4]).expect("two by two");
    let value = Table { cells, row: vec![].into() };
    check(&vectors("018-value-ranks-and-dimensions").values[0], &value, &Table::default());
    let cells = &Table::DESCRIPTOR.fields[0];
    assert_eq!((cells.value_rank, cells.array_dimensions), (2, &[2, 2][..]));
    type Variable<T> = uaforge_codec::ModelId<uaforge_codec::kind::Variable<Namespaces, T>>;
    let _: Variable<i32> = ids::variable::SCALAR;
    let _: Variable<Array<i32>> = ids::variable::FIXED3;
    let _: Variable<Array<f64>> = ids::variable::OPEN;
    let _: Variable<Matrix<i16>> = ids::variable::GRID;
    let _: (Variable<Variant>, Variable<Variant>) = (ids::variable::ANY, ids::variable::SCALAR_OR_LIST);
    let _: Variable<Variant> = ids::variable::UNTYPED;
}

#[test]
fn case_019_allow_subtypes() {
    use allow_subtypes::{Box, Item, NamedItem, Namespaces, register_types};
    let vectors = vectors("019-allow-subtypes").values;
    let namespaces =
        NamespaceMap::from_uris([Namespaces::SLOTS[1], "urn:example:server", Namespaces::SLOTS[0]]);
    let mut types = TypeRegistry::new();
    uaforge_types::register_types(&mut types);
    let unknown =
        DecodeContext { namespaces: &namespaces, types: &types.clone(), ..DecodeContext::default() };
    register_types(&mut types);
    let known = DecodeContext { types: &types, ..unknown };

    let named = NamedItem { id: 9, name: "n".into() };
    let plain = Item { id: 1 };
    let values = [
        Box { content: ExtensionObject::new(named.clone()), measure: 1.5.into(), plain: plain.clone() },
        Box { content: ExtensionObject::new(Item { id: 9 }), measure: Variant::Byte(3), plain },
        Box::default(),
    ];
    for (bytes, value) in vectors.iter().zip(&values) {
        assert_eq!(hex::encode(encode(value, &namespaces)), hex::encode(bytes));
        let read: Box = decode(bytes, known).expect("it can be read");
        assert_eq!(encode(&read, &namespaces), *bytes);
        assert_eq!((&read.measure, &read.plain), (&value.measure, &value.plain));
    }
    let read: Box = decode(&vectors[0], known).expect("it can be read");
    assert_eq!(read.content.downcast_ref::<NamedItem>(), Some(&named));

    // A content of an unknown type is kept as it came; one that is known and no subtype is refused.
    let opaque: Box = decode(&vectors[0], unknown).expect("it can be read");
    assert_eq!(opaque.content.downcast_ref::<NamedItem>(), None);
    assert_eq!(encode(&opaque, &namespaces), vectors[0]);
    let range = uaforge_types::Range { low: 0.0, high: 1.0 };
    let wrong = Box { content: ExtensionObject::new(range), ..Box::default() };
    let error = decode::<Box>(&encode(&wrong, &namespaces), known).expect_err("a Range is no Item");
    assert_eq!((error.reason(), error.path().as_str()), (DecodeReason::NotASubtype, "content"));
}

/// Types of a type dictionary (BSD): bits, lengths and switches of the wire are no fields.
#[test]
fn case_026_bsd_switch_and_length_fields() {
    use bsd_switch_and_length_fields::{Choice, Marks, Point, Sample, Side};
    let vectors = vectors("026-bsd-switch-and-length-fields");
    let (samples, choices) = vectors.values.split_at(2);
    let values = [
        Sample {
            side: Side::LEFT,
            note: None,
            points: vec![Point { x: 1.0, y: -1.0 }].into(),
            limits: None,
            marks: Marks::A | Marks::Z,
        },
        Sample {
            side: Side::RIGHT,
            note: Some("n".into()),
            points: Array::NULL,
            limits: Some(uaforge_types::Range { low: 0.0, high: 10.0 }),
            marks: Marks::default(),
        },
    ];
    check_all(samples, &values, &values[1]);
    check_all(choices, &[Choice::S("hi".into()), Choice::Null], &Choice::P(Point { x: 0.0, y: 0.0 }));
}
