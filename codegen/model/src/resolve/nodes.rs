//! Node elements with their attributes and references (OPC 10000-6 §F.3 to §F.11).

use super::context::local_text;
use super::scalars::{text, texts};
use super::{Context, Declared, Document, PendingValue, Resolver};
use crate::diagnostic::{Diagnostic, codes};
use crate::resolved::{Id, Node, NodeClass, Ns, QName, Span, Triple};
use crate::schema::{Element, NODESET_XMLNS, required};

impl Node {
    /// A node with the schema's defaults.
    pub fn new(id: Id, class: NodeClass, browse_name: QName) -> Self {
        Self {
            id,
            class,
            browse_name,
            display_name: Vec::new(),
            description: Vec::new(),
            symbolic_name: None,
            parent_hint: None,
            write_mask: 0,
            is_abstract: false,
            symmetric: false,
            inverse_name: Vec::new(),
            event_notifier: 0,
            contains_no_loops: false,
            data_type: Id::ns0(24),
            value_rank: -1,
            array_dimensions: Vec::new(),
            access_level: 1,
            minimum_sampling_interval: 0.0,
            historizing: false,
            executable: true,
            method_declaration: None,
            value: None,
            definition: None,
            types_only: false,
            access_restrictions: None,
            role_permissions: Vec::new(),
            release_status: None,
            documentation: None,
            design_tool_only: false,
            span: Span::default(),
        }
    }
}

fn class_of(name: &str) -> Option<NodeClass> {
    Some(match name {
        "UAObject" => NodeClass::Object,
        "UAVariable" => NodeClass::Variable,
        "UAMethod" => NodeClass::Method,
        "UAObjectType" => NodeClass::ObjectType,
        "UAVariableType" => NodeClass::VariableType,
        "UAReferenceType" => NodeClass::ReferenceType,
        "UADataType" => NodeClass::DataType,
        "UAView" => NodeClass::View,
        _ => return None,
    })
}

