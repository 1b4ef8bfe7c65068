// Each step of a plan as one request of node-opcua, its outcome as plain data.

import crypto from "node:crypto";
import { opcua } from "./library.mjs";
import * as wire from "./wire.mjs";

/** A step that this client has no words for. */
export class Skip extends Error {}

export const TIMESTAMPS = { source: 0, server: 1, both: 2, neither: 3 };
const MOMENT = new Date(Date.UTC(2024, 1, 29));

function range(text) {
    const parsed = new opcua.NumericRange(text ?? null);
    if (text && parsed.toEncodeableString() !== text) {
        throw new Skip(`node-opcua writes the index range ${text} as ${parsed.toEncodeableString()}`);
    }
    return parsed;
}

async function read(cx, step) {
    const wanted = step.timestamps ?? "both";
    if (step.nodes.some(([, attributeId]) => attributeId < 1 || attributeId > 27)) {
        throw new Skip("node-opcua sends no unknown attribute");
    }
    const nodesToRead = step.nodes.map(([name, attributeId, indexRange, encoding]) => ({
        nodeId: cx.node(name),
        attributeId,
        indexRange: range(indexRange),
        dataEncoding: encoding ? { namespaceIndex: 0, name: encoding } : undefined,
    }));
    const request = new opcua.ReadRequest({ maxAge: step.max_age ?? 0, nodesToRead });
    request.timestampsToReturn = TIMESTAMPS[wanted] ?? wanted;
    const { response, status } = await cx.send(request);
    if (!response) {
        return { status };
    }
    return { status, results: (response.results ?? []).map(dataValue) };
}

/** A DataValue as plain data. */
export function dataValue(data) {
    return {
        status: wire.status(data.statusCode),
        value: wire.valueText(data.value),
        source: Boolean(data.sourceTimestamp),
        server: Boolean(data.serverTimestamp),
    };
}

async function write(cx, step) {
    const nodesToWrite = step.nodes.map((item) => ({
        nodeId: cx.node(item.node),
        attributeId: item.attribute ?? 13,
        indexRange: range(item.range),
        value: new opcua.DataValue({
            value: item.value == null ? undefined : wire.value(item.value),
            statusCode: item.status == null ? undefined : opcua.coerceStatusCode(item.status),
            sourceTimestamp: item.source ? MOMENT : null,
            serverTimestamp: item.server ? MOMENT : null,
        }),
    }));
    const { response, status } = await cx.send(new opcua.WriteRequest({ nodesToWrite }));
    if (!response) {
        return { status };
    }
    return { status, results: (response.results ?? []).map((code) => ({ status: wire.status(code) })) };
}

async function browse(cx, step) {
    if (step.nodes.some((item) => item.direction > 2)) {
        throw new Skip("node-opcua sends no unknown BrowseDirection");
    }
    const nodesToBrowse = step.nodes.map((item) => {
        const description = new opcua.BrowseDescription({
            nodeId: cx.node(item.node),
            referenceTypeId: cx.node(item.type ?? ""),
            includeSubtypes: item.subtypes ?? true,
            nodeClassMask: item.classes ?? 0,
            resultMask: item.mask ?? 63,
        });
        description.browseDirection = item.direction ?? 0;
        return description;
    });
    const request = new opcua.BrowseRequest({
        view: { viewId: cx.node(step.view ?? "") },
        requestedMaxReferencesPerNode: step.max ?? 0,
        nodesToBrowse,
    });
    return pages(cx, await cx.send(request));
}

async function browseNext(cx, step) {
    const continuationPoints = step.points.map((number) =>
        number >= 0 ? cx.points[number] : Buffer.from([1, 2, 3, 4]));
    const request = new opcua.BrowseNextRequest({
        releaseContinuationPoints: step.release ?? false,
        continuationPoints,
    });
    return pages(cx, await cx.send(request));
}

function pages(cx, { response, status }) {
    if (!response) {
        return { status };
    }
    const results = (response.results ?? []).map((result) => {
        const more = Boolean(result.continuationPoint?.length);
        if (more) {
            cx.points.push(result.continuationPoint);
        }
        const references = (result.references ?? []).map((reference) => ({
            node: wire.nodeText(reference.nodeId, cx.index),
            type: wire.nodeText(reference.referenceTypeId, cx.index),
            forward: reference.isForward,
            class: reference.nodeClass,
            name: reference.browseName?.name ?? "",
            definition: wire.nodeText(reference.typeDefinition, cx.index),
        }));
        return { status: wire.status(result.statusCode), more, references };
    });
    return { status, results };
}

async function translate(cx, step) {
    const browsePaths = step.paths.map((path) => ({
        startingNode: cx.node(path.start),
        relativePath: {
            elements: path.elements.map((element) => ({
                referenceTypeId: cx.node(element.type ?? "i=33"),
                isInverse: element.inverse ?? false,
                includeSubtypes: element.subtypes ?? true,
                targetName: {
                    namespaceIndex: element.own === false || element.name === null ? 0 : cx.index,
                    name: element.name,
                },
            })),
        },
    }));
    const request = new opcua.TranslateBrowsePathsToNodeIdsRequest({ browsePaths });
    const { response, status } = await cx.send(request);
    if (!response) {
        return { status };
    }
    const results = (response.results ?? []).map((result) => ({
        status: wire.status(result.statusCode),
        targets: (result.targets ?? []).map((target) => wire.nodeText(target.targetId, cx.index)),
    }));
    return { status, results };
}

