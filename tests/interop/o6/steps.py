"""Each step of a plan as one request of o6, its outcome as plain data."""

import datetime

import o6
import wire
from o6.ns import ns0

TYPES = ns0.datatypes
MOMENT = datetime.datetime(2024, 2, 29, tzinfo=datetime.timezone.utc)
TIMESTAMPS = {"source": 0, "server": 1, "both": 2, "neither": 3}
GOOD = int(o6.StatusCode.GOOD)


class Conversation:
    """A client with what later steps need of earlier ones."""

    def __init__(self, client, url, uri):
        self.client = client
        self.url = url
        self.uri = uri
        self.points = []
        # OPC 10000-5 §6.3.1: NamespaceArray of the Server Object.
        self.uris = [str(uri) for uri in client.read(o6.NodeId("i=2255"))] if client.connected else []

    def node(self, text):
        return wire.node(text, self.uri)

    def text(self, node_id):
        return wire.node_text(node_id, self.uri)


def _new(kind, **fields):
    item = getattr(TYPES, kind)()
    for name, content in fields.items():
        setattr(item, name, content)
    return item


def _status(response):
    return int(response.responseHeader.serviceResult)


def read(cx, step):
    items = []
    for node, attribute, *more in step["nodes"]:
        item = _new("ReadValueId", nodeId=cx.node(node), attributeId=attribute)
        if more and more[0] is not None:
            item.indexRange = more[0]
        if len(more) > 1 and more[1]:
            item.dataEncoding = o6.QualifiedName(more[1])
        items.append(item)
    timestamps = step.get("timestamps", "both")
    request = _new(
        "ReadRequest",
        maxAge=step.get("max_age", 0),
        timestampsToReturn=TIMESTAMPS.get(timestamps, timestamps),
        nodesToRead=items,
    )
    response = cx.client.serviceRead(request)
    if _status(response) != GOOD:
        return {"status": _status(response)}
    return {"status": GOOD, "results": [_data_value(cx, data) for data in response.results]}


def _data_value(cx, data):
    return {
        "status": int(data.status),
        "value": wire.value_text(data, cx.uris),
        "source": data.sourceTimestamp is not None,
        "server": data.serverTimestamp is not None,
    }


def write(cx, step):
    items = []
    for item in step["nodes"]:
        data = wire.data_value(item["value"]) if item.get("value") is not None else o6.DataValue()
        if item.get("status") is not None:
            data.status = o6.StatusCode(item["status"])
        if item.get("source"):
            data.sourceTimestamp = o6.DateTime(MOMENT)
        if item.get("server"):
            data.serverTimestamp = o6.DateTime(MOMENT)
        target = _new("WriteValue", nodeId=cx.node(item["node"]), attributeId=item.get("attribute", 13), value=data)
        if item.get("range") is not None:
            target.indexRange = item["range"]
        items.append(target)
    response = cx.client.serviceWrite(_new("WriteRequest", nodesToWrite=items))
    if _status(response) != GOOD:
        return {"status": _status(response)}
    return {"status": GOOD, "results": [{"status": int(code)} for code in response.results]}


def browse(cx, step):
    items = [
        _new(
            "BrowseDescription",
            nodeId=cx.node(item["node"]),
            referenceTypeId=cx.node(item.get("type", "")),
            includeSubtypes=item.get("subtypes", True),
            nodeClassMask=item.get("classes", 0),
            resultMask=item.get("mask", 63),
            browseDirection=item.get("direction", 0),
        )
        for item in step["nodes"]
    ]
    request = _new(
        "BrowseRequest",
        view=_new("ViewDescription", viewId=cx.node(step.get("view", ""))),
        requestedMaxReferencesPerNode=step.get("max", 0),
        nodesToBrowse=items,
    )
    return _pages(cx, cx.client.serviceBrowse(request))


def browse_next(cx, step):
    points = [cx.points[number] if number >= 0 else b"\x01\x02\x03\x04" for number in step["points"]]
    request = _new(
        "BrowseNextRequest",
        releaseContinuationPoints=step.get("release", False),
        continuationPoints=points,
    )
    return _pages(cx, cx.client.serviceBrowseNext(request))


def _pages(cx, response):
    if _status(response) != GOOD:
        return {"status": _status(response)}
    results = []
    for result in response.results:
        point = bytes(result.continuationPoint)
        if point:
            cx.points.append(point)
        references = [_reference(cx, reference) for reference in result.references]
        results.append({"status": int(result.statusCode), "more": bool(point), "references": references})
    return {"status": GOOD, "results": results}


