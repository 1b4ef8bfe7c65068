//! What changes between two versions, and whom it breaks: one row for each kind of change.

use uaforge_model::diff::{Bump, Comparison, compare};
use uaforge_model::{Loaded, Loader, interface};

const URI: &str = "urn:plant";
const BASE: &str = r#"<RequiredModel ModelUri="http://opcfoundation.org/UA/" Version="1.05.04" PublicationDate="2025-01-08T00:00:00Z"/>"#;

/// A type with one member of each kind, a second type, data types, an instance.
const PLANT: &str = r#"
<UAObjectType NodeId="ns=1;i=1001" BrowseName="1:PumpType"><DisplayName>PumpType</DisplayName><References>
  <Reference ReferenceType="i=45" IsForward="false">i=58</Reference></References></UAObjectType>
<UAObjectType NodeId="ns=1;i=1002" BrowseName="1:FastPumpType"><DisplayName>FastPumpType</DisplayName><References>
  <Reference ReferenceType="i=45" IsForward="false">ns=1;i=1001</Reference></References></UAObjectType>
<UAVariable NodeId="ns=1;i=6001" BrowseName="1:Speed" DataType="i=26" AccessLevel="3"><DisplayName>Speed</DisplayName><References>
  <Reference ReferenceType="i=47" IsForward="false">ns=1;i=1001</Reference><Reference ReferenceType="i=40">i=63</Reference>
  <Reference ReferenceType="i=37">i=80</Reference></References></UAVariable>
<UAMethod NodeId="ns=1;i=7001" BrowseName="1:Start"><DisplayName>Start</DisplayName><References>
  <Reference ReferenceType="i=47" IsForward="false">ns=1;i=1001</Reference><Reference ReferenceType="i=37">i=78</Reference></References></UAMethod>
<UAVariable NodeId="ns=1;i=6002" BrowseName="InputArguments" DataType="i=296" ValueRank="1" ArrayDimensions="1"><DisplayName>InputArguments</DisplayName><References>
  <Reference ReferenceType="i=46" IsForward="false">ns=1;i=7001</Reference><Reference ReferenceType="i=40">i=68</Reference>
  <Reference ReferenceType="i=37">i=78</Reference></References>
  <Value><ListOfExtensionObject xmlns="http://opcfoundation.org/UA/2008/02/Types.xsd"><ExtensionObject><TypeId><Identifier>i=297</Identifier></TypeId><Body><Argument>
    <Name>Rate</Name><DataType><Identifier>i=11</Identifier></DataType><ValueRank>-1</ValueRank></Argument></Body></ExtensionObject></ListOfExtensionObject></Value></UAVariable>
<UADataType NodeId="ns=1;i=3001" BrowseName="1:Recipe"><DisplayName>Recipe</DisplayName><References>
  <Reference ReferenceType="i=45" IsForward="false">i=22</Reference></References>
  <Definition Name="1:Recipe"><Field Name="Level" DataType="i=11"/><Field Name="Note" DataType="i=12" IsOptional="true"/></Definition></UADataType>
<UAObject NodeId="ns=1;i=5002" BrowseName="Default Binary"><DisplayName>Default Binary</DisplayName><References>
  <Reference ReferenceType="i=38" IsForward="false">ns=1;i=3001</Reference><Reference ReferenceType="i=40">i=76</Reference></References></UAObject>
<UADataType NodeId="ns=1;i=3002" BrowseName="1:Side"><DisplayName>Side</DisplayName><References>
  <Reference ReferenceType="i=45" IsForward="false">i=29</Reference></References>
  <Definition Name="1:Side"><Field Name="Left" Value="0"/><Field Name="Right" Value="1"/></Definition></UADataType>
<UAReferenceType NodeId="ns=1;i=4001" BrowseName="1:Feeds"><DisplayName>Feeds</DisplayName><InverseName>FedBy</InverseName><References>
  <Reference ReferenceType="i=45" IsForward="false">i=32</Reference></References></UAReferenceType>
