//! Turns the NodeSet into Rust. DI, which it requires, is found through the dependency on `uaforge-di`.

fn main() -> Result<(), uaforge_codegen::Error> {
    uaforge_codegen::Forge::new().nodeset("../model/BrewLine.NodeSet2.xml").build()
}
