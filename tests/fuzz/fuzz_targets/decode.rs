//! Every decoder against the input.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use uaforge_tests::hostile::{Known, decode_as_everything};

static KNOWN: LazyLock<Known> = LazyLock::new(Known::default);

fuzz_target!(|input: &[u8]| decode_as_everything(input, &KNOWN));
