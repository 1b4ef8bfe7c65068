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
import place
import wire
from o6.ns import ns0

# Without a licence the library ends the process a little later.
LIFETIME = 590
ANY_RANK = -2


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
    index = place.declare(uri)
    server.ns.append(place)

    def node_id(name):
        return wire.node(name, uri)

    server.addObject("Peer", server.objectsNode, nodeId=node_id("Peer"), ns=index)
    for variable in space["variables"]:
        _add_variable(server, node_id, index, variable)
    for name, identifier in (("ByGuid", f"g={uuid.UUID(int=5)}"), ("ByOpaque", "b=AP8=")):
        server.addObject(
            name,
            node_id("Peer"),
            nodeId=o6.NodeId(f"nsu={uri};{identifier}"),
            ns=index,
            parentReference=ns0.reftypes.HasComponent,
        )
    for method in space["methods"]:
        name = method["name"]
        inputs, outputs = ([_argument(*a) for a in method[side]] for side in ("inputs", "outputs"))
        server.addMethod(
            name,
            node_id("Peer"),
            METHODS[name],
            inputArgs=inputs,
            outputArgs=outputs,
            nodeId=node_id(name),
            ns=index,
        )


def _add_variable(server, node_id, index, variable):
    name = variable["name"]
    data = wire.data_value(variable["value"])
    node = node_id(name)
    description = {
        "nodeId": node,
        "dataType": variable["type"],
        "ns": index,
        "parentReference": ns0.reftypes.HasComponent,
    }
    if "dimensions" in variable:
        server.addVariable(name, node_id("Peer"), data.value, **description)
        attributes = [(o6.AttributeId.ARRAY_DIMENSIONS, o6.UInt32(variable["dimensions"]))]
    else:
        server.addVariable(name, node_id("Peer"), **description)
        # A rank is refused that the value does not have, and a value that the rank does not allow.
        attributes = [
            (o6.AttributeId.VALUE_RANK, o6.Int32(ANY_RANK)),
            (o6.AttributeId.VALUE, data),
            (o6.AttributeId.VALUE_RANK, o6.Int32(variable["rank"])),
        ]
    attributes.append((o6.AttributeId.ACCESS_LEVEL, o6.Byte(variable["access"])))
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


GOOD = o6.StatusCode.GOOD


def _add(_node, a, b):
    return GOOD, o6.Double(float(a) + float(b))


def _nothing(_node):
    return (GOOD,)


def _reverse(_node, text, numbers):
    return GOOD, o6.Int32(list(numbers)[::-1]), o6.String(str(text)[::-1])


def _widen(_node, value):
    wider = ns0.datatypes.Range()
    wider.low, wider.high = value.low - 1, value.high + 1
    return GOOD, wider


def _fail(_node):
    return (o6.StatusCode.BAD_INVALID_STATE,)


METHODS = {"Add": _add, "Nothing": _nothing, "Reverse": _reverse, "Widen": _widen, "Fail": _fail}

if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
