// node-opcua as a server on loopback, with the nodes of a space file beside its ns0: server.mjs SPACE.
//
// Prints its address, runs until it is interrupted or ten minutes have passed.

import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import net from "node:net";
import { opcua } from "./library.mjs";
import * as wire from "./wire.mjs";

const LIFETIME = 600_000;

async function main(file) {
    const space = JSON.parse(fs.readFileSync(file, "utf8"));
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), "uaforge-peer-"));
    const certificates = new opcua.OPCUACertificateManager({
        rootFolder: folder,
        automaticallyAcceptUnknownCertificate: true,
    });
    const server = new opcua.OPCUAServer({
        host: "127.0.0.1",
        hostname: "127.0.0.1",
        port: await freePort(),
        securityModes: [opcua.MessageSecurityMode.None],
        securityPolicies: [opcua.SecurityPolicy.None],
        nodeset_filename: [opcua.nodesets.standard],
        serverCertificateManager: certificates,
        userCertificateManager: certificates,
        isAuditing: false,
    });
    await server.initialize();
    fill(server.engine.addressSpace, space);
    await server.start();
    console.log(`node-opcua listens on opc.tcp://127.0.0.1:${server.endpoints[0].port}`);
    for (const signal of ["SIGINT", "SIGTERM"]) {
        process.on(signal, () => stop(server, folder));
    }
    setTimeout(() => stop(server, folder), LIFETIME).unref();
}

async function stop(server, folder) {
    await server.shutdown(0);
    fs.rmSync(folder, { recursive: true, force: true });
    process.exit(0);
}

function fill(addressSpace, space) {
    const namespace = addressSpace.registerNamespace(space.uri);
    const id = (text) => `ns=${namespace.index};${text}`;
    const peer = namespace.addObject({
        organizedBy: addressSpace.rootFolder.objects,
        nodeId: id("s=Peer"),
        browseName: "Peer",
    });
    namespace.addObject({ componentOf: peer, nodeId: id("g=00000000-0000-0000-0000-000000000005"), browseName: "ByGuid" });
    namespace.addObject({ componentOf: peer, nodeId: id("b=AP8="), browseName: "ByOpaque" });
    for (const variable of space.variables) {
        const node = namespace.addVariable({
            componentOf: peer,
            nodeId: id(`s=${variable.name}`),
            browseName: variable.name,
            dataType: opcua.coerceNodeId(variable.type),
            valueRank: variable.rank,
            arrayDimensions: variable.dimensions ?? null,
            accessLevel: variable.access,
            userAccessLevel: variable.access,
        });
        node.setValueFromSource(wire.value(variable.value));
    }
    for (const method of space.methods) {
        const [inputs, outputs] = [method.inputs, method.outputs].map((list) => list.map(argument));
        const node = namespace.addMethod(peer, {
            nodeId: id(`s=${method.name}`),
            browseName: method.name,
            inputArguments: inputs,
            outputArguments: outputs,
        });
        node.bindMethod(METHODS[method.name]);
    }
}

function argument([name, dataType, valueRank]) {
    return { name, dataType: opcua.coerceNodeId(dataType), valueRank };
}

const METHODS = {
    Add: async ([a, b], _context) => good({ dataType: opcua.DataType.Double, value: a.value + b.value }),
    Nothing: async (_inputs, _context) => good(),
    Reverse: async ([text, numbers], _context) => good(
        { dataType: opcua.DataType.Int32, arrayType: opcua.VariantArrayType.Array, value: [...numbers.value].reverse() },
        { dataType: opcua.DataType.String, value: [...text.value].reverse().join("") },
    ),
    Widen: async ([range], _context) => good({
        dataType: opcua.DataType.ExtensionObject,
        value: new opcua.Range({ low: range.value.low - 1, high: range.value.high + 1 }),
    }),
    Fail: async (_inputs, _context) => ({ statusCode: opcua.StatusCodes.BadInvalidState }),
};

function good(...outputArguments) {
    return { statusCode: opcua.StatusCodes.Good, outputArguments };
}

function freePort() {
    return new Promise((resolve, reject) => {
        const listener = net.createServer();
        listener.on("error", reject);
        listener.listen(0, "127.0.0.1", () => {
            const { port } = listener.address();
            listener.close(() => resolve(port));
        });
    });
}

await main(process.argv[2]);
