//! Generates the model of the templates, as their users do.

fn main() -> Result<(), uaforge_codegen::Error> {
    uaforge_codegen::Forge::new().nodeset("../templates/model/BrewLine.NodeSet2.xml").build()
}
