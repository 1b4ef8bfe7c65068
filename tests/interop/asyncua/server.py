"""asyncua as a server on loopback, with the nodes of a space file beside its ns0: server.py SPACE.

Prints its address, runs until it is interrupted or ten minutes have passed.
"""

import asyncio
import json
import logging
import pathlib
import signal
import socket
import sys
import uuid

import wire
from asyncua import Server, ua, uamethod

LIFETIME = 600


async def main(path):
    logging.basicConfig(level=logging.CRITICAL)
    space = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    server = Server()
    await server.init()
    url = f"opc.tcp://127.0.0.1:{_free_port()}"
    server.set_endpoint(url)
    server.set_security_policy([ua.SecurityPolicyType.NoSecurity])
    await _fill(server, space)
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    async with server:
        print(f"asyncua listens on {url}", flush=True)
        try:
            await asyncio.wait_for(stopped.wait(), LIFETIME)
        except asyncio.TimeoutError:
            pass


async def _fill(server, space):
    index = await server.register_namespace(space["uri"])
    folder = await server.nodes.objects.add_object(ua.NodeId("Peer", index), f"{index}:Peer")
    for variable in space["variables"]:
        await _add_variable(folder, index, variable)
    await folder.add_object(ua.NodeId(uuid.UUID(int=5), index), f"{index}:ByGuid")
    await folder.add_object(ua.NodeId(b"\x00\xff", index), f"{index}:ByOpaque")
    for method in space["methods"]:
        name = method["name"]
        arguments = [[_argument(*a) for a in method[side]] for side in ("inputs", "outputs")]
        await folder.add_method(
            ua.NodeId(name, index), f"{index}:{name}", uamethod(METHODS[name]), *arguments
        )


async def _add_variable(folder, index, variable):
    name, access = variable["name"], variable["access"]
    node = await folder.add_variable(
        ua.NodeId(name, index),
        f"{index}:{name}",
        wire.value(variable["value"]),
        datatype=ua.NodeId.from_string(variable["type"]),
    )
    await node.write_attribute(
        ua.AttributeIds.ValueRank, ua.DataValue(ua.Variant(variable["rank"], ua.VariantType.Int32))
    )
    dimensions = ua.Variant(variable.get("dimensions", []), ua.VariantType.UInt32, is_array=True)
    await node.write_attribute(ua.AttributeIds.ArrayDimensions, ua.DataValue(dimensions))
    for attribute in (ua.AttributeIds.AccessLevel, ua.AttributeIds.UserAccessLevel):
        level = ua.Variant(access, ua.VariantType.Byte)
        await node.write_attribute(attribute, ua.DataValue(level))


def _argument(name, data_type, rank):
    return ua.Argument(Name=name, DataType=ua.NodeId.from_string(data_type), ValueRank=rank)


async def _add(_parent, a, b):
    return a + b


async def _nothing(_parent):
    return None


async def _reverse(_parent, text, numbers):
    return ua.Variant(numbers[::-1], ua.VariantType.Int32), text[::-1]


async def _widen(_parent, value):
    return ua.Range(value.Low - 1, value.High + 1)


async def _fail(_parent):
    return ua.StatusCode(ua.StatusCodes.BadInvalidState)


METHODS = {"Add": _add, "Nothing": _nothing, "Reverse": _reverse, "Widen": _widen, "Fail": _fail}


def _free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


if __name__ == "__main__":
    sys.exit(asyncio.run(main(*sys.argv[1:])))
