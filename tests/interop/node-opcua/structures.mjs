// node-opcua reads structures of our demo server, whose types it learns from the server: structures.mjs URL.
//
// It knows nothing of the model: DataTypeDefinition and the encoding ids come from the address space
// (OPC 10000-3 §5.8.3).

import assert from "node:assert/strict";
import { opcua } from "./library.mjs";

const URI = "http://example.org/BrewLine/";
const EXPECTED = { name: "Saccharification", temperature: 66, rest: 3_600_000, note: "stir every ten minutes" };

async function main(url) {
    const client = opcua.OPCUAClient.create({
        endpointMustExist: false,
        connectionStrategy: { maxRetry: 0, initialDelay: 100, maxDelay: 100 },
        securityMode: opcua.MessageSecurityMode.None,
        securityPolicy: opcua.SecurityPolicy.None,
    });
    await client.connect(url);
    const session = await client.createSession();
    const index = (await session.readNamespaceArray()).indexOf(URI);
    const at = async (...names) => {
        // The kettles are the application's own, in namespace 1 (OPC 10000-3 §8.2.2).
        const path = names.map((name) => `/${name.startsWith("Kettle") ? 1 : index}:${name}`).join("");
        const result = await session.translateBrowsePath(opcua.makeBrowsePath("ObjectsFolder", path));
        assert.equal(result.statusCode.value, 0, path);
        return result.targets[0].targetId;
    };
    const read = async (...names) =>
        (await session.read({ nodeId: await at(...names), attributeId: opcua.AttributeIds.Value })).value;
    const step = (await read("BrewLine", "Kettle1", "Step")).value;
    for (const [name, value] of Object.entries(EXPECTED)) {
        assert.equal(step[name], value, name);
    }
    const without = (await read("BrewLine", "Kettle2", "Step")).value;
    assert.equal(without.note, undefined, "a field that is not there");
    const dataType = await session.getBuiltInDataType(await at("BrewLine", "Kettle1", "Step"));
    assert.equal(dataType, opcua.DataType.ExtensionObject);
    const attribute = { nodeId: await at("BrewLine", "Kettle1", "Step"), attributeId: opcua.AttributeIds.DataType };
    const type = (await session.read(attribute)).value.value;
    const made = await session.constructExtensionObject(type, { name: "Boil", temperature: 100, rest: 1 });
    assert.equal(made.name, "Boil");
    await session.close();
    await client.disconnect();
}

try {
    await main(...process.argv.slice(2));
    process.exit(0);
} catch (error) {
    console.error(`${error.message}`);
    process.exit(1);
}