<UAObject NodeId="ns=1;i=5001" BrowseName="1:Pump" EventNotifier="1"><DisplayName>Pump</DisplayName><References>
  <Reference ReferenceType="i=35" IsForward="false">i=85</Reference><Reference ReferenceType="i=40">ns=1;i=1001</Reference></References></UAObject>
<UAVariable NodeId="ns=1;i=6003" BrowseName="1:Serial" DataType="i=12"><DisplayName>Serial</DisplayName><References>
  <Reference ReferenceType="i=46" IsForward="false">ns=1;i=5001</Reference><Reference ReferenceType="i=40">i=68</Reference></References>
  <Value><String xmlns="http://opcfoundation.org/UA/2008/02/Types.xsd">A1</String></Value></UAVariable>
"#;

fn document(body: &str) -> String {
    format!(
        "<UANodeSet xmlns=\"http://opcfoundation.org/UA/2011/03/UANodeSet.xsd\"><NamespaceUris><Uri>{URI}</Uri></NamespaceUris>\
         <Models><Model ModelUri=\"{URI}\" Version=\"1.0.0\" PublicationDate=\"2024-01-01T00:00:00Z\">{BASE}</Model></Models>{body}</UANodeSet>"
    )
}

fn load(text: String) -> Loaded {
    let loaded = Loader::new().text("plant.xml", text).load();
    assert!(!loaded.has_errors(), "{}", loaded.report(false));
    loaded
}

fn between(old: &Loaded, new: &Loaded) -> Comparison {
    let uris = [URI.to_owned()];
    compare(&old.set, &uris, &new.set, &uris)
}

/// Kinds and classes but for what is said of the version.
fn told(comparison: &Comparison) -> Vec<String> {
    let changes = comparison.changes.iter().filter(|change| !change.kind.starts_with("version"));
    changes
        .map(|change| {
            let classes: Vec<&str> = change.classes.iter().map(|class| class.as_str()).collect();
            format!("{} {}", change.kind, classes.join("+").replace("breaking-", ""))
        })
        .collect()
}

