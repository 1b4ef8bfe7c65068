"""asyncua as a client: carries out the steps of a plan against a server: client.py URL PLAN RESULTS.

It judges nothing: each step's outcome is written down, and the task that called compares.
"""

import asyncio
import json
import logging
import pathlib
import sys

import subscriptions
import wire
from asyncua import Client, ua
from asyncua.ua.ua_binary import struct_from_binary
from steps import STEPS, Skip

ALL_STEPS = STEPS | subscriptions.STEPS
TIMEOUT = 15


class Conversation:
    """What the steps of one check share: a connection, the namespace, what the server gave."""

    def __init__(self, protocol, url, index):
        self.protocol, self.url, self.index = protocol, url, index
        self.points, self.subscriptions, self.items, self.sequence_numbers = [], [], [], []
        self.token = protocol.authentication_token
        self.nonce = None

    def node(self, text):
        return wire.node(text, self.index)

    async def send(self, request, response):
        """The response, or the status of a service that failed as a whole."""
        try:
            data = await self.protocol.send_request(request, TIMEOUT)
            answer = struct_from_binary(response, data)
        except ua.UaStatusCodeError as error:
            return None, error.code
        return answer, answer.ResponseHeader.ServiceResult.value


async def main(url, plan_path, results_path):
    logging.basicConfig(level=logging.CRITICAL)
    plan = json.loads(pathlib.Path(plan_path).read_text(encoding="utf-8"))
    with open(results_path, "w", encoding="utf-8") as results:
        async with Client(url, timeout=TIMEOUT) as client:
            index = await client.get_namespace_index(plan["uri"])
            for check in plan["checks"]:
                if check["session"] == "open":
                    protocol = client.uaclient.protocol
                    outcome = await run(Conversation(protocol, url, index), check)
                else:
                    outcome = await alone(url, index, check)
                results.write(json.dumps({"name": check["name"], **outcome}) + "\n")
                results.flush()
    return 0


async def alone(url, index, check):
    """Runs a check on a connection of its own, which has no session but what the check makes."""
    client = Client(url, timeout=TIMEOUT)
    await client.connect_socket()
    try:
        await client.send_hello()
        await client.open_secure_channel()
        return await run(Conversation(client.uaclient.protocol, url, index), check)
    finally:
        try:
            await client.close_secure_channel()
        except (ua.UaError, ConnectionError, asyncio.TimeoutError):
            pass  # the check may have made the server end the connection
        client.disconnect_socket()


async def run(conversation, check):
    outcomes = []
    try:
        for step in check["steps"]:
            outcomes.append(await ALL_STEPS[step["do"]](conversation, step))
    except Skip as reason:
        return {"skip": str(reason)}
    except Exception as error:  # whatever the library makes of an answer is the outcome
        return {"steps": outcomes, "error": f"{type(error).__name__}: {error}"}
    finally:
        await subscriptions.end_all(conversation)
    return {"steps": outcomes}


if __name__ == "__main__":
    sys.exit(asyncio.run(main(*sys.argv[1:])))
