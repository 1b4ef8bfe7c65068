"""asyncua as a client of our server: browses and reads all of it, compares with what must be there."""

import argparse
import asyncio
import json
import pathlib
import sys
import time

import attributes
import canonical
import space

SHOWN = 20


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url")
    parser.add_argument("--expected", required=True, help="JSON: name, uri and hashes of models")
    parser.add_argument("--nodeset", action="append", default=[], help="a NodeSet2 file served")
    parser.add_argument("--canonical", help="folder with <name>.txt to show differences from")
    arguments = parser.parse_args()

    begun = time.monotonic()
    found = asyncio.run(space.whole(arguments.url))
    took = time.monotonic() - begun
    print(
        f"asyncua browsed {len(found.nodes)} nodes, {len(found.forward)} forward and "
        f"{len(found.inverse)} inverse references, and read {len(found.values)} attributes "
        f"in {took:.1f} s"
    )
    checks = Checks()
    for model in json.loads(pathlib.Path(arguments.expected).read_text(encoding="utf-8")):
        lines = canonical.groups(found, model["uri"])
        hashes = canonical.hashes(lines)
        wrong = [part for part in hashes if hashes[part] != model["hash"][part]]
        checks.say(f"canonical hash of {model['name']} is {hashes['model'][:16]}…", wrong)
        if wrong and arguments.canonical:
            show(lines, pathlib.Path(arguments.canonical) / f"{model['name']}.txt")
    checks.say("attributes are Good or Bad_AttributeIdInvalid", attributes.findings(found))
    checks.say("references are seen at both ends", attributes.reference_findings(found))
    live = below(found, "i=2253")
    for nodeset in arguments.nodeset:
        name = pathlib.Path(nodeset).stem
        missing = attributes.value_findings(found, nodeset, live)
        checks.say(f"values of {name} are there, the others null", missing)
    return checks.end()


class Checks:
    """Prints each check with its findings and counts both kinds."""

    def __init__(self):
        self.passed = self.failed = 0

    def say(self, what, findings):
        findings = list(findings)
        print(f"  {'FAILED' if findings else 'ok':<7} {what}")
        for finding in findings[:SHOWN]:
            print(f"          {finding}")
        if len(findings) > SHOWN:
            print(f"          … and {len(findings) - SHOWN} more")
        if findings:
            self.failed += 1
        else:
            self.passed += 1

    def end(self):
        print(f"{self.passed} passed, {self.failed} failed")
        return 1 if self.failed else 0


def below(found, top):
    """The nodes below `top` by forward references: what the server fills in itself."""
    children = {}
    for source, kind, target in found.forward:
        if kind in ("i=46", "i=47", "i=35", "i=49"):
            children.setdefault(source, []).append(target)
    seen, waiting = {top}, [top]
    while waiting:
        for target in children.get(waiting.pop(), []):
            if target not in seen:
                seen.add(target)
                waiting.append(target)
    return seen


def show(lines, path):
    """The first lines that are missing or too many, if the expected canonical text is there."""
    if not path.is_file():
        return
    expected = set(path.read_text(encoding="utf-8").splitlines())
    found = {line for group in lines for line in group}
    for sign, some in (("-", expected - found), ("+", found - expected)):
        for line in sorted(some)[:SHOWN]:
            print(f"          {sign} {line}")
        if len(some) > SHOWN:
            print(f"          {sign} … and {len(some) - SHOWN} more")


if __name__ == "__main__":
    sys.exit(main())
