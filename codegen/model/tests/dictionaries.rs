//! Type dictionaries: what of them are fields, and what only says how fields are laid out.

use uaforge_model::{Loaded, Loader, StructureType};

const URI: &str = "http://example.org/acc/bsd/";

fn dictionary(types: &str) -> String {
    format!(
        "<opc:TypeDictionary xmlns:opc=\"http://opcfoundation.org/BinarySchema/\" xmlns:ua=\"http://opcfoundation.org/UA/\" \
         xmlns:tns=\"{URI}\" TargetNamespace=\"{URI}\" DefaultByteOrder=\"LittleEndian\">{types}</opc:TypeDictionary>"
    )
}

fn load(types: &str) -> Loaded {
    Loader::new().text("types.bsd", dictionary(types)).load()
}

/// Name, data type, rank and optional flag of each field, or name and number of each value.
fn fields(loaded: &Loaded, name: &str) -> Vec<String> {
    let model = loaded.set.model(loaded.set.ns(URI).expect("the model")).expect("the model");
    let node = model.nodes.values().find(|node| &*node.browse_name.name == name).expect("the type");
    let definition = node.definition.as_ref().expect("a definition");
    let text = |field: &uaforge_model::resolved::Field| match field.value {
        Some(value) => format!("{} {value}", field.name),
        None => {
            let of = loaded.set.node(&field.data_type).map_or("?", |node| &node.browse_name.name);
            let optional = if field.is_optional { " optional" } else { "" };
            format!("{} {of} {}{optional}", field.name, field.value_rank)
        }
    };
    definition.fields.iter().map(text).collect()
}

#[test]
fn case_026_bsd_switch_and_length_fields() {
    let path =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/cases/026-bsd-switch-and-length-fields/types.bsd");
    let loaded = Loader::new().file(path).load();
    let codes: Vec<&str> = loaded.diagnostics.iter().map(|found| found.code.0).collect();
    assert_eq!(codes, ["UAF0603"], "a note alone: {}", loaded.report(false));
    let sample = [
        "Side Side -1",
        "Note String -1 optional",
        "Points Point 1",
        "Limits Range -1 optional",
        "Marks Marks -1",
    ];
    assert_eq!(fields(&loaded, "Sample"), sample);
    assert_eq!(fields(&loaded, "Point"), ["X Float -1", "Y Float -1"]);
    assert_eq!(fields(&loaded, "Choice"), ["P Point -1", "S String -1"]);
    assert_eq!(fields(&loaded, "Side"), ["Left -1", "Right 1"]);
    assert_eq!(fields(&loaded, "Marks"), ["A 0", "B 1", "Z 15"]);
    let set = &loaded.set;
    let id = |name: &str| set.parse_id(&format!("nsu={URI};s={name}")).expect("an id");
    assert_eq!(set.structure_type(&id("Sample")), Some(StructureType::StructureWithOptionalFields));
    assert_eq!(set.structure_type(&id("Choice")), Some(StructureType::Union));
    assert_eq!(set.builtin_type(&id("Marks")), 5, "16 bits on the wire");
    assert!(set.encodings(&id("Sample")).binary.is_some());
}

#[test]
fn inherited_fields_opaque_types_and_byte_arrays() {
    let loaded = load(
        "<opc:OpaqueType Name=\"Blob\"/><opc:OpaqueType Name=\"Word\" LengthInBits=\"16\"/>\
         <opc:StructuredType Name=\"Base\" BaseType=\"ua:ExtensionObject\"><opc:Field Name=\"A\" TypeName=\"tns:Blob\"/></opc:StructuredType>\
         <opc:StructuredType Name=\"Derived\" BaseType=\"tns:Base\"><opc:Field Name=\"A\" TypeName=\"tns:Blob\" SourceType=\"tns:Base\"/>\
         <opc:Field Name=\"NoOfB\" TypeName=\"opc:Int32\"/><opc:Field Name=\"B\" TypeName=\"opc:Byte\" LengthField=\"NoOfB\" IsLengthInBytes=\"true\"/>\
         <opc:Field Name=\"C\" TypeName=\"ua:Variant\"/></opc:StructuredType>",
    );
    assert!(!loaded.has_errors(), "{}", loaded.report(false));
    assert_eq!(fields(&loaded, "Derived"), ["B Byte 1", "C BaseDataType -1"]);
    let id = |name: &str| loaded.set.parse_id(&format!("nsu={URI};s={name}")).expect("an id");
    assert_eq!(loaded.set.all_fields(&id("Derived")).len(), 3);
    assert_eq!(loaded.set.builtin_type(&id("Blob")), 15);
    assert_eq!(loaded.set.builtin_type(&id("Word")), 5);
}

