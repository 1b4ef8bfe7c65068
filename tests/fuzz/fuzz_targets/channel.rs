//! Channels in both roles against the input.
#![no_main]

use libfuzzer_sys::fuzz_target;
use uaforge_tests::hostile::receive_as_everything;

fuzz_target!(|input: &[u8]| receive_as_everything(input));