async function call(cx, step) {
    const methodsToCall = step.methods.map((item) => ({
        objectId: cx.node(item.object),
        methodId: cx.node(item.method),
        inputArguments: (item.inputs ?? []).map(wire.value),
    }));
    const { response, status } = await cx.send(new opcua.CallRequest({ methodsToCall }));
    if (!response) {
        return { status };
    }
    const results = (response.results ?? []).map((result) => ({
        status: wire.status(result.statusCode),
        arguments: (result.inputArgumentResults ?? []).map(wire.status),
        outputs: (result.outputArguments ?? []).map(wire.valueText),
    }));
    return { status, results };
}

async function register(cx, step) {
    const nodesToRegister = step.nodes.map((name) => cx.node(name));
    const { response, status } = await cx.send(new opcua.RegisterNodesRequest({ nodesToRegister }));
    return response ? { status, registered: (response.registeredNodeIds ?? []).length } : { status };
}

async function unregister(cx, step) {
    const nodesToUnregister = step.nodes.map((name) => cx.node(name));
    const { status } = await cx.send(new opcua.UnregisterNodesRequest({ nodesToUnregister }));
    return { status };
}

async function cancel(cx, step) {
    const { response, status } = await cx.send(new opcua.CancelRequest({ requestHandle: step.handle }));
    return response ? { status, cancelled: response.cancelCount } : { status };
}

async function getEndpoints(cx, step) {
    const request = new opcua.GetEndpointsRequest({ endpointUrl: cx.url, profileUris: step.profiles ?? [] });
    const { response, status } = await cx.send(request);
    if (!response) {
        return { status };
    }
    const plain = (url) => (url ?? "").replace(/\/$/, "");
    const endpoints = (response.endpoints ?? []).map((endpoint) => ({
        url: plain(endpoint.endpointUrl) === plain(cx.url),
        mode: endpoint.securityMode,
        policy: endpoint.securityPolicyUri,
        profile: endpoint.transportProfileUri,
        tokens: (endpoint.userIdentityTokens ?? []).map((token) => token.tokenType),
    }));
    return { status, endpoints };
}

async function findServers(cx, step) {
    const request = new opcua.FindServersRequest({ endpointUrl: cx.url, serverUris: step.uris ?? [] });
    const { response, status } = await cx.send(request);
    return response ? { status, types: (response.servers ?? []).map((server) => server.applicationType) } : { status };
}

async function createSession(cx, step) {
    const request = new opcua.CreateSessionRequest({
        clientDescription: { applicationUri: "urn:example:peer:client", applicationType: 1 },
        endpointUrl: cx.url,
        sessionName: "peer",
        clientNonce: crypto.randomBytes(32),
        requestedSessionTimeout: step.timeout ?? 60_000,
    });
    const { response, status } = await cx.send(request);
    if (!response) {
        return { status };
    }
    cx.token = response.authenticationToken;
    return { status, timeout: response.revisedSessionTimeout };
}

async function activate(cx, step) {
    const identities = {
        anonymous: async () => new opcua.AnonymousIdentityToken({ policyId: await anonymous(cx) }),
        user: async () => new opcua.UserNameIdentityToken({
            policyId: "no such policy",
            userName: "nobody",
            password: Buffer.from("wrong"),
        }),
        null: async () => null,
    };
    const userIdentityToken = await identities[step.identity ?? "anonymous"]();
    const { status } = await cx.send(new opcua.ActivateSessionRequest({ userIdentityToken }));
    return { status };
}

/** The id of the policy for anonymous users, which each server names as it likes. */
async function anonymous(cx) {
    const { response } = await cx.send(new opcua.GetEndpointsRequest({ endpointUrl: cx.url }));
    const open = response.endpoints.filter((endpoint) => endpoint.securityMode === 1);
    const tokens = open.flatMap((endpoint) => endpoint.userIdentityTokens ?? []);
    return tokens.find((token) => token.tokenType === 0)?.policyId;
}

async function closeSession(cx) {
    const { status } = await cx.send(new opcua.CloseSessionRequest({ deleteSubscriptions: true }));
    return { status };
}

/** Takes another authentication token from here on. */
async function token(cx, step) {
    cx.token = step.use === "random"
        ? new opcua.NodeId(opcua.NodeIdType.BYTESTRING, crypto.randomBytes(16), 0)
        : new opcua.NodeId();
    return {};
}

export const STEPS = {
    read, write, browse, browse_next: browseNext, translate, call, register, unregister, cancel,
    get_endpoints: getEndpoints, find_servers: findServers, create_session: createSession, activate,
    close_session: closeSession, token,
};
