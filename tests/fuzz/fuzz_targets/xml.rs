//! Every type against the input as XML.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use uaforge_tests::hostile::{Known, read_as_xml};

static KNOWN: LazyLock<Known> = LazyLock::new(Known::default);

fuzz_target!(|input: &[u8]| read_as_xml(input, &KNOWN));
