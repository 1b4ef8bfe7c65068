//! A thousand Double variables served by async-opcua: `bench-peer-async-opcua PORT`.

use std::error::Error;

use opcua::crypto::SecurityPolicy;
use opcua::nodes::AccessLevel;
use opcua::server::address_space::Variable;
use opcua::server::diagnostics::NamespaceMetadata;
use opcua::server::node_manager::memory::{SimpleNodeManager, simple_node_manager};
use opcua::server::{ANONYMOUS_USER_TOKEN_ID, ServerBuilder};
use opcua::types::{DataTypeId, MessageSecurityMode, NodeId, ObjectId};

const NAMESPACE: &str = "urn:uaforge:bench";
const VARIABLES: u32 = 1_000;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let port: u16 = std::env::args().nth(1).ok_or("usage: bench-peer-async-opcua PORT")?.parse()?;
    let keys = std::env::temp_dir().join("uaforge-bench-async-opcua");
    let metadata = NamespaceMetadata { namespace_uri: NAMESPACE.into(), ..Default::default() };
    let (server, handle) = ServerBuilder::new()
        .application_name("bench")
        .application_uri("urn:bench:async-opcua")
        .product_uri("urn:bench:async-opcua")
        .create_sample_keypair(false)
        .pki_dir(keys)
        .host("127.0.0.1")
        .port(port)
        .max_sessions(20_000)
        .add_endpoint(
            "none",
            ("/", SecurityPolicy::None, MessageSecurityMode::None, &[ANONYMOUS_USER_TOKEN_ID] as &[&str]),
        )
        .discovery_urls(vec!["/".into()])
        .with_node_manager(simple_node_manager(metadata, "bench"))
        .build()?;
    let manager = handle.node_managers().get_of_type::<SimpleNodeManager>().ok_or("no node manager")?;
    let namespace = handle.get_namespace_index(NAMESPACE).ok_or("no namespace")?;
    {
        let mut space = manager.address_space().write();
        let folder = NodeId::new(namespace, "bench");
        space.add_folder(&folder, "Bench", "Bench", &NodeId::from(ObjectId::ObjectsFolder));
        for number in 0..VARIABLES {
            let name = format!("v{number}");
            let id = NodeId::new(namespace, name.clone());
            let mut variable = Variable::new(&id, name.clone(), name, f64::from(number));
            variable.set_data_type(NodeId::from(DataTypeId::Double));
            let access = AccessLevel::CURRENT_READ | AccessLevel::CURRENT_WRITE;
            variable.set_access_level(access);
            variable.set_user_access_level(access);
            space.add_variables(vec![variable], &folder);
        }
    }
    server.run().await?;
    Ok(())
}
