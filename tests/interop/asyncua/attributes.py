"""Which attributes a node has: Good, or Bad_AttributeIdInvalid where it has none (OPC 10000-3 §5)."""

import xml.etree.ElementTree as ElementTree

from asyncua import ua
from space import ATTRIBUTES, NUMBERS

COMMON = {"NodeId", "NodeClass", "BrowseName", "DisplayName"}
COMMON_OPTIONAL = {
    "Description", "WriteMask", "UserWriteMask",
    "RolePermissions", "UserRolePermissions", "AccessRestrictions",
}
MANDATORY = {
    "Object": {"EventNotifier"},
    "ObjectType": {"IsAbstract"},
    "ReferenceType": {"IsAbstract", "Symmetric"},
    "Variable": {
        "Value", "DataType", "ValueRank", "AccessLevel", "UserAccessLevel", "Historizing",
    },
    "VariableType": {"DataType", "ValueRank", "IsAbstract"},
    "Method": {"Executable", "UserExecutable"},
    "DataType": {"IsAbstract"},
    "View": {"ContainsNoLoops", "EventNotifier"},
}
OPTIONAL = {
    "ReferenceType": {"InverseName"},
    "Variable": {"ArrayDimensions", "MinimumSamplingInterval", "AccessLevelEx"},
    "VariableType": {"Value", "ArrayDimensions"},
    "DataType": {"DataTypeDefinition"},
}
INVALID = "BadAttributeIdInvalid"

# The builtin type of each attribute's value (OPC 10000-3 §5.2 to §5.8).
TYPES = {
    "NodeId": "NodeId", "NodeClass": "Int32", "BrowseName": "QualifiedName",
    "DisplayName": "LocalizedText", "Description": "LocalizedText", "WriteMask": "UInt32",
    "UserWriteMask": "UInt32", "IsAbstract": "Boolean", "Symmetric": "Boolean",
    "InverseName": "LocalizedText", "ContainsNoLoops": "Boolean", "EventNotifier": "Byte",
    "DataType": "NodeId", "ValueRank": "Int32", "ArrayDimensions": "UInt32",
    "AccessLevel": "Byte", "UserAccessLevel": "Byte", "MinimumSamplingInterval": "Double",
    "Historizing": "Boolean", "Executable": "Boolean", "UserExecutable": "Boolean",
    "DataTypeDefinition": "ExtensionObject", "RolePermissions": "ExtensionObject",
    "UserRolePermissions": "ExtensionObject", "AccessRestrictions": "UInt16",
    "AccessLevelEx": "UInt32",
}

# ArrayDimensions of what is no array is null (OPC 10000-3 §5.6.2).
NULL = {("ArrayDimensions", "Null")}


def findings(space):
    """What is wrong with the attributes of all nodes, as text."""
    for node in space.nodes:
        node_class = ua.NodeClass(space.value(node, "NodeClass")).name
        mandatory = COMMON | MANDATORY[node_class]
        optional = COMMON_OPTIONAL | OPTIONAL.get(node_class, set())
        for number, name in ATTRIBUTES.items():
            status = space.status(node, number)
            if name in mandatory:
                right = status == "Good"
            elif name in optional:
                right = status in ("Good", INVALID)
            else:
                right = status == INVALID
            if not right:
                yield f"{node} ({node_class}): {name} is {status}"
            elif status == "Good" and name in TYPES:
                found = space.values[node, number].Value
                kind = found.VariantType.name if found is not None else "Null"
                if kind != TYPES[name] and (name, kind) not in NULL:
                    yield f"{node} ({node_class}): {name} is {found}, not a {TYPES[name]}"
        if space.id(space.value(node, "NodeId")) != node:
            yield f"{node}: the attribute NodeId says {space.value(node, 'NodeId')}"


def reference_findings(space):
    """References seen at one end only, and descriptions that are not what the target says."""
    # A server's own instances do not stand in the reverse lists of types and modelling rules.
    own = f"nsu={space.uris[1]};"
    for triple in space.forward.keys() - space.inverse.keys():
        if not (triple[0].startswith(own) and triple[1] in ("i=37", "i=40")):
            yield f"{triple}: not seen at the target"
    for triple in space.inverse.keys() - space.forward.keys():
        yield f"{triple}: not seen at the source"
    definitions = {s: t for s, kind, t in space.forward if kind == "i=40"}
    described = [(t, reference) for (_, _, t), reference in space.forward.items()]
    described += [(s, reference) for (s, _, _), reference in space.inverse.items()]
    for node, reference in described:
        if node not in space.nodes:
            yield f"{node}: browsed, but cannot be reached"
            continue
        expected = definitions.get(node, "i=0")
        if space.id(reference.TypeDefinition) != expected:
            yield f"{node}: a reference says type definition {reference.TypeDefinition}"
        if reference.NodeClass != space.value(node, "NodeClass"):
            yield f"{node}: a reference says class {reference.NodeClass}"
        if reference.BrowseName != space.value(node, "BrowseName"):
            yield f"{node}: a reference says browse name {reference.BrowseName}"
        if reference.DisplayName.Text != space.value(node, "DisplayName").Text:
            yield f"{node}: a reference says display name {reference.DisplayName}"


def value_findings(space, nodeset, live):
    """Variables of a NodeSet file: a value where the file has one, else null.

    `live` holds ids whose values a server makes itself. Values that committed crates do not
    carry (type dictionaries, OPC 10000-5 §8.3) may be null.
    """
    uris, variables, dictionaries = _variables(nodeset)
    for identifier, has_value in variables:
        node = _absolute(identifier, uris)
        if node in live or node not in space.nodes:
            continue
        data = space.values[node, NUMBERS["Value"]]
        variant = data.Value
        is_null = variant is None or variant.VariantType == ua.VariantType.Null
        if not has_value and not is_null:
            yield f"{node}: has no value in the NodeSet, but {variant}"
        if has_value and is_null and identifier not in dictionaries:
            yield f"{node}: has a value in the NodeSet, but is null"


def _variables(path):
    namespace = "{http://opcfoundation.org/UA/2011/03/UANodeSet.xsd}"
    uris, variables, dictionaries = [], [], set()
    for _, element in ElementTree.iterparse(path):
        if element.tag == f"{namespace}NamespaceUris":
            uris = [child.text for child in element]
        elif element.tag == f"{namespace}UAVariable":
            variables.append((element.get("NodeId"), element.find(f"{namespace}Value") is not None))
            if element.get("DataType") in ("ByteString", "i=15"):
                dictionaries.add(element.get("NodeId"))
            element.clear()
    return uris, variables, dictionaries


def _absolute(identifier, uris):
    if not identifier.startswith("ns="):
        return identifier
    index, text = identifier[3:].split(";", 1)
    return f"nsu={uris[int(index) - 1]};{text}"
