"""Node ids, values and statuses between a plan's text and o6's objects."""

import re
import uuid

import o6

# OPC 10000-6 §5.1.2: numbers of builtin types.
NODE_ID, QUALIFIED_NAME = 17, 20
IS_ID = re.compile(r"^(ns=\d+;)?[isgb]=")


class Skip(Exception):
    """A step that this client has no words for."""


def node(text, uri):
    """An id in full, or the name of a node of the plan's namespace; the empty text is null."""
    if not text:
        return o6.NodeId()
    if IS_ID.match(text):
        return o6.NodeId(text)
    return o6.NodeId(f"nsu={uri};s={text}")


def node_text(node_id, uri):
    """The inverse of `node`; an id of the plan's namespace is its name."""
    identifier, namespace = node_id.id, node_id.ns
    if identifier == 0 and namespace.uri == o6.ns.ns0.uri:
        return ""
    if namespace.uri == uri and isinstance(identifier, str):
        return identifier
    place = "" if namespace.uri == o6.ns.ns0.uri else f"nsu={namespace.uri};"
    return f"{place}{_identifier(node_id)}"


def _identifier(node_id):
    kinds = {int: "i", str: "s", bytes: "b", uuid.UUID: "g"}
    kind = next((letter for of, letter in kinds.items() if isinstance(node_id.id, of)), "i")
    return f"{kind}={node_id.id}"


def data_value(text):
    """A DataValue with the Variant whose binary encoding this is in hexadecimal."""
    # OPC 10000-6 §5.2.2.17: the mask says that there is a value and nothing else.
    return o6.decodeBinary(b"\x01" + bytes.fromhex(text), o6.DataValue)


def value_text(data, uris):
    """The Variant of a DataValue as its binary encoding in hexadecimal; None if there is none.

    What o6 decodes has its own namespace indices; `uris` are those of the server in their order.
    """
    encoded = o6.encodeBinary(data)
    mask = encoded[0]
    if not mask & 1:
        return None
    behind = sum(size for bit, size in ((2, 4), (4, 8), (8, 8), (16, 2), (32, 2)) if mask & bit)
    variant = encoded[1 : len(encoded) - behind]
    if variant[0] in (NODE_ID, QUALIFIED_NAME):
        variant = bytes(variant[:1]) + _with_index_of(uris, data.value)
    return variant.hex() if variant != b"\x00" else None


def _with_index_of(uris, value):
    """A NodeId or QualifiedName encoded with its namespace's index at the server."""
    index = uris.index(value.ns.uri) if not isinstance(value.ns, int) else value.ns
    if isinstance(value, o6.QualifiedName):
        return o6.encodeBinary(o6.QualifiedName(index, value.name))
    return o6.encodeBinary(o6.NodeId(f"ns={index};{_identifier(value)}"))
