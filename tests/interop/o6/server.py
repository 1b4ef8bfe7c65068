"""o6 (open62541 with OpenSSL) as a server on loopback, with the nodes of a space file beside its ns0: server.py SPACE.

Prints its address, runs until it is interrupted or ten minutes have passed.
"""

import json
import logging
import pathlib
import signal
import socket
import sys
import threading
import uuid

import o6
import wire
from o6.ns import ns0

# Without a licence the library ends the process a little later.
LIFETIME = 590


def main(path):
    logging.basicConfig(level=logging.CRITICAL)
    space = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    port = _free_port()
    server = o6.Server(port)
    _fill(server, space)
    stopped = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopped.set())
    with server:
        print(f"o6 listens on opc.tcp://127.0.0.1:{port}", flush=True)
        stopped.wait(LIFETIME)
    return 0


def _fill(server, space):
    uri = space["uri"]
    namespace = o6.ns.register(shortname="peer", uri=uri)
    server.ns.append(namespace)
    place = namespace.index
    folder = o6.NodeId(f"nsu={uri};s=Peer")
    server.addObject("Peer", server.objectsNode, nodeId=folder, ns=place)
    for variable in space["variables"]:
        _add_variable(server, folder, uri, place, variable)
    for name, identifier in (("ByGuid", uuid.UUID(int=5)), ("ByOpaque", b"\x00\xff")):
        server.addObject(name, folder, nodeId=o6.NodeId(namespace, identifier), ns=place)
    for method in space["methods"]:
        name = method["name"]
        inputs, outputs = ([_argument(*a) for a in method[side]] for side in ("inputs", "outputs"))
        node = o6.NodeId(f"nsu={uri};s={name}")
        server.addMethod(
            name, folder, METHODS[name], inputArgs=inputs, outputArgs=outputs, nodeId=node, ns=place
        )


def _add_variable(server, folder, uri, place, variable):
    name = variable["name"]
    data = wire.data_value(variable["value"])
    node = o6.NodeId(f"nsu={uri};s={name}")
    server.addVariable(name, folder, data.value, nodeId=node, dataType=variable["type"], ns=place)
    attributes = [
        (o6.AttributeId.VALUE_RANK, o6.Int32(variable["rank"])),
        (o6.AttributeId.ARRAY_DIMENSIONS, o6.UInt32(variable.get("dimensions", []))),
        (o6.AttributeId.VALUE, data),
        (o6.AttributeId.ACCESS_LEVEL, o6.Byte(variable["access"])),
    ]
    for attribute, value in attributes:
        server.write(node, value, attr=attribute).check(message=f"{name} {attribute}")


def _argument(name, data_type, rank):
    argument = ns0.datatypes.Argument()
    argument.name = name
    argument.dataType = o6.NodeId(data_type)
    argument.valueRank = rank
    return argument


def _free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


METHODS = {}

if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
