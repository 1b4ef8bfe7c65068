//! Texts in the locale that the session wants (OPC 10000-4 §5.4, §5.7.3.2).

use uaforge_codec::{Array, LocalizedText, NodeId, UaString, Variant};
use uaforge_nodes::AttributeId;
use uaforge_server::Server;
use uaforge_tests::fixtures::{rows, tiny};
use uaforge_tests::nodes::{self, value};
use uaforge_types::{ActivateSessionRequest, BrowseDescription, BrowseRequest};

use crate::{InProcessPeer, builder, peer};

const DISPLAY_NAME: u32 = AttributeId::DisplayName as u32;
const DESCRIPTION: u32 = AttributeId::Description as u32;
const OBJECTS: NodeId = NodeId::numeric(0, 85);

fn server() -> Server {
    let builder = builder().model(uaforge_di::model()).model(&rows::MODEL).model(&tiny::MODEL);
    builder.build().expect("a server")
}

/// A node that is named in English and in German.
fn top(server: &Server) -> NodeId {
    let snapshot = server.space().snapshot();
    let objects = snapshot.node(OBJECTS.as_ref()).expect("Objects");
    let organizes = snapshot.reference_filter(NodeId::numeric(0, 35).as_ref(), true).expect("Organizes");
    let mut found = objects.references(uaforge_nodes::Direction::Forward, organizes);
    let found = found.find_map(|reference| {
        let target = reference.target()?;
        (target.browse_name().name == "Top").then(|| target.id().to_owned())
    });
    found.expect("Top")
}

fn want(peer: &mut InProcessPeer, locales: &[&str]) {
    let locale_ids = locales.iter().map(|&locale| UaString::from(locale)).collect::<Vec<_>>().into();
    peer.call(ActivateSessionRequest { locale_ids, ..Default::default() }).expect("activated again");
}

fn text(locale: &str, text: &str) -> LocalizedText {
    LocalizedText { locale: locale.into(), text: text.into() }
}

/// The name as Browse shows it.
fn browsed(peer: &mut InProcessPeer, node: &NodeId) -> LocalizedText {
    let description = BrowseDescription { node_id: OBJECTS, result_mask: 63, ..Default::default() };
    let request = BrowseRequest { nodes_to_browse: Array::from(vec![description]), ..Default::default() };
    let results = peer.call(request).expect("browsed").results;
    let mut references = results[0].references.iter();
    let found = references.find(|reference| reference.node_id.node_id == *node);
    found.expect("it is organized by Objects").display_name.clone()
}

#[test]
fn the_most_wanted_that_there_is() {
    let server = server();
    let top = top(&server);
    let mut peer = peer(&server);
    let (english, german) = (text("en", "Top"), text("de", "Oben"));
    for (wanted, expected) in [
        (&[][..], &english),
        (&["de"], &german),
        (&["en"], &english),
        (&["DE"], &german),
        // The language counts where the region has no text of its own.
        (&["de-AT"], &german),
        (&["de-AT", "en"], &german),
        (&["fr", "de", "en"], &german),
        // There is none of them: any other.
        (&["fr"], &english),
        (&["", "d", "deu", "-"], &english),
        // Several texts at once are not to be had; the rest of the list holds.
        (&["mul", "de"], &german),
        (&["qst"], &english),
    ] {
        if !wanted.is_empty() {
            want(&mut peer, wanted);
        }
        let read = value(&mut peer, &top, DISPLAY_NAME);
        assert_eq!(read, Variant::from(expected.clone()), "{wanted:?}");
        assert_eq!(browsed(&mut peer, &top), *expected, "{wanted:?}");
        // Of one text there is no choice.
        let Variant::LocalizedText(description) = value(&mut peer, &top, DESCRIPTION) else {
            panic!("a Description is a text");
        };
        assert!(description.locale.is_null() && description.text.text().starts_with("The first"));
    }
}

#[test]
fn each_session_has_its_own() {
    let server = server();
    let top = top(&server);
    let (mut german, mut other) = (peer(&server), peer(&server));
    want(&mut german, &["de"]);
    assert_eq!(value(&mut other, &top, DISPLAY_NAME), text("en", "Top").into());
    assert_eq!(value(&mut german, &top, DISPLAY_NAME), text("de", "Oben").into());
    // An activation without a list keeps it.
    want(&mut german, &[]);
    assert_eq!(value(&mut german, &top, DISPLAY_NAME), text("de", "Oben").into());
    // What was written over the name holds for all.
    let written = text("fr", "En haut");
    nodes::set(&server, &top, AttributeId::DisplayName, written.clone());
    for peer in [&mut german, &mut other] {
        assert_eq!(value(peer, &top, DISPLAY_NAME), written.clone().into());
        assert_eq!(browsed(peer, &top), written);
    }
}