/// What is replaced in the document, by what, and the changes that are told.
const TABLE: &[(&str, &str, &[&str])] = &[
    ("", "", &[]),
    // Nodes.
    (
        "<UAObjectType NodeId=\"ns=1;i=1002\" BrowseName=\"1:FastPumpType\">",
        "<UAObjectType NodeId=\"ns=1;i=1003\" BrowseName=\"1:FastPumpType\">",
        &["id-changed servers+clients"],
    ),
    ("BrowseName=\"1:Speed\"", "BrowseName=\"1:Rate\"", &["browse-name-changed clients"]),
    (
        "BrowseName=\"1:PumpType\">",
        "BrowseName=\"1:PumpType\" SymbolicName=\"Pump\">",
        &["symbolic-name-changed behavioural"],
    ),
    (
        "BrowseName=\"1:Side\">",
        "BrowseName=\"1:Side\" SymbolicName=\"Sides\">",
        &["symbolic-name-changed clients"],
    ),
    (
        "<DisplayName>Speed</DisplayName>",
        "<DisplayName>Rate</DisplayName>",
        &["display-name-changed behavioural"],
    ),
    (
        "BrowseName=\"1:FastPumpType\">",
        "BrowseName=\"1:FastPumpType\" IsAbstract=\"true\">",
        &["abstract-changed servers+clients"],
    ),
    ("EventNotifier=\"1\"", "EventNotifier=\"0\"", &["event-notifier-changed clients"]),
    ("EventNotifier=\"1\"", "EventNotifier=\"5\"", &["event-notifier-changed additive"]),
    ("AccessLevel=\"3\"", "AccessLevel=\"1\"", &["access-level-changed clients"]),
    ("AccessLevel=\"3\"", "AccessLevel=\"7\"", &["access-level-changed additive"]),
    ("AccessLevel=\"3\"", "AccessLevel=\"3\" Historizing=\"true\"", &["historizing-changed behavioural"]),
    (
        "AccessLevel=\"3\"",
        "AccessLevel=\"3\" MinimumSamplingInterval=\"100\"",
        &["sampling-interval-changed behavioural"],
    ),
    ("AccessLevel=\"3\"", "AccessLevel=\"3\" WriteMask=\"1\"", &["write-mask-changed additive"]),
    (
        "AccessLevel=\"3\"",
        "AccessLevel=\"3\" AccessRestrictions=\"1\"",
        &["access-restrictions-changed clients"],
    ),
    (
        "AccessLevel=\"3\"",
        "AccessLevel=\"3\" ReleaseStatus=\"Deprecated\"",
        &["release-status-changed behavioural"],
    ),
    (
        "EventNotifier=\"1\"><DisplayName>Pump</DisplayName>",
        "EventNotifier=\"1\"><DisplayName>Pump</DisplayName><RolePermissions><RolePermission Permissions=\"1\">i=15644</RolePermission></RolePermissions>",
        &["role-permissions-changed clients"],
    ),
    // Members.
    (">i=80</Reference>", ">i=78</Reference>", &["rule-changed servers"]),
    ("<Reference ReferenceType=\"i=37\">i=80</Reference>", "", &["rule-changed clients"]),
    (
        "<Reference ReferenceType=\"i=37\">i=78</Reference></References></UAMethod>",
        "<Reference ReferenceType=\"i=37\">i=80</Reference></References></UAMethod>",
        &["rule-changed clients"],
    ),
    (">i=80</Reference>", ">i=11508</Reference>", &["rule-changed servers+clients"]),
    ("DataType=\"i=26\"", "DataType=\"i=11\"", &["data-type-changed servers"]),
    ("DataType=\"i=26\"", "DataType=\"i=12\"", &["data-type-changed servers+clients"]),
    ("DataType=\"i=26\"", "DataType=\"i=26\" ValueRank=\"1\"", &["value-rank-changed servers+clients"]),
    ("DataType=\"i=26\"", "DataType=\"i=26\" ArrayDimensions=\"3\"", &["array-dimensions-changed clients"]),
    ("<Name>Rate</Name>", "<Name>Speed</Name>", &["arguments-changed servers+clients"]),
    (
        "BrowseName=\"1:Start\">",
        "BrowseName=\"1:Start\" Executable=\"false\">",
        &["executable-changed clients"],
    ),
    (">A1</String>", ">A2</String>", &["value-changed behavioural"]),
    // Types and references.
    (
        "<Reference ReferenceType=\"i=40\">ns=1;i=1001</Reference>",
        "<Reference ReferenceType=\"i=40\">ns=1;i=1002</Reference>",
        &["type-definition-changed additive"],
    ),
    (
        "<Reference ReferenceType=\"i=40\">ns=1;i=1001</Reference>",
        "<Reference ReferenceType=\"i=40\">i=61</Reference>",
        &["type-definition-changed servers+clients"],
    ),
    (
        "IsForward=\"false\">ns=1;i=1001</Reference></References></UAObjectType>",
        "IsForward=\"false\">i=58</Reference></References></UAObjectType>",
        &["supertype-changed servers+clients"],
    ),
    (
        "IsForward=\"false\">i=58</Reference>",
        "IsForward=\"false\">i=61</Reference>",
        &["supertype-changed servers"],
    ),
    (
        "IsForward=\"false\">i=58</Reference>",
        "IsForward=\"false\">i=58</Reference><Reference ReferenceType=\"i=41\">i=2041</Reference>",
        &["reference-added additive"],
    ),
    (
        "IsForward=\"false\">i=58</Reference>",
        "IsForward=\"false\">i=58</Reference><Reference ReferenceType=\"i=17603\">i=17602</Reference>",
        &["reference-added servers"],
    ),
    (
        "<Reference ReferenceType=\"i=35\" IsForward=\"false\">i=85</Reference>",
        "",
        &["reference-removed clients"],
    ),
    ("FedBy", "IsFedBy", &["inverse-name-changed behavioural"]),
    ("BrowseName=\"1:Feeds\">", "BrowseName=\"1:Feeds\" Symmetric=\"true\">", &["symmetric-changed clients"]),
    // Fields.
    ("<Field Name=\"Level\" DataType=\"i=11\"/>", "", &["field-removed servers+clients"]),
    (
        "<Field Name=\"Level\" DataType=\"i=11\"/>",
        "<Field Name=\"Level\" DataType=\"i=11\"/><Field Name=\"Mass\" DataType=\"i=11\"/>",
        &["field-added servers+clients"],
    ),
    (
        "<Field Name=\"Level\" DataType=\"i=11\"/><Field Name=\"Note\" DataType=\"i=12\" IsOptional=\"true\"/>",
        "<Field Name=\"Note\" DataType=\"i=12\" IsOptional=\"true\"/><Field Name=\"Level\" DataType=\"i=11\"/>",
        &["field-moved servers+clients"],
    ),
    ("Name=\"Level\" DataType=\"i=11\"", "Name=\"Height\" DataType=\"i=11\"", &["field-renamed clients"]),
    (
        "Name=\"Level\" DataType=\"i=11\"",
        "Name=\"Level\" DataType=\"i=10\"",
        &["field-type-changed servers+clients"],
    ),
    (
        "Name=\"Level\" DataType=\"i=11\"",
        "Name=\"Level\" DataType=\"i=11\" ValueRank=\"1\"",
        &["field-rank-changed servers+clients"],
    ),
    (" IsOptional=\"true\"", "", &["field-optional-changed servers+clients"]),
    (
        "Name=\"Note\" DataType=\"i=12\"",
        "Name=\"Note\" DataType=\"i=12\" MaxStringLength=\"9\"",
        &["field-length-changed clients"],
    ),
    (
        "Name=\"Level\" DataType=\"i=11\"/>",
        "Name=\"Level\" DataType=\"i=11\" SymbolicName=\"L\"/>",
        &["field-symbolic-name-changed clients"],
    ),
    (
        "Name=\"Level\" DataType=\"i=11\"/>",
        "Name=\"Level\" DataType=\"i=11\"><DisplayName>Level</DisplayName></Field>",
        &["field-display-name-changed behavioural"],
    ),
    // Values of enumerations.
    (
        "<Field Name=\"Right\" Value=\"1\"/>",
        "<Field Name=\"Right\" Value=\"1\"/><Field Name=\"Both\" Value=\"2\"/>",
        &["value-added additive"],
    ),
    ("<Field Name=\"Right\" Value=\"1\"/>", "", &["value-removed servers+clients"]),
    ("Name=\"Right\" Value=\"1\"", "Name=\"Right\" Value=\"2\"", &["value-renumbered servers+clients"]),
    ("Name=\"Right\" Value=\"1\"", "Name=\"Starboard\" Value=\"1\"", &["value-renamed clients"]),
    // The model.
    (
        "PublicationDate=\"2025-01-08T00:00:00Z\"/>",
        "PublicationDate=\"2025-02-08T00:00:00Z\"/>",
        &["requirement-changed servers"],
    ),
    (
        "PublicationDate=\"2025-01-08T00:00:00Z\"/>",
        "PublicationDate=\"2024-01-08T00:00:00Z\"/>",
        &["requirement-changed behavioural"],
    ),
];

