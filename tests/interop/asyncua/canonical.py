"""The canonical text of one model, from what a server shows: lines N, R and A, sorted by bytes."""

import hashlib

from asyncua import ua
from space import HAS_TYPE_DEFINITION

UA = "http://opcfoundation.org/UA/"
TYPES = {"ObjectType", "VariableType", "DataType", "ReferenceType"}


def groups(space, uri):
    """The sorted N, R and A lines of the model `uri`."""
    own = [node for node in space.nodes if _uri(node) == uri]
    definitions = {s: t for s, kind, t in space.forward if kind == HAS_TYPE_DEFINITION}
    nodes, attributes = [], []
    for node in own:
        node_class = _class(space, node)
        name = space.name(space.value(node, "BrowseName"))
        nodes.append(f"N\t{node}\t{node_class}\t{name}\t{definitions.get(node, '-')}")
        for attribute, text in _attributes(space, node, node_class):
            attributes.append(f"A\t{node}\t{attribute}\t{text}")
    references = {
        f"R\t{source}\t{kind}\t{target}"
        for source, kind, target in space.forward.keys() | space.inverse.keys()
        if _belongs(source, target, uri)
    }
    return [sorted(lines, key=str.encode) for lines in (nodes, references, attributes)]


def hashes(lines):
    """SHA-256 of each group and of the whole, each line followed by a line feed."""
    nodes, references, attributes = lines
    return {
        "nodes": _sha256(nodes),
        "references": _sha256(references),
        "attributes": _sha256(attributes),
        "model": _sha256(nodes + references + attributes),
    }


def _belongs(source, target, uri):
    """In ns0 both ends, in another model one end and the other in it or in ns0."""
    ends = {_uri(source), _uri(target)}
    return ends == {uri} or ends == {uri, UA}


def _uri(node):
    return node[4:].split(";", 1)[0] if node.startswith("nsu=") else UA


def _class(space, node):
    return ua.NodeClass(space.value(node, "NodeClass")).name


def _attributes(space, node, node_class):
    def of(attribute):
        return space.value(node, attribute)

    yield "DisplayName", _text(of("DisplayName"))
    if node_class in ("Variable", "VariableType"):
        yield "DataType", space.id(of("DataType"))
        yield "ValueRank", str(int(of("ValueRank")))
        yield "ArrayDimensions", ",".join(map(str, of("ArrayDimensions") or [])) or "-"
    if node_class == "Variable":
        yield "AccessLevel", str(of("AccessLevel"))
    if node_class == "Object":
        yield "EventNotifier", str(of("EventNotifier"))
    if node_class in TYPES:
        yield "IsAbstract", _boolean(of("IsAbstract"))
    if node_class == "ReferenceType":
        yield "Symmetric", _boolean(of("Symmetric"))
        yield "InverseName", _text(of("InverseName"))


def _boolean(value):
    return "true" if value else "false"


def _text(localized):
    text = localized.Text if localized is not None else None
    return " ".join((text or "").split()) or "-"


def _sha256(lines):
    return hashlib.sha256("".join(line + "\n" for line in lines).encode()).hexdigest()
