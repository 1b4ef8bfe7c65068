//! What our client gets from a server, line by line: `peer_dump URL FILE`.
//!
//! The lines are those of `tests/interop/asyncua/dump.py`, where asyncua's client writes them.

use std::collections::BTreeSet;
use std::error::Error;
use std::fmt::Write as _;
use std::process::ExitCode;

use uaforge_client::Session;
use uaforge_codec::{
    DataValue, Encode, EncodeContext, Encoder, ExpandedNodeId, NamespaceMap, NodeId, QualifiedName, UaString,
};
use uaforge_types::{BrowseDescription, BrowseDirection, ReadValueId, ReferenceDescription};

/// Attributes of OPC 10000-6 §A.1.
const ATTRIBUTES: std::ops::RangeInclusive<u32> = 1..=27;
const READS_AT_ONCE: usize = 1000;
const BROWSES_AT_ONCE: usize = 200;
const ROOT: NodeId = NodeId::numeric(0, 84);

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url, path] = arguments.as_slice() else {
        eprintln!("usage: peer_dump URL FILE");
        return ExitCode::FAILURE;
    };
    match run(url, path).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(url: &str, path: &str) -> Result<(), Box<dyn Error>> {
    let session = uaforge_client::connect_insecure(url).await?;
    let mut dump = Dump { namespaces: session.namespaces(), lines: BTreeSet::new() };
    let nodes = dump.browse(&session).await?;
    dump.read(&session, &nodes).await?;
    session.close().await;
    let text: String = dump.lines.iter().map(|line| format!("{line}\n")).collect();
    std::fs::write(path, text)?;
    println!("uaforge's client: {} nodes, {} lines", nodes.len(), dump.lines.len());
    Ok(())
}

struct Dump {
    namespaces: std::sync::Arc<NamespaceMap>,
    lines: BTreeSet<String>,
}

impl Dump {
    /// Browses from Root in both directions until nothing new comes.
    async fn browse(&mut self, session: &Session) -> Result<Vec<NodeId>, Box<dyn Error>> {
        let mut seen = BTreeSet::from([self.id(&ROOT)]);
        let mut nodes = vec![ROOT];
        let mut done = 0;
        while done < nodes.len() {
            let batch: Vec<NodeId> = nodes.iter().skip(done).take(BROWSES_AT_ONCE).cloned().collect();
            done += batch.len();
            for direction in [BrowseDirection::FORWARD, BrowseDirection::INVERSE] {
                let wanted = batch.iter().map(|node| description(node, direction)).collect();
                let pages = session.browse_all(wanted).await?;
                for (node, page) in batch.iter().zip(pages) {
                    for reference in page? {
                        self.reference(node, &reference);
                        let target = self.local(&reference.node_id);
                        if seen.insert(self.id(&target)) {
                            nodes.push(target);
                        }
                    }
                }
            }
        }
        Ok(nodes)
    }

    async fn read(&mut self, session: &Session, nodes: &[NodeId]) -> Result<(), Box<dyn Error>> {
        let wanted: Vec<(&NodeId, u32)> =
            nodes.iter().flat_map(|node| ATTRIBUTES.map(move |attribute| (node, attribute))).collect();
        for batch in wanted.chunks(READS_AT_ONCE) {
            let reads = batch.iter().map(|(node, attribute)| ReadValueId {
                node_id: (*node).clone(),
                attribute_id: *attribute,
                ..Default::default()
            });
            let values = session.read(reads).await?;
            for ((node, attribute), value) in batch.iter().zip(&values) {
                self.value(node, *attribute, value)?;
            }
        }
        Ok(())
    }

    fn reference(&mut self, node: &NodeId, reference: &ReferenceDescription) {
        let (here, there) = (self.id(node), self.expanded(&reference.node_id));
        let (letter, source, target) =
            if reference.is_forward { ("R", here, there) } else { ("I", there, here) };
        let fields = [
            letter.to_owned(),
            source,
            self.id(&reference.reference_type_id),
            target,
            reference.node_class.0.to_string(),
            self.name(&reference.browse_name),
            text(&reference.display_name.text).to_owned(),
            self.expanded(&reference.type_definition),
        ];
        self.lines.insert(fields.map(|field| escape(&field)).join("\t"));
    }

    fn value(&mut self, node: &NodeId, attribute: u32, value: &DataValue) -> Result<(), Box<dyn Error>> {
        let mut body = Vec::new();
        let mut encoder = Encoder::new(&mut body, EncodeContext { namespaces: &self.namespaces });
        value.value().cloned().unwrap_or_default().encode(&mut encoder);
        encoder.finish()?;
        let mut line =
            format!("V\t{}\t{attribute}\t{:08x}\t", escape(&self.id(node)), value.status_or_good().0);
        for byte in body {
            write!(line, "{byte:02x}")?;
        }
        self.lines.insert(line);
        Ok(())
    }

    /// The text of an id with the URI of its namespace; bare in ns0.
    fn id(&self, id: &NodeId) -> String {
        let text = id.with_namespace(0).to_string();
        match self.namespaces.uri(id.namespace()) {
            Some(uri) if id.namespace() != 0 => format!("nsu={uri};{text}"),
            _ => text,
        }
    }

    fn expanded(&self, id: &ExpandedNodeId) -> String {
        self.id(&self.local(id))
    }

    /// The id by the server's own table of namespaces.
    fn local(&self, id: &ExpandedNodeId) -> NodeId {
        let index = id.namespace_uri.as_str().and_then(|uri| self.namespaces.index_of(uri));
        index.map_or_else(|| id.node_id.clone(), |index| id.node_id.with_namespace(index))
    }

    fn name(&self, name: &QualifiedName) -> String {
        match self.namespaces.uri(name.namespace_index) {
            Some(uri) if name.namespace_index != 0 => format!("nsu={uri};{}", text(&name.name)),
            _ => text(&name.name).to_owned(),
        }
    }
}

fn description(node: &NodeId, direction: BrowseDirection) -> BrowseDescription {
    BrowseDescription {
        node_id: node.clone(),
        browse_direction: direction,
        include_subtypes: true,
        result_mask: 63,
        ..Default::default()
    }
}

fn text(string: &UaString) -> &str {
    string.as_str().unwrap_or_default()
}

fn escape(field: &str) -> String {
    field.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r").replace('\t', "\\t")
}
