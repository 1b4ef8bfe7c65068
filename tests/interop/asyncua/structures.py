"""asyncua reads structures of our demo server, whose types it learns from the server: structures.py URL.

It knows nothing of the model: DataTypeDefinition and the encoding ids come from the address space
(OPC 10000-3 §5.8.3).
"""

import asyncio
import logging
import sys

from asyncua import Client, ua

URI = "http://example.org/BrewLine/"
EXPECTED = {
    "Name": "Saccharification",
    "Temperature": 66.0,
    "Rest": 3_600_000.0,
    "Note": "stir every ten minutes",
}


async def main(url):
    logging.basicConfig(level=logging.CRITICAL)
    async with Client(url, timeout=20) as client:
        await client.load_data_type_definitions()
        index = await client.get_namespace_index(URI)
        line = await client.nodes.objects.get_child([f"{index}:BrewLine"])

        async def member(kettle, name):
            # The kettles are the application's own, in namespace 1 (OPC 10000-3 §8.2.2).
            return await line.get_child([f"1:{kettle}", f"{index}:{name}"])

        value = await (await member("Kettle1", "Step")).read_value()
        found = {name: getattr(value, name) for name in EXPECTED}
        without = await (await member("Kettle2", "Step")).read_value()
        state = await (await member("Kettle1", "State")).read_data_type()
        definition = await client.get_node(state).read_data_type_definition()
    names = [field.Name for field in definition.Fields]
    wrong = [
        f"{what}: {there!r} expected, got {here!r}"
        for what, there, here in (
            ("Step of Kettle1", EXPECTED, found),
            ("Note of Kettle2", None, without.Note),
            ("names of KettleState", ["Idle", "Heating", "Mashing", "Draining"], names),
            ("type of the definition", ua.EnumDefinition, type(definition)),
        )
        if there != here
    ]
    for text in wrong:
        print(text)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(*sys.argv[1:])))
