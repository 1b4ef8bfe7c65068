//! The NodeSet reader and resolver against the input.
#![no_main]

use libfuzzer_sys::fuzz_target;
use uaforge_tests::hostile::read_as_nodeset;

fuzz_target!(|input: &[u8]| read_as_nodeset(input));
