//! Models that other crates carry: what is missing or too old is told with the crate and the line to add.

use uaforge_model::{Diagnostic, Loaded, Loader, interface};

const MACHINERY: &str = "http://opcfoundation.org/UA/Machinery/";
const NS0: &str = "http://opcfoundation.org/UA/";

/// A NodeSet of one model and one type, published at `date`, with its requirements: URI and least date.
fn nodeset(uri: &str, date: &str, required: &[(&str, &str)]) -> String {
    let required: String = required
        .iter()
        .map(|(uri, date)| format!("<RequiredModel ModelUri=\"{uri}\" PublicationDate=\"{date}\"/>"))
        .collect();
    format!(
        "<UANodeSet xmlns=\"http://opcfoundation.org/UA/2011/03/UANodeSet.xsd\">\
         <NamespaceUris><Uri>{uri}</Uri></NamespaceUris>\
         <Models><Model ModelUri=\"{uri}\" Version=\"1.0.0\" PublicationDate=\"{date}\">{required}</Model></Models>\
         <UAObjectType NodeId=\"ns=1;i=1001\" BrowseName=\"1:T\"><DisplayName>T</DisplayName><References>\
         <Reference ReferenceType=\"i=45\" IsForward=\"false\">i=58</Reference></References></UAObjectType></UANodeSet>"
    )
}

/// The interface of such a model, as a crate publishes it.
fn carried(uri: &str, date: &str, required: &[(&str, &str)]) -> String {
    let loaded = Loader::new().text("carried.xml", nodeset(uri, date, required)).load();
    let ns = loaded.set.ns(uri).expect("the model");
    interface::write(&loaded.set, ns)
}

fn only(loaded: &Loaded) -> &Diagnostic {
    assert_eq!(loaded.diagnostics.len(), 1, "{}", loaded.report(false));
    &loaded.diagnostics[0]
}

#[test]
fn a_missing_model_is_told_with_the_line_to_add() {
    let text = nodeset("urn:plant", "2026-02-01T00:00:00Z", &[(MACHINERY, "2026-01-01T00:00:00Z")]);
    let loaded = Loader::new().text("plant.xml", text).load();
    let found = only(&loaded);
    assert_eq!(found.code.0, "UAF0120");
    let help = found.help.as_deref().expect("a help");
    assert!(help.contains("uaforge-machinery = \"0.1\"") && help.contains("[dependencies]"), "{help}");
}

#[test]
fn a_model_that_a_crate_requires_and_nothing_gives_is_told() {
    let machinery = carried(
        MACHINERY,
        "2026-01-01T00:00:00Z",
        &[("http://opcfoundation.org/UA/IA/", "2025-05-23T00:00:00Z")],
    );
    let text = nodeset("urn:plant", "2026-02-01T00:00:00Z", &[(MACHINERY, "2026-01-01T00:00:00Z")]);
    let loaded =
        Loader::new().text("plant.xml", text).interface(machinery, Some("::uaforge_machinery")).load();
    let found = only(&loaded);
    assert_eq!(found.code.0, "UAF0120");
    assert!(found.message.contains(MACHINERY) && found.message.contains("/UA/IA/"), "{}", found.message);
    assert!(found.help.as_deref().is_some_and(|help| help.contains("uaforge-ia = \"0.1\"")));
}

#[test]
fn a_model_that_its_crate_carries_too_old_is_told_with_the_crate() {
    let machinery = carried(MACHINERY, "2021-01-01T00:00:00Z", &[(NS0, "2020-01-01T00:00:00Z")]);
    let text = nodeset("urn:plant", "2026-02-01T00:00:00Z", &[(MACHINERY, "2026-01-01T00:00:00Z")]);
    let loader = || {
        Loader::new()
            .text("plant.xml", text.clone())
            .interface(machinery.clone(), Some("::uaforge_machinery"))
    };
    let loaded = loader().load();
    let found = only(&loaded);
    assert_eq!(found.code.0, "UAF0121");
    assert!(
        found.message.contains("the crate uaforge_machinery") && found.message.contains("2021-01-01"),
        "{}",
        found.message
    );
    let help = found.help.as_deref().expect("a help");
    assert!(help.contains("uaforge-machinery = \"0.1\"") && help.contains("2026-01-01"), "{help}");
    assert!(!loader().allow_older_models(true).load().has_errors());
}

#[test]
fn what_no_crate_carries_is_told_without_a_line() {
    let text = nodeset("urn:plant", "2026-02-01T00:00:00Z", &[(MACHINERY, "2099-01-01T00:00:00Z")]);
    let machinery = carried(MACHINERY, "2026-01-01T00:00:00Z", &[]);
    let loaded =
        Loader::new().text("plant.xml", text).interface(machinery, Some("::uaforge_machinery")).load();
    let help = only(&loaded).help.as_deref().expect("a help");
    assert!(!help.contains("uaforge-machinery = ") && help.contains("newer document"), "{help}");
}

#[test]
fn two_crates_with_different_versions_of_a_model_are_told() {
    let [first, second] =
        ["2021-01-01T00:00:00Z", "2026-01-01T00:00:00Z"].map(|date| carried(MACHINERY, date, &[]));
    let text = nodeset("urn:plant", "2026-02-01T00:00:00Z", &[(MACHINERY, "2021-01-01T00:00:00Z")]);
    let loader = Loader::new().text("plant.xml", text).interface(first.clone(), Some("::a"));
    assert!(
        loader.clone().interface(first, Some("::b")).load().diagnostics.is_empty(),
        "the same one twice is one"
    );
    let loaded = loader.interface(second, Some("::b")).load();
    assert_eq!(only(&loaded).code.0, "UAF0123");
}