impl<'a> Resolver<'a, '_> {
    pub(super) fn read_nodes(&mut self, index: usize, document: &Document<'a>, context: &Context<'a>) {
        for element in &document.header.nodes {
            let class = class_of(element.name()).filter(|_| element.namespace() == NODESET_XMLNS);
            let Some(class) = class else {
                let message = format!("{} is no element of the NodeSet2 schema", element.name());
                self.diagnostics.push(
                    Diagnostic::warning(codes::UNKNOWN_ELEMENT, message)
                        .at(element.name_span())
                        .help("the element is left out; data of tools belongs into Extensions"),
                );
                continue;
            };
            if let Some(node) = self.node(context, *element, class) {
                self.add_node(index, document, context, *element, node);
            }
        }
    }

    fn add_node(
        &mut self,
        index: usize,
        document: &Document<'a>,
        context: &Context<'a>,
        element: Element<'a>,
        node: Node,
    ) {
        let local = local_text(&context.namespaces, &node.id);
        self.references(context, element, &node.id, &local);
        if let Some(value) = element.child("Value") {
            self.values.push(PendingValue {
                node: node.id.clone(),
                document: index,
                element: value,
                owner: element,
            });
        }
        self.check_owner(document, &node, &local);
        self.merge_node(element, node, &local);
    }

    /// A node of a namespace that is no model of the file still joins that namespace's model.
    fn check_owner(&mut self, document: &Document<'a>, node: &Node, local: &str) {
        let uri = self.names.uris.get(usize::from(node.id.ns.0)).cloned();
        let Some(uri) = uri else { return };
        if document.model_uris.contains(&uri) {
            return;
        }
        let message = format!("node {local} belongs to {uri}, which is no model of this file");
        self.diagnostics.push(
            Diagnostic::warning(codes::FOREIGN_NODE, message)
                .at(node.span)
                .node(local)
                .help(format!("add a Model element for {uri}, or move the node to that model's file")),
        );
    }

    fn node(&mut self, context: &Context<'a>, element: Element<'a>, class: NodeClass) -> Option<Node> {
        let id_text = required(element, "NodeId", self.diagnostics)?;
        let id = self.id(context, id_text, Some(id_text.value));
        let local = id_text.value;
        required(element, "BrowseName", self.diagnostics);
        let name = element.attribute("BrowseName");
        let browse_name = match name {
            Some(name) => self.qualified_name(context, name, Some(local)),
            None => QName { ns: Ns::UA, name: "".into() },
        };
        let mut node = Node::new(id?, class, browse_name);
        node.span = element.span();
        self.common_attributes(context, element, local, &mut node);
        match class {
            NodeClass::Variable | NodeClass::VariableType => {
                self.variable(context, element, local, &mut node)
            }
            NodeClass::Method => {
                node.executable = self.flag(element, "Executable", true);
                let declaration = element.attribute("MethodDeclarationId");
                node.method_declaration = declaration.and_then(|text| self.id(context, text, Some(local)));
            }
            NodeClass::ReferenceType => {
                node.symmetric = self.flag(element, "Symmetric", false);
                node.inverse_name = texts(element, "InverseName");
            }
            NodeClass::DataType => {
                let purpose = element.attribute("Purpose").map(|purpose| purpose.value);
                node.types_only = matches!(purpose, Some("ServicesOnly" | "CodeGenerator"));
                let definition = element.child("Definition");
                node.definition = definition.map(|child| self.definition(context, child, local));
            }
            NodeClass::View => node.contains_no_loops = self.flag(element, "ContainsNoLoops", false),
            NodeClass::Object | NodeClass::ObjectType => {}
        }
        Some(node)
    }

    fn common_attributes(
        &mut self,
        context: &Context<'a>,
        element: Element<'a>,
        local: &str,
        node: &mut Node,
    ) {
        node.display_name = texts(element, "DisplayName");
        node.description = texts(element, "Description");
        node.symbolic_name = text(element, "SymbolicName");
        let parent = element.attribute("ParentNodeId").filter(|text| !text.value.trim().is_empty());
        node.parent_hint = parent.and_then(|text| self.id(context, text, Some(local)));
        node.write_mask = self.number(element, "WriteMask", 0);
        node.is_abstract = self.flag(element, "IsAbstract", false);
        node.event_notifier = self.number(element, "EventNotifier", 0);
        node.design_tool_only = self.flag(element, "DesignToolOnly", false);
        node.access_restrictions = self.optional_number(element, "AccessRestrictions");
        node.release_status = text(element, "ReleaseStatus").filter(|status| status != "Released");
        let documentation = element.child("Documentation").map(|child| child.text().trim().to_owned());
        node.documentation = documentation.filter(|text| !text.is_empty());
        let permissions = element.children().filter(|child| child.name() == "RolePermissions");
        for permission in permissions.flat_map(Element::children) {
            let bits = self.number(permission, "Permissions", 0);
            if let Some(role) = self.id_in(context, permission, local) {
                node.role_permissions.push((role, bits));
            }
        }
    }

    fn variable(&mut self, context: &Context<'a>, element: Element<'a>, local: &str, node: &mut Node) {
        let data_type = element.attribute("DataType");
        if let Some(id) = data_type.and_then(|text| self.id(context, text, Some(local))) {
            node.data_type = id;
        }
        node.value_rank = self.number(element, "ValueRank", -1);
        node.array_dimensions = self.dimensions(element);
        node.access_level = self.number(element, "AccessLevel", 1);
        node.minimum_sampling_interval = self.number(element, "MinimumSamplingInterval", 0.0);
        node.historizing = self.flag(element, "Historizing", false);
    }

    /// Reference elements, turned to forward triples.
    fn references(&mut self, context: &Context<'a>, element: Element<'a>, id: &Id, local: &str) {
        let lists = element.children().filter(|child| child.name() == "References");
        for reference in lists.flat_map(Element::children) {
            let reference_type = required(reference, "ReferenceType", self.diagnostics);
            let reference_type = reference_type.and_then(|text| self.id(context, text, Some(local)));
            let other = self.id_in(context, reference, local);
            let forward = self.flag(reference, "IsForward", true);
            let (Some(reference_type), Some(other)) = (reference_type, other) else {
                continue;
            };
            let (source, target) = if forward { (id.clone(), other) } else { (other, id.clone()) };
            self.declared.push(Declared {
                triple: Triple { source, reference_type, target },
                declared_by: id.clone(),
                span: reference.span(),
            });
        }
    }
}
