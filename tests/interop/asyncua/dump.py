"""What asyncua's client gets from a server, line by line: dump.py URL FILE.

The same lines come from our client (`peer_dump`), sorted by their bytes:
    R <source> <reference type> <target> <class> <browse name> <display name> <type definition>
    I … the same, seen at the target: the description is of the source
    V <node> <attribute> <status code in hexadecimal> <variant, binary, in hexadecimal>
"""

import asyncio
import pathlib
import sys

import space
import wire
from asyncua import ua
from asyncua.ua import ua_binary


def main(url, path):
    found = asyncio.run(space.whole(url))
    lines = set()
    for letter, triples in (("R", found.forward), ("I", found.inverse)):
        for (source, kind, target), reference in triples.items():
            fields = (letter, source, kind, target, *_description(found, reference))
            lines.add("\t".join(map(_escape, fields)))
    for (node, attribute), data in found.values.items():
        status = data.StatusCode.value if data.StatusCode is not None else 0
        body = b"\x00"
        if data.Value is not None:
            wire.compact(data.Value.Value)
            body = ua_binary.variant_to_binary(data.Value)
        lines.add("\t".join(("V", _escape(node), str(attribute), f"{status:08x}", body.hex())))
    text = "".join(line + "\n" for line in sorted(lines, key=str.encode))
    pathlib.Path(path).write_text(text, encoding="utf-8")
    print(f"asyncua's client: {len(found.nodes)} nodes, {len(lines)} lines")


def _description(found, reference):
    yield str(int(reference.NodeClass))
    yield found.name(reference.BrowseName)
    yield reference.DisplayName.Text or ""
    yield found.id(reference.TypeDefinition or ua.NodeId())


def _escape(text):
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
