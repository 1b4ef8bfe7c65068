"""Each step of a plan as one request of asyncua, its outcome as plain data."""

import datetime
import os

import wire
from asyncua import ua


class Skip(Exception):
    """A step that this client has no words for."""


MOMENT = datetime.datetime(2024, 2, 29, tzinfo=datetime.timezone.utc)
TIMESTAMPS = {"source": 0, "server": 1, "both": 2, "neither": 3}


async def read(cx, step):
    request = ua.ReadRequest()
    request.Parameters.MaxAge = step.get("max_age", 0)
    request.Parameters.TimestampsToReturn = timestamps(step.get("timestamps", "both"))
    request.Parameters.NodesToRead = [_read_value_id(cx, *item) for item in step["nodes"]]
    response, status = await cx.send(request, ua.ReadResponse)
    if response is None:
        return {"status": status}
    return {"status": status, "results": [data_value(data) for data in response.Results or []]}


def timestamps(name):
    try:
        return ua.TimestampsToReturn(TIMESTAMPS.get(name, name))
    except ValueError:
        raise Skip(f"asyncua writes no TimestampsToReturn {name}") from None


def _read_value_id(cx, node, attribute, index_range=None, encoding=None):
    item = ua.ReadValueId(NodeId=cx.node(node), AttributeId=attribute, IndexRange=index_range)
    if encoding:
        item.DataEncoding = ua.QualifiedName(encoding, 0)
    return item


def data_value(data):
    return {
        "status": wire.status(data.StatusCode),
        "value": wire.value_text(data.Value),
        "source": data.SourceTimestamp is not None,
        "server": data.ServerTimestamp is not None,
    }


async def write(cx, step):
    request = ua.WriteRequest()
    for item in step["nodes"]:
        value, status = item.get("value"), item.get("status")
        data = ua.DataValue(
            Value=wire.value(value) if value is not None else None,
            StatusCode=ua.StatusCode(status) if status is not None else None,
            SourceTimestamp=MOMENT if item.get("source") else None,
            ServerTimestamp=MOMENT if item.get("server") else None,
        )
        request.Parameters.NodesToWrite.append(
            ua.WriteValue(
                NodeId=cx.node(item["node"]),
                AttributeId=item.get("attribute", 13),
                IndexRange=item.get("range"),
                Value=data,
            )
        )
    response, status = await cx.send(request, ua.WriteResponse)
    if response is None:
        return {"status": status}
    return {"status": status, "results": [{"status": code.value} for code in response.Results or []]}


async def browse(cx, step):
    request = ua.BrowseRequest()
    request.Parameters.View.ViewId = cx.node(step.get("view", ""))
    request.Parameters.View.Timestamp = ua.get_win_epoch()
    request.Parameters.RequestedMaxReferencesPerNode = step.get("max", 0)
    for item in step["nodes"]:
        description = ua.BrowseDescription(
            NodeId=cx.node(item["node"]),
            ReferenceTypeId=cx.node(item.get("type", "")),
            IncludeSubtypes=item.get("subtypes", True),
            NodeClassMask=item.get("classes", 0),
            ResultMask=item.get("mask", 63),
        )
        try:
            description.BrowseDirection = ua.BrowseDirection(item.get("direction", 0))
        except ValueError:
            raise Skip(f"asyncua writes no BrowseDirection {item['direction']}") from None
        request.Parameters.NodesToBrowse.append(description)
    response, status = await cx.send(request, ua.BrowseResponse)
    return _pages(cx, response and response.Results, status)


async def browse_next(cx, step):
    request = ua.BrowseNextRequest()
    request.Parameters.ReleaseContinuationPoints = step.get("release", False)
    request.Parameters.ContinuationPoints = [
        cx.points[number] if number >= 0 else b"\x01\x02\x03\x04" for number in step["points"]
    ]
    response, status = await cx.send(request, ua.BrowseNextResponse)
    return _pages(cx, response and response.Parameters.Results, status)


def _pages(cx, pages, status):
    if pages is None:
        return {"status": status}
    results = []
    for result in pages:
        more = bool(result.ContinuationPoint)
        if more:
            cx.points.append(result.ContinuationPoint)
        references = [_reference(cx, reference) for reference in result.References or []]
        results.append({"status": result.StatusCode.value, "more": more, "references": references})
    return {"status": status, "results": results}


def _reference(cx, reference):
    return {
        "node": wire.node_text(reference.NodeId, cx.index),
        "type": wire.node_text(reference.ReferenceTypeId, cx.index),
        "forward": reference.IsForward,
        "class": int(reference.NodeClass),
        "name": reference.BrowseName.Name or "",
        "definition": wire.node_text(reference.TypeDefinition, cx.index),
    }


async def translate(cx, step):
    request = ua.TranslateBrowsePathsToNodeIdsRequest()
    for path in step["paths"]:
        elements = [
            ua.RelativePathElement(
                ReferenceTypeId=cx.node(element.get("type", "i=33")),
                IsInverse=element.get("inverse", False),
                IncludeSubtypes=element.get("subtypes", True),
                TargetName=ua.QualifiedName(element["name"], cx.index if element.get("own", True) else 0),
            )
            for element in path["elements"]
        ]
        browse_path = ua.BrowsePath(cx.node(path["start"]), ua.RelativePath(Elements=elements))
        request.Parameters.BrowsePaths.append(browse_path)
    response, status = await cx.send(request, ua.TranslateBrowsePathsToNodeIdsResponse)
    if response is None:
        return {"status": status}
    results = []
    for result in response.Results or []:
        targets = [wire.node_text(target.TargetId, cx.index) for target in result.Targets or []]
        results.append({"status": result.StatusCode.value, "targets": targets})
    return {"status": status, "results": results}