/// Each of these is a layout that OPC UA Binary does not have, or a name that nothing defines.
#[test]
fn what_no_data_type_has_is_refused() {
    let field = |attributes: &str| {
        format!("<opc:StructuredType Name=\"S\"><opc:Field Name=\"A\" {attributes}/></opc:StructuredType>")
    };
    let bits = |length: u32, switch: &str| {
        format!(
            "<opc:StructuredType Name=\"S\"><opc:Field Name=\"X\" TypeName=\"opc:Bit\"/><opc:Field Name=\"R\" TypeName=\"opc:Bit\" Length=\"{length}\"/>\
             <opc:Field Name=\"A\" TypeName=\"opc:Int32\" {switch}/></opc:StructuredType>"
        )
    };
    let rows = [
        (field("TypeName=\"opc:Byte\" Length=\"4\""), "UAF0602"),
        (field("TypeName=\"opc:CharArray\" Terminator=\"00\""), "UAF0602"),
        (field("TypeName=\"opc:Char\""), "UAF0601"),
        (field("TypeName=\"tns:Nothing\""), "UAF0601"),
        (field("TypeName=\"nobody:Nothing\""), "UAF0601"),
        (bits(30, "SwitchField=\"X\""), "UAF0602"),
        (bits(31, "SwitchField=\"R\""), "UAF0602"),
        (bits(31, "SwitchField=\"X\" SwitchValue=\"0\""), "UAF0602"),
        (bits(31, "SwitchField=\"X\" SwitchOperand=\"NotEqual\""), "UAF0602"),
        (bits(u32::MAX, "SwitchField=\"X\""), "UAF0602"),
        ("<opc:EnumeratedType Name=\"E\" LengthInBits=\"8\"/>".to_owned(), "UAF0602"),
        ("<opc:EnumeratedType Name=\"E\" LengthInBits=\"12\" IsOptionSet=\"true\"/>".to_owned(), "UAF0602"),
        ("<opc:EnumeratedType Name=\"E\" LengthInBits=\"8\" IsOptionSet=\"true\"><opc:EnumeratedValue Name=\"A\" Value=\"3\"/></opc:EnumeratedType>".to_owned(), "UAF0602"),
        ("<opc:OpaqueType Name=\"O\" LengthInBits=\"24\"/>".to_owned(), "UAF0602"),
    ];
    for (types, code) in rows {
        let loaded = load(&types);
        let errors: Vec<&str> =
            loaded.diagnostics.iter().map(|found| found.code.0).filter(|code| *code != "UAF0603").collect();
        assert_eq!(errors, [code], "{types}\n{}", loaded.report(false));
        let whole = loaded.diagnostics.iter().all(|found| found.span.is_some() && found.help.is_some());
        assert!(whole, "{}", loaded.report(false));
    }
    let big = dictionary("").replace("LittleEndian", "BigEndian");
    assert!(Loader::new().text("big.bsd", big).load().has_errors());
}

/// The dictionary fills what the NodeSet lacks, and no more: dictionaries lose optional flags.
#[test]
fn the_nodeset_counts() {
    let nodeset = |definition: &str| {
        format!(
            "<UANodeSet xmlns=\"http://opcfoundation.org/UA/2011/03/UANodeSet.xsd\"><NamespaceUris><Uri>{URI}</Uri></NamespaceUris>\
             <Models><Model ModelUri=\"{URI}\" Version=\"1.0.0\" PublicationDate=\"2024-01-01T00:00:00Z\"/></Models>\
             <UADataType NodeId=\"ns=1;i=3001\" BrowseName=\"1:Recipe\"><DisplayName>Recipe</DisplayName><References>\
             <Reference ReferenceType=\"i=45\" IsForward=\"false\">i=22</Reference></References>{definition}</UADataType></UANodeSet>"
        )
    };
    let types = dictionary(
        "<opc:StructuredType Name=\"Recipe\"><opc:Field Name=\"Level\" TypeName=\"opc:Double\"/></opc:StructuredType>",
    );
    let both = |definition: &str| {
        let loaded =
            Loader::new().text("types.bsd", types.clone()).text("model.xml", nodeset(definition)).load();
        assert!(loaded.diagnostics.is_empty(), "{}", loaded.report(false));
        fields(&loaded, "Recipe")
    };
    assert_eq!(both(""), ["Level Double -1"]);
    let own = "<Definition Name=\"1:Recipe\"><Field Name=\"Level\" DataType=\"i=11\" IsOptional=\"true\"/></Definition>";
    assert_eq!(both(own), ["Level Double -1 optional"]);
}
