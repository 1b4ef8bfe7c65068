//! The View services (OPC 10000-4 §5.9).

use super::{items, number, text, truth};
use serde_json::{Value, json};
use uaforge_codec::{ByteString, QualifiedName, StatusCode};
use uaforge_types::{
    BrowseDescription, BrowseDirection, BrowseNextRequest, BrowsePath, BrowseRequest, BrowseResult,
    ReferenceDescription, RegisterNodesRequest, RelativePath, RelativePathElement,
    TranslateBrowsePathsToNodeIdsRequest, UnregisterNodesRequest, ViewDescription,
};

use super::{Caller, Conversation, Outcome};

impl<C: Caller> Conversation<C> {
    pub(super) async fn browse(&mut self, step: &Value) -> Outcome {
        let nodes =
            items(step, "nodes").iter().map(|item| self.description(item)).collect::<Result<Vec<_>, _>>()?;
        let request = BrowseRequest {
            view: ViewDescription { view_id: self.namespace.node(text(step, "view"))?, ..Default::default() },
            requested_max_references_per_node: number(step, "max", 0),
            nodes_to_browse: nodes.into(),
            ..Default::default()
        };
        let outcome = self.connection.call(request).await?;
        Ok(match outcome {
            Ok(response) => self.pages(response.response_header.service_result, &response.results),
            Err(status) => json!({ "status": status.0 }),
        })
    }

    fn description(&self, item: &Value) -> Result<BrowseDescription, String> {
        Ok(BrowseDescription {
            node_id: self.namespace.node(text(item, "node"))?,
            browse_direction: BrowseDirection(number(item, "direction", 0)),
            reference_type_id: self.namespace.node(text(item, "type"))?,
            include_subtypes: truth(item, "subtypes", true),
            node_class_mask: number(item, "classes", 0),
            result_mask: number(item, "mask", 63),
        })
    }

    pub(super) async fn browse_next(&mut self, step: &Value) -> Outcome {
        // A number below zero is a point that the server never gave.
        let point = |number: &Value| {
            let index = number.as_u64().and_then(|index| usize::try_from(index).ok());
            let given = index.and_then(|index| self.points.get(index)).cloned();
            given.unwrap_or_else(|| ByteString::from(vec![1, 2, 3, 4]))
        };
        let points: Vec<ByteString> = items(step, "points").iter().map(point).collect();
        let request = BrowseNextRequest {
            release_continuation_points: truth(step, "release", false),
            continuation_points: points.into(),
            ..Default::default()
        };
        let outcome = self.connection.call(request).await?;
        Ok(match outcome {
            Ok(response) => self.pages(response.response_header.service_result, &response.results),
            Err(status) => json!({ "status": status.0 }),
        })
    }

    fn pages(&mut self, status: StatusCode, results: &[BrowseResult]) -> Value {
        let mut pages = Vec::new();
        for result in results {
            let more = result.continuation_point.as_bytes().is_some_and(|bytes| !bytes.is_empty());
            if more {
                self.points.push(result.continuation_point.clone());
            }
            let references: Vec<Value> = result.references.iter().map(|r| self.reference(r)).collect();
            pages.push(json!({ "status": result.status_code.0, "more": more, "references": references }));
        }
        json!({ "status": status.0, "results": pages })
    }

    fn reference(&self, reference: &ReferenceDescription) -> Value {
        json!({
            "node": self.namespace.expanded(&reference.node_id),
            "type": self.namespace.text(&reference.reference_type_id),
            "forward": reference.is_forward,
            "class": reference.node_class.0,
            "name": reference.browse_name.name.as_str().unwrap_or_default(),
            "definition": self.namespace.expanded(&reference.type_definition),
        })
    }

    pub(super) async fn translate(&mut self, step: &Value) -> Outcome {
        let paths = items(step, "paths").iter().map(|path| self.path(path)).collect::<Result<Vec<_>, _>>()?;
        let request =
            TranslateBrowsePathsToNodeIdsRequest { browse_paths: paths.into(), ..Default::default() };
        let response = match self.connection.call(request).await? {
            Ok(response) => response,
            Err(status) => return Ok(json!({ "status": status.0 })),
        };
        let results = response.results.iter().map(|result| {
            let targets: Vec<String> =
                result.targets.iter().map(|target| self.namespace.expanded(&target.target_id)).collect();
            json!({ "status": result.status_code.0, "targets": targets })
        });
        let results: Vec<Value> = results.collect();
        Ok(json!({ "status": response.response_header.service_result.0, "results": results }))
    }

    fn path(&self, path: &Value) -> Result<BrowsePath, String> {
        let element = |item: &Value| {
            let kind = item.get("type").and_then(Value::as_str).unwrap_or("i=33");
            let name = item.get("name").and_then(Value::as_str);
            let namespace_index =
                if truth(item, "own", true) && name.is_some() { self.namespace.0 } else { 0 };
            Ok(RelativePathElement {
                reference_type_id: self.namespace.node(kind)?,
                is_inverse: truth(item, "inverse", false),
                include_subtypes: truth(item, "subtypes", true),
                target_name: QualifiedName {
                    namespace_index,
                    name: name.map(Into::into).unwrap_or_default(),
                },
            })
        };
        let elements = items(path, "elements").iter().map(element).collect::<Result<Vec<_>, String>>()?;
        Ok(BrowsePath {
            starting_node: self.namespace.node(text(path, "start"))?,
            relative_path: RelativePath { elements: elements.into() },
        })
    }

    pub(super) async fn register(&mut self, step: &Value) -> Outcome {
        let request =
            RegisterNodesRequest { nodes_to_register: self.nodes(step)?.into(), ..Default::default() };
        Ok(match self.connection.call(request).await? {
            Ok(response) => json!({
                "status": response.response_header.service_result.0,
                "registered": response.registered_node_ids.len(),
            }),
            Err(status) => json!({ "status": status.0 }),
        })
    }

    pub(super) async fn unregister(&mut self, step: &Value) -> Outcome {
        let nodes_to_unregister = self.nodes(step)?.into();
        let request = UnregisterNodesRequest { nodes_to_unregister, ..Default::default() };
        Ok(match self.connection.call(request).await? {
            Ok(response) => json!({ "status": response.response_header.service_result.0 }),
            Err(status) => json!({ "status": status.0 }),
        })
    }

    fn nodes(&self, step: &Value) -> Result<Vec<uaforge_codec::NodeId>, String> {
        items(step, "nodes").iter().filter_map(Value::as_str).map(|name| self.namespace.node(name)).collect()
    }
}
