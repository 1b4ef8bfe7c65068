"""o6 (open62541 with OpenSSL) as a client: client.py URL PLAN RESULTS carries out each check of the plan.

Writes one line of JSON for each check; what the library makes of an answer is the outcome.
"""

import contextlib
import json
import logging
import pathlib
import sys

import o6
import steps
import wire


def main(url, plan, results):
    logging.basicConfig(level=logging.CRITICAL)
    plan = json.loads(pathlib.Path(plan).read_text(encoding="utf-8"))
    with pathlib.Path(results).open("w", encoding="utf-8") as lines, session(url) as client:
        for check in plan["checks"]:
            if check["session"] == "open":
                outcome = run(steps.Conversation(client, url, plan["uri"]), check)
            else:
                outcome = alone(url, plan["uri"], check)
            lines.write(json.dumps({"name": check["name"], **outcome}) + "\n")
            lines.flush()
    return 0


@contextlib.contextmanager
def session(url):
    """A session that is ready, and closed in the end."""
    client = o6.Client(url)
    client.connect(createDefaultSubscription=False)
    try:
        yield client
    finally:
        client.disconnect()


def alone(url, uri, check):
    """Runs a check of services that need no session on a channel of its own."""
    if any(step["do"] not in steps.WITHOUT_SESSION for step in check["steps"]):
        return {"skip": "o6 makes, activates and closes its session in one"}
    client = o6.Client(url)
    client.connect(noSession=True)
    try:
        return run(steps.Conversation(client, url, uri), check)
    finally:
        client.disconnect()


def run(conversation, check):
    outcomes = []
    try:
        for step in check["steps"]:
            if step["do"] not in steps.STEPS:
                return {"skip": f"o6 has no words for {step['do']}"}
            outcomes.append(steps.STEPS[step["do"]](conversation, step))
    except wire.Skip as reason:
        return {"skip": str(reason)}
    except o6.StatusCodeError as error:
        return {"steps": outcomes, "error": f"StatusCodeError: {error}"}
    except (TypeError, ValueError, OverflowError) as error:
        return {"steps": outcomes, "error": f"{type(error).__name__}: {error}"}
    return {"steps": outcomes}


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
