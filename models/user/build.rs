//! Turns the model into Rust; all that it requires comes from the dependencies.

fn main() -> Result<(), uaforge_codegen::Error> {
    uaforge_codegen::Forge::new()
        .nodeset("Plant.NodeSet2.xml")
        .path("http://opcfoundation.org/UA/Machinery/", "::machines")
        .build()
}
