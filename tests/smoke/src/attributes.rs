//! The attributes that a NodeSet states, read from a server.

use std::error::Error;

use uaforge_client::Session;
use uaforge_codec::{DataValue, FromVariant, LocalizedText, NodeId, QualifiedName};
use uaforge_types::{NodeClass, ReadValueId};

use super::browse::Found;
use super::{Names, Seen};

const AT_ONCE: usize = 90;

/// OPC 10000-6 §A.1.
const NODE_CLASS: u32 = 2;
const BROWSE_NAME: u32 = 3;
const DISPLAY_NAME: (u32, &str) = (4, "DisplayName");
const IS_ABSTRACT: (u32, &str) = (8, "IsAbstract");
const SYMMETRIC: (u32, &str) = (9, "Symmetric");
const INVERSE_NAME: (u32, &str) = (10, "InverseName");
const EVENT_NOTIFIER: (u32, &str) = (12, "EventNotifier");
const DATA_TYPE: (u32, &str) = (14, "DataType");
const VALUE_RANK: (u32, &str) = (15, "ValueRank");
const ARRAY_DIMENSIONS: (u32, &str) = (16, "ArrayDimensions");
const ACCESS_LEVEL: (u32, &str) = (17, "AccessLevel");

/// All that is read of each node.
const READ: [u32; 11] = [2, 3, 4, 8, 9, 10, 12, 14, 15, 16, 17];

/// Reads all nodes and adds their lines.
pub(super) async fn read(
    session: &Session,
    names: &Names,
    nodes: &[Found],
    seen: &mut Seen,
) -> Result<(), Box<dyn Error>> {
    for batch in nodes.chunks(AT_ONCE) {
        let wanted = batch.iter().flat_map(|node| READ.map(|attribute| read_value_id(&node.id, attribute)));
        let values = session.read(wanted).await?;
        for (node, values) in batch.iter().zip(values.chunks(READ.len())) {
            lines(names, node, &Values(values), seen)?;
        }
    }
    Ok(())
}

fn read_value_id(node: &NodeId, attribute_id: u32) -> ReadValueId {
    ReadValueId { node_id: node.clone(), attribute_id, ..Default::default() }
}

/// The values of one node, in the order of [`READ`].
struct Values<'a>(&'a [DataValue]);

impl Values<'_> {
    /// `None` where the node has no such attribute or it is null.
    fn get<T: FromVariant>(&self, attribute: u32) -> Option<T> {
        let at = READ.iter().position(|read| *read == attribute)?;
        let value = self.0.get(at).filter(|value| value.status_or_good().is_good())?;
        T::from_variant(value.value()?).ok()
    }

    fn text(&self, attribute: u32, names: &Names) -> Option<String> {
        match attribute {
            4 | 10 => {
                self.get::<LocalizedText>(attribute).map(|text| words(text.text.as_str().unwrap_or_default()))
            }
            8 | 9 => self.get::<bool>(attribute).map(|value| value.to_string()),
            12 | 17 => self.get::<u8>(attribute).map(|value| value.to_string()),
            14 => self.get::<NodeId>(attribute).map(|id| names.id(&id)),
            15 => self.get::<i32>(attribute).map(|value| value.to_string()),
            _ => {
                let dimensions = self.get::<Vec<u32>>(attribute)?;
                let texts: Vec<String> = dimensions.iter().map(u32::to_string).collect();
                (!texts.is_empty()).then(|| texts.join(","))
            }
        }
    }
}

/// Runs of white space as one blank; `-` for nothing.
fn words(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    if words.is_empty() { "-".to_owned() } else { words.join(" ") }
}

fn lines(names: &Names, node: &Found, values: &Values<'_>, seen: &mut Seen) -> Result<(), Box<dyn Error>> {
    let id = names.id(&node.id);
    let class =
        values.get::<i32>(NODE_CLASS).map(NodeClass).ok_or_else(|| format!("{id} has no NodeClass"))?;
    let name: QualifiedName = values.get(BROWSE_NAME).ok_or_else(|| format!("{id} has no BrowseName"))?;
    let definition = node.definition.as_deref().unwrap_or("-");
    let (class, attributes): (&str, &[(u32, &str)]) = match class {
        NodeClass::OBJECT => ("Object", &[DISPLAY_NAME, EVENT_NOTIFIER]),
        NodeClass::VARIABLE => {
            ("Variable", &[DISPLAY_NAME, DATA_TYPE, VALUE_RANK, ARRAY_DIMENSIONS, ACCESS_LEVEL])
        }
        NodeClass::METHOD => ("Method", &[DISPLAY_NAME]),
        NodeClass::OBJECT_TYPE => ("ObjectType", &[DISPLAY_NAME, IS_ABSTRACT]),
        NodeClass::VARIABLE_TYPE => {
            ("VariableType", &[DISPLAY_NAME, DATA_TYPE, VALUE_RANK, ARRAY_DIMENSIONS, IS_ABSTRACT])
        }
        NodeClass::DATA_TYPE => ("DataType", &[DISPLAY_NAME, IS_ABSTRACT]),
        NodeClass::REFERENCE_TYPE => ("ReferenceType", &[DISPLAY_NAME, IS_ABSTRACT, SYMMETRIC, INVERSE_NAME]),
        _ => ("View", &[DISPLAY_NAME]),
    };
    seen.nodes.insert(format!("N\t{id}\t{class}\t{}\t{definition}", names.name(&name)));
    for (attribute, name) in attributes {
        let value = values.text(*attribute, names).unwrap_or_else(|| "-".to_owned());
        seen.attributes.insert(format!("A\t{id}\t{name}\t{value}"));
    }
    Ok(())
}