async def call(cx, step):
    request = ua.CallRequest()
    for item in step["methods"]:
        request.Parameters.MethodsToCall.append(
            ua.CallMethodRequest(
                ObjectId=cx.node(item["object"]),
                MethodId=cx.node(item["method"]),
                InputArguments=[wire.value(text) for text in item.get("inputs", [])],
            )
        )
    response, status = await cx.send(request, ua.CallResponse)
    if response is None:
        return {"status": status}
    results = []
    for result in response.Results or []:
        arguments = [code.value for code in result.InputArgumentResults or []]
        outputs = [wire.value_text(output) for output in result.OutputArguments or []]
        results.append({"status": result.StatusCode.value, "arguments": arguments, "outputs": outputs})
    return {"status": status, "results": results}


async def register(cx, step):
    request = ua.RegisterNodesRequest()
    request.Parameters.NodesToRegister = [cx.node(node) for node in step["nodes"]]
    response, status = await cx.send(request, ua.RegisterNodesResponse)
    if response is None:
        return {"status": status}
    return {"status": status, "registered": len(response.Parameters.RegisteredNodeIds or [])}


async def unregister(cx, step):
    request = ua.UnregisterNodesRequest()
    request.Parameters.NodesToUnregister = [cx.node(node) for node in step["nodes"]]
    _, status = await cx.send(request, ua.UnregisterNodesResponse)
    return {"status": status}


async def cancel(cx, step):
    request = ua.CancelRequest()
    request.Parameters.RequestHandle = step["handle"]
    response, status = await cx.send(request, ua.CancelResponse)
    if response is None:
        return {"status": status}
    return {"status": status, "cancelled": response.Parameters.CancelCount}


async def get_endpoints(cx, step):
    request = ua.GetEndpointsRequest()
    request.Parameters.EndpointUrl = cx.url
    request.Parameters.ProfileUris = step.get("profiles", [])
    response, status = await cx.send(request, ua.GetEndpointsResponse)
    if response is None:
        return {"status": status}
    endpoints = [
        {
            "url": endpoint.EndpointUrl.rstrip("/") == cx.url.rstrip("/"),
            "mode": int(endpoint.SecurityMode),
            "policy": endpoint.SecurityPolicyUri,
            "profile": endpoint.TransportProfileUri,
            "tokens": [int(token.TokenType) for token in endpoint.UserIdentityTokens or []],
        }
        for endpoint in response.Endpoints or []
    ]
    return {"status": status, "endpoints": endpoints}


async def find_servers(cx, step):
    request = ua.FindServersRequest()
    request.Parameters.EndpointUrl = cx.url
    request.Parameters.ServerUris = step.get("uris", [])
    response, status = await cx.send(request, ua.FindServersResponse)
    if response is None:
        return {"status": status}
    types = [int(server.ApplicationType) for server in response.Servers or []]
    return {"status": status, "types": types}


async def create_session(cx, step):
    request = ua.CreateSessionRequest()
    request.Parameters.ClientDescription.ApplicationUri = "urn:example:peer:client"
    request.Parameters.EndpointUrl = cx.url
    request.Parameters.SessionName = "peer"
    request.Parameters.ClientNonce = os.urandom(32)
    request.Parameters.RequestedSessionTimeout = step.get("timeout", 60_000)
    response, status = await cx.send(request, ua.CreateSessionResponse)
    if response is None:
        return {"status": status}
    cx.token = response.Parameters.AuthenticationToken
    cx.protocol.authentication_token = cx.token
    return {"status": status, "timeout": response.Parameters.RevisedSessionTimeout}


async def activate(cx, step):
    request = ua.ActivateSessionRequest()
    match step.get("identity", "anonymous"):
        case "anonymous":
            request.Parameters.UserIdentityToken = ua.AnonymousIdentityToken(PolicyId=await _anonymous(cx))
        case "user":
            token = ua.UserNameIdentityToken(PolicyId="no such policy", UserName="nobody", Password=b"wrong")
            request.Parameters.UserIdentityToken = token
    _, status = await cx.send(request, ua.ActivateSessionResponse)
    return {"status": status}


async def _anonymous(cx):
    """The id of the policy for anonymous users, which each server names as it likes."""
    request = ua.GetEndpointsRequest()
    request.Parameters.EndpointUrl = cx.url
    response, _ = await cx.send(request, ua.GetEndpointsResponse)
    for endpoint in response.Endpoints:
        for token in endpoint.UserIdentityTokens:
            if token.TokenType == ua.UserTokenType.Anonymous and endpoint.SecurityMode == 1:
                return token.PolicyId
    return None


async def close_session(cx, _step):
    request = ua.CloseSessionRequest()
    request.DeleteSubscriptions = True
    _, status = await cx.send(request, ua.CloseSessionResponse)
    return {"status": status}


async def token(cx, step):
    """Takes another authentication token from here on."""
    tokens = {"none": ua.NodeId(), "random": ua.NodeId(os.urandom(16), 0), "own": cx.token}
    cx.protocol.authentication_token = tokens[step["use"]]
    return {}


STEPS = {
    function.__name__: function
    for function in (
        read, write, browse, browse_next, translate, call, register, unregister, cancel,
        get_endpoints, find_servers, create_session, activate, close_session, token,
    )
}
