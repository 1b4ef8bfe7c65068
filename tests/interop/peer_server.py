"""asyncua as a server on loopback, with nodes of its own beside its ns0: peer_server.py.

Prints its address, runs until it is interrupted or ten minutes have passed.
"""

import asyncio
import datetime
import logging
import signal
import socket
import sys
import uuid

from asyncua import Server, ua

URI = "http://example.org/peer/"
MOMENT = datetime.datetime(2024, 2, 29, 12, 30, 15, 250000, datetime.timezone.utc)
LIFETIME = 600

V = ua.VariantType
# Name, value, builtin type: scalars and arrays of what Variants hold (OPC 10000-6 §5.2.2.16).
VALUES = [
    ("Boolean", True, V.Boolean),
    ("SByte", -7, V.SByte),
    ("Byte", 200, V.Byte),
    ("Int16", -30000, V.Int16),
    ("UInt16", 60000, V.UInt16),
    ("Int32", -2000000000, V.Int32),
    ("UInt32", 4000000000, V.UInt32),
    ("Int64", -(2**62), V.Int64),
    ("UInt64", 2**63, V.UInt64),
    ("Float", 0.5, V.Float),
    ("Double", -1e300, V.Double),
    ("String", "grüße, 世界", V.String),
    ("EmptyString", "", V.String),
    ("NullString", None, V.String),
    ("DateTime", MOMENT, V.DateTime),
    ("Guid", uuid.UUID("72962b91-fa75-4ae6-8d28-b404dc7daf63"), V.Guid),
    ("ByteString", b"\x00\x01\xff", V.ByteString),
    ("NodeId", ua.NodeId("text", 2), V.NodeId),
    ("StatusCode", ua.StatusCode(ua.StatusCodes.BadNodeIdUnknown), V.StatusCode),
    ("QualifiedName", ua.QualifiedName("name", 2), V.QualifiedName),
    ("LocalizedText", ua.LocalizedText("Text", "de"), V.LocalizedText),
    ("Structure", ua.Range(-1.0, 2.0), V.ExtensionObject),
    ("Doubles", [1.5, -2.5, float("inf")], V.Double),
    ("Strings", ["a", "", None, "ß"], V.String),
    ("NoInt32", [], V.Int32),
    ("Guids", [uuid.UUID(int=1), uuid.UUID(int=2**127)], V.Guid),
    ("Structures", [ua.Range(0, 1), ua.Range(2, 3)], V.ExtensionObject),
    ("Variants", [ua.Variant(1, V.Byte), ua.Variant("x", V.String)], V.Variant),
    ("Matrix", [[1, 2, 3], [4, 5, 6]], V.Int32),
]


async def main():
    logging.basicConfig(level=logging.ERROR)
    server = Server()
    await server.init()
    url = f"opc.tcp://127.0.0.1:{_free_port()}"
    server.set_endpoint(url)
    server.set_security_policy([ua.SecurityPolicyType.NoSecurity])
    index = await server.register_namespace(URI)
    folder = await server.nodes.objects.add_object(ua.NodeId("peer", index), f"{index}:Peer")
    for name, value, kind in VALUES:
        node_id, variant = ua.NodeId(f"peer.{name}", index), ua.Variant(value, kind)
        data_type = ua.NodeId(24) if kind == V.Variant else None
        await folder.add_variable(node_id, f"{index}:{name}", variant, datatype=data_type)
    await folder.add_object(ua.NodeId(uuid.UUID(int=5), index), f"{index}:ByGuid")
    await folder.add_object(ua.NodeId(b"\x00\xff", index), f"{index}:ByOpaque")
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    async with server:
        print(f"asyncua listens on {url}", flush=True)
        try:
            await asyncio.wait_for(stopped.wait(), LIFETIME)
        except asyncio.TimeoutError:
            pass


def _free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
