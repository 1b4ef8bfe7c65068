// node-opcua from where it was installed, with its chatter turned off.

import path from "node:path";
import { pathToFileURL } from "node:url";

const packages = process.env.UAFORGE_PEER_PACKAGES;
const entry = path.join(packages, "node_modules", "node-opcua", "dist", "index.js");
export const opcua = await import(pathToFileURL(entry).href);
for (const set of ["setDebugLogger", "setWarningLogger", "setErrorLogger"]) {
    opcua[set](() => undefined);
}
