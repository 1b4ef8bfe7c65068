//! Value cells: what is read was written at one time; every change is told.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use uaforge_codec::{
    DataValue, DateTime, Decode, DecodeContext, Decoder, EncodeContext, Encoder, IntoVariant, NumericRange,
    StatusCode, Variant, VariantArray,
};
use uaforge_nodes::{Listener, Timestamps, ValueCell};

fn every_kind() -> Vec<Variant> {
    vec![
        Variant::Null,
        true.into_variant(),
        (-5_i8).into_variant(),
        200_u8.into_variant(),
        (-500_i16).into_variant(),
        500_u16.into_variant(),
        i32::MIN.into_variant(),
        u32::MAX.into_variant(),
        i64::MIN.into_variant(),
        u64::MAX.into_variant(),
        (-0.5_f32).into_variant(),
        f64::MAX.into_variant(),
        DateTime(7).into_variant(),
        StatusCode(0x8000_0000).into_variant(),
        "text".to_owned().into_variant(),
        vec![1.0, 2.0].into_variant(),
    ]
}

#[test]
fn every_value_comes_back() {
    let cell = ValueCell::default();
    for (count, value) in (1_u64..).zip(every_kind()) {
        let status = StatusCode(0x4000_0000);
        cell.write(value.clone(), status, Some(DateTime(1)), Some(DateTime(2)));
        let wanted = DataValue::new(value)
            .with_status(status)
            .with_source_timestamp(DateTime(1))
            .with_server_timestamp(DateTime(2));
        assert_eq!(cell.read(), wanted);
        assert_eq!(cell.changes(), count + 1, "the first value counts too");
    }
    cell.write_data_value(&DataValue::new(3_i32).with_source_timestamp(DateTime(9)));
    let state = cell.state();
    assert_eq!((state.value, state.status), (Variant::Int32(3), StatusCode::GOOD));
    assert_eq!((state.source, state.server), (Some(DateTime(9)), None));
    cell.set_status(StatusCode(0x8000_0000), None);
    assert_eq!(cell.get::<i32>(), Ok(3), "the value stays");
    cell.get::<f64>().expect_err("it is no Double");
}

#[test]
fn the_encoding_is_that_of_a_data_value() {
    let cell = ValueCell::default();
    let mut bytes = Vec::new();
    for value in every_kind() {
        for status in [StatusCode::GOOD, StatusCode(0x8000_0000)] {
            for source in [None, Some(DateTime(5))] {
                cell.write(value.clone(), status, source, None);
                let timestamps = Timestamps { source: true, server: Some(DateTime(6)) };
                bytes.clear();
                cell.encode_data_value(&mut Encoder::new(&mut bytes, EncodeContext::default()), timestamps);
                let decoded = DataValue::decode(&mut Decoder::new(&bytes, DecodeContext::default()));
                let wanted = DataValue::default()
                    .with_value((value != Variant::Null).then(|| value.clone()))
                    .with_status((status != StatusCode::GOOD).then_some(status))
                    .with_source_timestamp(source)
                    .with_server_timestamp(DateTime(6));
                assert_eq!(decoded, Ok(wanted));
            }
        }
    }
}

/// Writers change value, status and timestamp together; a reader must never see parts of two writes.
#[test]
fn no_reader_sees_half_a_write() {
    let cell = ValueCell::new(0_u64);
    cell.write(0_u64.into_variant(), StatusCode(0), Some(DateTime(0)), None);
    let stop = AtomicBool::new(false);
    let write = |from: u64| {
        for number in (from..4000).step_by(2) {
            // Every third value is one that does not fit into a word.
            let value = match number % 3 {
                0 => number.to_string().into_variant(),
                _ => number.into_variant(),
            };
            let time = Some(DateTime(i64::try_from(number).expect("small")));
            cell.write(value, StatusCode(u32::try_from(number).expect("small")), time, None);
        }
    };
    let read = || {
        while !stop.load(Ordering::Relaxed) {
            let state = cell.state();
            let number = match &state.value {
                Variant::UInt64(number) => *number,
                Variant::String(text) => text.as_str().expect("text").parse().expect("a number"),
                other => panic!("{other:?}"),
            };
            assert_eq!(u64::from(state.status.0), number);
            assert_eq!(state.source, Some(DateTime(i64::try_from(number).expect("small"))));
        }
    };
    std::thread::scope(|scope| {
        let readers = [scope.spawn(read), scope.spawn(read)];
        let writers = [scope.spawn(move || write(1)), scope.spawn(move || write(2))];
        for writer in writers {
            writer.join().expect("no panic");
        }
        stop.store(true, Ordering::Relaxed);
        for reader in readers {
            reader.join().expect("no panic");
        }
    });
}

#[derive(Default)]
struct Count(AtomicU64);

impl Listener for Count {
    fn changed(&self, _: &ValueCell) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn listeners_are_told_until_they_leave() {
    let cell = ValueCell::new(0);
    let (first, second) = (Arc::new(Count::default()), Arc::new(Count::default()));
    let key = cell.listen(first.clone());
    cell.set(1, None);
    let other = cell.listen(second.clone());
    cell.set(2, None);
    cell.unlisten(key);
    cell.set(3, None);
    cell.unlisten(other);
    cell.set(4, None);
    assert_eq!((first.0.load(Ordering::Relaxed), second.0.load(Ordering::Relaxed)), (2, 2));
    assert_eq!(Arc::strong_count(&first), 1, "the cell lets go of who has left");
}

#[test]
fn updates_of_many_do_not_undo_each_other() {
    const EACH: usize = 2_000;
    let scalar = ValueCell::new(0_u64);
    let list = ValueCell::new(VariantArray::UInt64(vec![0, 0, 0].into()));
    let count = Arc::new(Count::default());
    scalar.listen(count.clone());
    std::thread::scope(|scope| {
        for writer in 0..3 {
            let (scalar, list) = (&scalar, &list);
            scope.spawn(move || {
                let place: NumericRange = writer.to_string().parse().expect("a range");
                for round in 1..=EACH as u64 {
                    let added = scalar.update(|state| {
                        let Variant::UInt64(sum) = state.value else { return Err("a number was there") };
                        state.value = Variant::UInt64(sum + 1);
                        Ok(())
                    });
                    added.expect("it was");
                    let part = VariantArray::UInt64(vec![round].into()).into();
                    list.update(|state| place.replace(&mut state.value, &part)).expect("three places");
                }
            });
        }
    });
    assert_eq!(scalar.get(), Ok(3 * EACH as u64));
    assert_eq!(list.value(), VariantArray::UInt64(vec![EACH as u64; 3].into()).into());
    assert_eq!(count.0.load(Ordering::Relaxed), 3 * EACH as u64);
    // One that fails leaves all as it was, and tells nobody.
    let before = (list.value(), list.changes());
    assert_eq!(list.update(|_| Err("no")), Err("no"));
    assert_eq!(scalar.update(|_| Err("no")), Err("no"));
    assert_eq!((list.value(), list.changes()), before);
    assert_eq!(scalar.get(), Ok(3 * EACH as u64));
    assert_eq!(count.0.load(Ordering::Relaxed), 3 * EACH as u64);
}
