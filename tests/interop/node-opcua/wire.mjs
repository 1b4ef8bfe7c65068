// Node ids, values and statuses between a plan's text and node-opcua's objects.

import { opcua } from "./library.mjs";

const IS_ID = /^(ns=\d+;)?[isgb]=/;

/** An id in full, or the name of a node of the plan's namespace; the empty text is null. */
export function node(text, index) {
    if (!text) {
        return new opcua.NodeId();
    }
    return IS_ID.test(text)
        ? opcua.coerceNodeId(text)
        : new opcua.NodeId(opcua.NodeIdType.STRING, text, index);
}

/** The inverse of `node`; an id of the plan's namespace is its name. */
export function nodeText(id, index) {
    if (!id || id.isEmpty()) {
        return "";
    }
    if (id.namespace === index && id.identifierType === opcua.NodeIdType.STRING) {
        return id.value;
    }
    const plain = new opcua.NodeId(id.identifierType, id.value, id.namespace);
    return plain.toString().replace(/^ns=0;/, "");
}

/** A Variant of its binary encoding in hexadecimal. */
export function value(text) {
    return opcua.decodeVariant(new opcua.BinaryStream(Buffer.from(text, "hex")));
}

/** The binary encoding in hexadecimal; null for a value that is not there. */
export function valueText(variant) {
    if (!variant || variant.dataType === opcua.DataType.Null) {
        return null;
    }
    const stream = new opcua.BinaryStream(Buffer.alloc(1 << 20));
    opcua.encodeVariant(variant, stream);
    return stream.buffer.subarray(0, stream.length).toString("hex");
}

/** The number of a status; none at all is Good. */
export function status(code) {
    return code ? code.value : 0;
}
