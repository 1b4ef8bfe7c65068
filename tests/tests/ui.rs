//! What must not compile: wrong paths, wrong value types, wrong members (D12).

#[test]
fn what_must_not_compile() {
    trybuild::TestCases::new().compile_fail("ui/*.rs");
}
