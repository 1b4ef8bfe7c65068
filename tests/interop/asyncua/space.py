"""The whole address space of a server, browsed and read with asyncua's low-level client."""

import base64
import dataclasses

from asyncua import Client, ua

ROOT = ua.NodeId(84)
HAS_TYPE_DEFINITION = "i=40"

# OPC 10000-6 A.1: attribute ids.
ATTRIBUTES = {
    1: "NodeId", 2: "NodeClass", 3: "BrowseName", 4: "DisplayName", 5: "Description",
    6: "WriteMask", 7: "UserWriteMask", 8: "IsAbstract", 9: "Symmetric", 10: "InverseName",
    11: "ContainsNoLoops", 12: "EventNotifier", 13: "Value", 14: "DataType", 15: "ValueRank",
    16: "ArrayDimensions", 17: "AccessLevel", 18: "UserAccessLevel",
    19: "MinimumSamplingInterval", 20: "Historizing", 21: "Executable", 22: "UserExecutable",
    23: "DataTypeDefinition", 24: "RolePermissions", 25: "UserRolePermissions",
    26: "AccessRestrictions", 27: "AccessLevelEx",
}
NUMBERS = {name: number for number, name in ATTRIBUTES.items()}


@dataclasses.dataclass
class Space:
    """Nodes by id text, and every reference that either end tells of."""

    uris: list
    nodes: dict = dataclasses.field(default_factory=dict)  # id text -> ua.NodeId
    values: dict = dataclasses.field(default_factory=dict)  # (id text, attribute) -> ua.DataValue
    forward: dict = dataclasses.field(default_factory=dict)  # (source, type, target) -> description
    inverse: dict = dataclasses.field(default_factory=dict)  # the same triples, seen at the target

    def id(self, node_id):
        """The text of an id with the URI of its namespace, `nsu=<uri>;i=1`; bare in ns0."""
        uri = getattr(node_id, "NamespaceUri", None)
        if not uri and node_id.NamespaceIndex:
            uri = self.uris[node_id.NamespaceIndex]
        identifier = node_id.Identifier
        match node_id.NodeIdType:
            case ua.NodeIdType.String:
                text = f"s={identifier}"
            case ua.NodeIdType.Guid:
                text = f"g={identifier}".lower()
            case ua.NodeIdType.ByteString:
                text = "b=" + base64.b64encode(identifier).decode()
            case _:
                text = f"i={identifier}"
        return f"nsu={uri};{text}" if uri else text

    def name(self, qualified):
        """The text of a browse name, with the URI of its namespace outside ns0."""
        name = qualified.Name or ""
        if qualified.NamespaceIndex:
            return f"nsu={self.uris[qualified.NamespaceIndex]};{name}"
        return name

    def value(self, node, attribute):
        """The value of an attribute by name; None if it has none."""
        data = self.values[node, NUMBERS[attribute]]
        return data.Value.Value if data.Value is not None else None

    def status(self, node, attribute):
        """The name of the status code that the Read of an attribute gave."""
        status = self.values[node, attribute].StatusCode
        return status.name if status is not None else "Good"


async def whole(url, attributes=tuple(ATTRIBUTES), page=7):
    """Connects, browses from Root in both directions until nothing new comes, reads everything.

    Forward references come in pages of `page`, so that BrowseNext has work to do.
    """
    async with Client(url, timeout=20) as client:
        service = client.uaclient
        limit = await _limits(service)
        uris = (await _read(service, [(ua.NodeId(2255), 13)]))[0].Value.Value
        space = Space(uris)
        fresh = [ROOT]
        space.nodes[space.id(ROOT)] = ROOT
        while fresh:
            found = []
            for batch in _batches(fresh, limit["pages"]):
                found += await _browse(service, space, batch, ua.BrowseDirection.Forward, page)
            for batch in _batches(fresh, limit["browse"]):
                found += await _browse(service, space, batch, ua.BrowseDirection.Inverse, 0)
            fresh = []
            for node_id in found:
                if space.id(node_id) not in space.nodes:
                    space.nodes[space.id(node_id)] = node_id
                    fresh.append(node_id)
        wanted = [(node, a) for node in space.nodes for a in attributes]
        for batch in _batches(wanted, limit["read"]):
            results = await _read(service, [(space.nodes[node], a) for node, a in batch])
            space.values.update(zip(batch, results, strict=True))
        return space


async def _limits(service):
    """What the server lets one request hold (OPC 10000-5 §6.3.2, §6.3.11); 0 means no limit."""
    asked = {"read": (11705, 1000), "browse": (11710, 200), "pages": (2735, 200)}
    told = await _read(service, [(ua.NodeId(number), 13) for number, _ in asked.values()])
    limits = {}
    for (name, (_, most)), data in zip(asked.items(), told, strict=True):
        value = data.Value.Value if data.Value is not None else None
        limits[name] = min(value or most, most)
    limits["pages"] = min(limits["pages"], limits["browse"])
    return limits


async def _read(service, wanted):
    parameters = ua.ReadParameters()
    parameters.TimestampsToReturn = ua.TimestampsToReturn.Both
    parameters.NodesToRead = [
        ua.ReadValueId(NodeId=node_id, AttributeId=attribute) for node_id, attribute in wanted
    ]
    return await service.read(parameters)


async def _browse(service, space, batch, direction, page):
    """Browses `batch` in one direction, notes the references and gives the targets."""
    parameters = ua.BrowseParameters()
    parameters.View.Timestamp = ua.get_win_epoch()
    parameters.RequestedMaxReferencesPerNode = page
    parameters.NodesToBrowse = [
        ua.BrowseDescription(
            NodeId=node_id,
            BrowseDirection=direction,
            ReferenceTypeId=ua.NodeId(),
            IncludeSubtypes=True,
            NodeClassMask=0,
            ResultMask=63,
        )
        for node_id in batch
    ]
    found = []
    waiting = list(zip(batch, await service.browse(parameters), strict=True))
    while waiting:
        more = []
        for node_id, result in waiting:
            result.StatusCode.check()
            for reference in result.References or []:
                _note(space, node_id, reference, direction)
                if not getattr(reference.NodeId, "ServerIndex", 0):
                    found.append(_local(space, reference.NodeId))
            if result.ContinuationPoint:
                more.append((node_id, result.ContinuationPoint))
        if not more:
            break
        following = ua.BrowseNextParameters()
        following.ReleaseContinuationPoints = False
        following.ContinuationPoints = [point for _, point in more]
        results = await service.browse_next(following)
        waiting = list(zip([node_id for node_id, _ in more], results, strict=True))
    return found


def _note(space, node_id, reference, direction):
    here, there = space.id(node_id), space.id(reference.NodeId)
    kind = space.id(reference.ReferenceTypeId)
    if reference.IsForward != (direction == ua.BrowseDirection.Forward):
        raise AssertionError(f"{here}: asked for {direction.name}, got {reference}")
    if reference.IsForward:
        triples, triple = space.forward, (here, kind, there)
    else:
        triples, triple = space.inverse, (there, kind, here)
    if triple in triples:
        raise AssertionError(f"{here}: the reference {triple} came twice")
    triples[triple] = reference


def _local(space, node_id):
    """A NodeId that the server takes, of an ExpandedNodeId that it gave."""
    uri = getattr(node_id, "NamespaceUri", None)
    index = space.uris.index(uri) if uri else node_id.NamespaceIndex
    return ua.NodeId(node_id.Identifier, index)


def _batches(items, size):
    for start in range(0, len(items), size):
        yield items[start : start + size]