def _reference(cx, reference):
    return {
        "node": cx.text(reference.nodeId),
        "type": cx.text(reference.referenceTypeId),
        "forward": bool(reference.isForward),
        "class": int(reference.nodeClass),
        "name": reference.browseName.name or "",
        "definition": cx.text(reference.typeDefinition),
    }


def translate(cx, step):
    paths = []
    for path in step["paths"]:
        elements = []
        for element in path["elements"]:
            own = element.get("own", True) and element["name"] is not None
            place = f"nsu={cx.uri};" if own else ""
            elements.append(
                _new(
                    "RelativePathElement",
                    referenceTypeId=cx.node(element.get("type", "i=33")),
                    isInverse=element.get("inverse", False),
                    includeSubtypes=element.get("subtypes", True),
                    targetName=o6.QualifiedName(f"{place}{element['name']}")
                    if element["name"] is not None
                    else o6.QualifiedName(),
                )
            )
        relative = _new("RelativePath", elements=elements)
        paths.append(_new("BrowsePath", startingNode=cx.node(path["start"]), relativePath=relative))
    request = _new("TranslateBrowsePathsToNodeIdsRequest", browsePaths=paths)
    response = cx.client.serviceTranslateBrowsePathsToNodeIds(request)
    if _status(response) != GOOD:
        return {"status": _status(response)}
    results = []
    for result in response.results:
        targets = [cx.text(target.targetId) for target in result.targets]
        results.append({"status": int(result.statusCode), "targets": targets})
    return {"status": GOOD, "results": results}


def call(cx, step):
    methods = [
        _new(
            "CallMethodRequest",
            objectId=cx.node(item["object"]),
            methodId=cx.node(item["method"]),
            inputArguments=[wire.data_value(text).value for text in item.get("inputs", [])],
        )
        for item in step["methods"]
    ]
    response = cx.client.serviceCall(_new("CallRequest", methodsToCall=methods))
    if _status(response) != GOOD:
        return {"status": _status(response)}
    results = []
    for result in response.results:
        outputs = [wire.value_text(o6.DataValue(output), cx.uris) for output in result.outputArguments]
        arguments = [int(code) for code in result.inputArgumentResults]
        results.append({"status": int(result.statusCode), "arguments": arguments, "outputs": outputs})
    return {"status": GOOD, "results": results}


def register(cx, step):
    request = _new("RegisterNodesRequest", nodesToRegister=[cx.node(node) for node in step["nodes"]])
    response = cx.client.serviceRegisterNodes(request)
    if _status(response) != GOOD:
        return {"status": _status(response)}
    return {"status": GOOD, "registered": len(response.registeredNodeIds)}


def unregister(cx, step):
    request = _new("UnregisterNodesRequest", nodesToUnregister=[cx.node(node) for node in step["nodes"]])
    return {"status": _status(cx.client.serviceUnregisterNodes(request))}


def get_endpoints(cx, step):
    request = _new("GetEndpointsRequest", endpointUrl=cx.url, profileUris=step.get("profiles", []))
    response = cx.client.serviceGetEndpoints(request)
    if _status(response) != GOOD:
        return {"status": _status(response)}
    endpoints = [
        {
            "url": endpoint.endpointUrl.rstrip("/") == cx.url.rstrip("/"),
            "mode": int(endpoint.securityMode),
            "policy": endpoint.securityPolicyUri,
            "profile": endpoint.transportProfileUri,
            "tokens": [int(token.tokenType) for token in endpoint.userIdentityTokens],
        }
        for endpoint in response.endpoints
    ]
    return {"status": GOOD, "endpoints": endpoints}


def find_servers(cx, step):
    request = _new("FindServersRequest", endpointUrl=cx.url, serverUris=step.get("uris", []))
    response = cx.client.serviceFindServers(request)
    if _status(response) != GOOD:
        return {"status": _status(response)}
    return {"status": GOOD, "types": [int(server.applicationType) for server in response.servers]}


WITHOUT_SESSION = {"get_endpoints": get_endpoints, "find_servers": find_servers}
STEPS = WITHOUT_SESSION | {
    function.__name__: function
    for function in (read, write, browse, browse_next, translate, call, register, unregister)
}
