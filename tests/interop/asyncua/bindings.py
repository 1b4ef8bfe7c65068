"""asyncua at the façade's example of bindings: bindings.py URL.

It reads and writes a structure of the application, which it learns from the server, and variables that
are bound to closures and state.
"""

import asyncio
import logging
import sys

from asyncua import Client, ua


def scalar(value, kind):
    """A value to write, without status and timestamps."""
    return ua.DataValue(ua.Variant(value, kind))


async def main(url):
    logging.basicConfig(level=logging.CRITICAL)
    found = {}
    async with Client(url, timeout=20) as client:
        await client.load_data_type_definitions()
        objects = client.nodes.objects
        names = ("Recipe", "Pressure", "Temperature", "Lit", "Target")
        nodes = {name: await objects.get_child([f"1:{name}"]) for name in names}

        recipe = await nodes["Recipe"].read_value()
        steps = [(step.Temperature, step.Minutes) for step in recipe.Steps]
        found["recipe"] = (recipe.Name, steps, recipe.Note)
        recipe.Name, recipe.Note = "Weizen", None
        await nodes["Recipe"].write_value(scalar(recipe, ua.VariantType.ExtensionObject))
        again = await nodes["Recipe"].read_value()
        found["recipe as written"] = (again.Name, len(again.Steps), again.Note)

        found["on_read"] = await nodes["Pressure"].read_value()
        found["poll_every, before"] = await nodes["Temperature"].read_value()
        await nodes["Target"].write_value(scalar(65.0, ua.VariantType.Double))
        try:
            await nodes["Target"].write_value(scalar(650.0, ua.VariantType.Double))
        except ua.UaStatusCodeError as error:
            found["on_write refuses"] = error.code
        await nodes["Lit"].write_value(scalar(True, ua.VariantType.Boolean))
        found["bind"] = await nodes["Lit"].read_value()
        await asyncio.sleep(1.5)
        found["poll_every, after"] = await nodes["Temperature"].read_value()
    expected = {
        "recipe": ("Pils", [(52.0, 20), (66.0, 60)], "stir"),
        "recipe as written": ("Weizen", 2, None),
        "on_read": 1.013,
        "poll_every, before": 20.0,
        "on_write refuses": ua.StatusCodes.BadOutOfRange,
        "bind": True,
        "poll_every, after": 65.0,
    }
    wrong = {what for what in expected if found.get(what) != expected[what]}
    for what in sorted(wrong):
        print(f"{what}: {expected[what]!r} expected, got {found.get(what)!r}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(*sys.argv[1:])))
