//! Serves models on loopback and compares what a client sees of them with the hash of the NodeSet.
//!
//! The hash is SHA-256 over the canonical lines of one model: its nodes, the references with one end in it, and the
//! attributes that a NodeSet states, each by namespace URI.

mod attributes;
mod browse;

use std::collections::BTreeSet;
use std::error::Error;
use std::sync::Arc;

use sha2::{Digest, Sha256};
use uaforge_codec::{ExpandedNodeId, NamespaceMap, NodeId, QualifiedName};
use uaforge_nodes::table::StaticModel;
use uaforge_server::Server;

/// Fails unless a client sees exactly the model of this hash.
///
/// # Panics
/// The model differs, or cannot be served.
pub fn assert_served(uri: &str, models: &[&'static StaticModel], hash: &str) {
    let seen = served(uri, models).unwrap_or_else(|error| panic!("{uri}: {error}"));
    assert_eq!(
        seen.hash(),
        hash,
        "{uri}: a client sees {} nodes and another model than the NodeSet's",
        seen.nodes.len()
    );
}

/// What a client sees of one model: its lines in three groups.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// `N` lines.
    pub nodes: BTreeSet<String>,
    /// `R` lines.
    pub references: BTreeSet<String>,
    /// `A` lines.
    pub attributes: BTreeSet<String>,
}

impl Seen {
    /// The lines in the order of the hash.
    pub fn lines(&self) -> impl Iterator<Item = &String> {
        self.nodes.iter().chain(&self.references).chain(&self.attributes)
    }

    /// SHA-256 of all lines, each ended by a line feed, in hexadecimal digits.
    #[must_use]
    pub fn hash(&self) -> String {
        let mut sha = Sha256::new();
        for line in self.lines() {
            sha.update(line);
            sha.update("\n");
        }
        hex::encode(sha.finalize())
    }
}

/// Serves the models and lets a client browse and read everything.
///
/// # Errors
/// The server cannot be built, or the client meets an error.
pub fn served(uri: &str, models: &[&'static StaticModel]) -> Result<Seen, Box<dyn Error>> {
    let builder = Server::builder().endpoint("opc.tcp://127.0.0.1:0").insecure();
    let server = models.iter().fold(builder, |builder, model| builder.model(model)).build()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    runtime.block_on(async {
        let running = tokio::spawn({
            let server = server.clone();
            async move { server.run_until(stopped).await }
        });
        let seen = look(&server, uri).await;
        let _ = stop.send(());
        running.await??;
        seen
    })
}

async fn look(server: &Server, uri: &str) -> Result<Seen, Box<dyn Error>> {
    let address = server.local_addr().ok_or("the server does not listen")?;
    let session = uaforge_client::connect_insecure(&format!("opc.tcp://{address}")).await?;
    let names = Names { namespaces: session.namespaces() };
    let namespace = names.namespaces.index_of(uri).ok_or("the model is not in the NamespaceArray")?;
    let mut seen = Seen::default();
    let found = browse::everything(&session, &names, lonely(server, namespace), namespace, &mut seen).await?;
    attributes::read(&session, &names, &found, &mut seen).await?;
    session.close().await;
    Ok(seen)
}

/// Nodes that no reference leads to; no client finds them by browsing.
fn lonely(server: &Server, namespace: u16) -> Vec<NodeId> {
    use uaforge_nodes::{Direction, ReferenceFilter};
    let snapshot = server.space().snapshot();
    let nodes = snapshot.nodes().filter(|node| node.id().namespace() == namespace);
    let alone =
        nodes.filter(|node| node.references(Direction::Inverse, ReferenceFilter::ALL).next().is_none());
    alone.map(|node| node.id().to_owned()).collect()
}

/// Writes ids and names by URI.
struct Names {
    namespaces: Arc<NamespaceMap>,
}

impl Names {
    fn id(&self, id: &NodeId) -> String {
        self.with_uri(id.namespace(), &id.with_namespace(0).to_string())
    }

    fn name(&self, name: &QualifiedName) -> String {
        self.with_uri(name.namespace_index, name.name.as_str().unwrap_or_default())
    }

    fn with_uri(&self, namespace: u16, text: &str) -> String {
        match self.namespaces.uri(namespace) {
            Some(uri) if namespace != 0 => format!("nsu={uri};{text}"),
            _ => text.to_owned(),
        }
    }

    /// The id by the server's own table of namespaces.
    fn local(&self, id: &ExpandedNodeId) -> NodeId {
        let index = id.namespace_uri.as_str().and_then(|uri| self.namespaces.index_of(uri));
        index.map_or_else(|| id.node_id.clone(), |index| id.node_id.with_namespace(index))
    }
}