#[test]
fn every_kind_of_change_is_classified() {
    let old = document(PLANT);
    let before = load(old.clone());
    for (from, to, expected) in TABLE {
        assert!(old.contains(from), "{from} is not there");
        let after = load(old.replacen(from, to, 1));
        assert_eq!(told(&between(&before, &after)), *expected, "{from} became {to}");
    }
}

/// Both directions of nodes that one version alone has.
#[test]
fn nodes_that_come_and_go() {
    let cut = |from: &str, to: &str| {
        let (start, end) = (PLANT.find(from).expect("a start"), PLANT.find(to).expect("an end") + to.len());
        format!("{}{}", &PLANT[..start], &PLANT[end..])
    };
    let rows: [(&str, &str, &str, &str); 5] = [
        (
            "<UAObjectType NodeId=\"ns=1;i=1002\"",
            "</UAObjectType>\n<UAVariable NodeId=\"ns=1;i=6001\"",
            "node-removed servers+clients",
            "node-added additive",
        ),
        (
            "<UAVariable NodeId=\"ns=1;i=6001\"",
            "</UAVariable>",
            "node-removed clients",
            "node-added additive",
        ),
        // With the method goes its property.
        ("<UAMethod", "</Value></UAVariable>", "node-removed servers+clients", "node-added servers"),
        ("<UAReferenceType", "</UAReferenceType>", "node-removed servers+clients", "node-added additive"),
        (
            "<UAVariable NodeId=\"ns=1;i=6003\"",
            "A1</String></Value></UAVariable>",
            "node-removed clients",
            "node-added additive",
        ),
    ];
    for (from, to, removed, added) in rows {
        let less = match from.contains("1002") {
            true => cut(from, "</UAObjectType>\n<UAVariable").replacen(
                " NodeId=\"ns=1;i=6001\"",
                "<UAVariable NodeId=\"ns=1;i=6001\"",
                1,
            ),
            false => cut(from, to),
        };
        let (whole, less) = (load(document(PLANT)), load(document(&less)));
        assert_eq!(told(&between(&whole, &less)), [removed], "{from}");
        assert_eq!(told(&between(&less, &whole)), [added], "{from}");
    }
}

