// node-opcua as a client: carries out the steps of a plan against a server: client.mjs URL PLAN RESULTS.
//
// It judges nothing: each step's outcome is written down, and the task that called compares.

import fs from "node:fs";
import { promisify } from "node:util";
import { opcua } from "./library.mjs";
import { Skip, STEPS } from "./steps.mjs";
import * as subscriptions from "./subscriptions.mjs";
import * as wire from "./wire.mjs";

const ALL_STEPS = { ...STEPS, ...subscriptions.STEPS };

const TIMEOUT = 15_000;
const NO_RETRY = { maxRetry: 0, initialDelay: 100, maxDelay: 100 };

/** What the steps of one check share: a way to the server, the namespace, what the server gave. */
class Conversation {
    constructor(transact, url, index) {
        this.transact = transact;
        this.url = url;
        this.index = index;
        this.points = [];
        this.subscriptions = [];
        this.items = [];
        this.sequenceNumbers = [];
        this.token = null;
    }

    node(text) {
        return wire.node(text, this.index);
    }

    /** The response, or the status of a service that failed as a whole. */
    async send(request) {
        if (this.token) {
            request.requestHeader.authenticationToken = this.token;
        }
        let response;
        try {
            response = await this.transact(request);
        } catch (error) {
            // The library throws for a ServiceFault and for a bad result of the service.
            if (!error.response) {
                throw error;
            }
            response = error.response;
        }
        const status = wire.status(response.responseHeader.serviceResult);
        const failed = response instanceof opcua.ServiceFault || status >>> 31 === 1;
        return { response: failed ? null : response, status };
    }

    async run(check) {
        const steps = [];
        try {
            for (const step of check.steps) {
                steps.push(await ALL_STEPS[step.do](this, step));
            }
        } catch (error) {
            return error instanceof Skip ? { skip: error.message } : { steps, error: `${error.message}` };
        } finally {
            await subscriptions.endAll(this);
        }
        return { steps };
    }
}

async function main(url, planPath, resultsPath) {
    const plan = JSON.parse(fs.readFileSync(planPath, "utf8"));
    const results = fs.openSync(resultsPath, "w");
    const client = opcua.OPCUAClient.create({
        endpointMustExist: false,
        connectionStrategy: NO_RETRY,
        transportTimeout: TIMEOUT,
        securityMode: opcua.MessageSecurityMode.None,
        securityPolicy: opcua.SecurityPolicy.None,
    });
    await client.connect(url);
    const session = await client.createSession();
    const names = await session.readNamespaceArray();
    const index = names.indexOf(plan.uri);
    const transact = promisify(session.performMessageTransaction).bind(session);
    for (const check of plan.checks) {
        const outcome = check.session === "open"
            ? await new Conversation(transact, url, index).run(check)
            : await alone(url, index, check);
        fs.writeSync(results, JSON.stringify({ name: check.name, ...outcome }) + "\n");
    }
    await session.close();
    await client.disconnect();
}

/** Runs a check on a channel of its own, which has no session but what the check makes. */
async function alone(url, index, check) {
    const channel = new opcua.ClientSecureChannelLayer({
        defaultSecureTokenLifetime: 60_000,
        transportTimeout: TIMEOUT,
        connectionStrategy: NO_RETRY,
        securityMode: opcua.MessageSecurityMode.None,
        securityPolicy: opcua.SecurityPolicy.None,
    });
    await promisify(channel.create).call(channel, url);
    const transact = promisify(channel.performMessageTransaction).bind(channel);
    const outcome = await new Conversation(transact, url, index).run(check);
    await promisify(channel.close).call(channel).catch(() => undefined);
    channel.dispose();
    return outcome;
}

try {
    await main(...process.argv.slice(2));
    process.exit(0);
} catch (error) {
    console.error(`${error.stack}`);
    process.exit(1);
}
