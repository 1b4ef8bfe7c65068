"""Node ids, values and statuses between a plan's text and asyncua's objects."""

import dataclasses
import re

from asyncua import ua
from asyncua.common.utils import Buffer
from asyncua.ua import ua_binary

IS_ID = re.compile(r"^(ns=\d+;)?[isgb]=")


def node(text, index):
    """An id in full, or the name of a node of the plan's namespace; the empty text is null."""
    if not text:
        return ua.NodeId()
    if IS_ID.match(text):
        return ua.NodeId.from_string(text)
    return ua.NodeId(text, index)


def node_text(node_id, index):
    """The inverse of `node`; an id of the plan's namespace is its name."""
    if node_id is None or node_id.is_null():
        return ""
    if node_id.NamespaceIndex == index and node_id.NodeIdType == ua.NodeIdType.String:
        return node_id.Identifier
    plain = ua.NodeId(node_id.Identifier, node_id.NamespaceIndex)
    return plain.to_string()


def value(text):
    """A Variant of its binary encoding in hexadecimal."""
    return ua_binary.variant_from_binary(Buffer(bytes.fromhex(text)))


def value_text(variant):
    """The binary encoding in hexadecimal; None for a value that is not there."""
    if variant is None or variant.VariantType == ua.VariantType.Null:
        return None
    compact(variant.Value)
    return ua_binary.variant_to_binary(variant).hex()


def status(code):
    return code.value if code is not None else 0


def compact(item):
    """Makes every numeric id be written in its shortest form; asyncua keeps the form it got."""
    if isinstance(item, ua.NodeId):
        if isinstance(item.Identifier, int):
            shortest = ua.NodeId(item.Identifier, item.NamespaceIndex).NodeIdType
            object.__setattr__(item, "NodeIdType", shortest)
    elif isinstance(item, (list, tuple)):
        for part in item:
            compact(part)
    elif dataclasses.is_dataclass(item):
        for field in dataclasses.fields(item):
            compact(getattr(item, field.name))