#[test]
fn bumps_follow_the_worst_change() {
    let old = document(PLANT);
    let bump = |from: &str, to: &str| between(&load(old.clone()), &load(old.replacen(from, to, 1))).bump();
    assert_eq!(bump("", ""), Bump::None);
    assert_eq!(bump(">A1<", ">A2<"), Bump::Patch);
    assert_eq!(bump("AccessLevel=\"3\"", "AccessLevel=\"7\""), Bump::Minor);
    assert_eq!(bump("AccessLevel=\"3\"", "AccessLevel=\"1\""), Bump::Major);
}

#[test]
fn a_change_without_a_new_version_is_told() {
    let old = document(PLANT);
    let kinds = |new: String| -> Vec<&str> {
        let changes = between(&load(old.clone()), &load(new)).changes;
        changes.iter().map(|change| change.kind).filter(|kind| kind.starts_with("version")).collect()
    };
    assert_eq!(kinds(old.replacen(">A1<", ">A2<", 1)), ["version-not-changed"]);
    assert_eq!(kinds(old.replacen(">A1<", ">A2<", 1).replacen("1.0.0", "1.0.1", 1)), ["version-changed"]);
    assert!(kinds(old.clone()).is_empty());
}

/// An interface file stands for the model it was written of.
#[test]
fn an_interface_file_compares_like_its_nodeset() {
    let loaded = load(document(PLANT));
    let text = interface::write(&loaded.set, loaded.set.ns(URI).expect("the model"));
    let carried = Loader::new().text("plant.txt", text).load();
    assert!(carried.diagnostics.is_empty(), "{}", carried.report(false));
    assert_eq!(carried.documents.len(), 1, "an interface file is a document of the load");
    assert_eq!(told(&between(&carried, &loaded)), Vec::<String>::new());
    assert_eq!(told(&between(&loaded, &carried)), Vec::<String>::new());
}

/// Namespace indexes and the order of nodes mean nothing.
#[test]
fn the_index_of_a_namespace_is_no_change() {
    let old = document(PLANT);
    let new = old
        .replace("<NamespaceUris>", "<NamespaceUris><Uri>urn:other</Uri>")
        .replace("ns=1;", "ns=2;")
        .replace("\"1:", "\"2:");
    assert_eq!(told(&between(&load(old), &load(new))), Vec::<String>::new());
}

#[test]
fn models_that_come_and_go() {
    let loaded = load(document(PLANT));
    let uris = [URI.to_owned()];
    let gone = compare(&loaded.set, &uris, &loaded.set, &[]);
    assert_eq!(told(&gone), ["model-removed servers+clients"]);
    let new = compare(&loaded.set, &[], &loaded.set, &uris);
    assert_eq!(told(&new), ["model-added additive"]);
}
