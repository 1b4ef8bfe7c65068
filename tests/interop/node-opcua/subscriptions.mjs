// The steps of subscriptions and monitored items, each as one request of node-opcua.

import { opcua } from "./library.mjs";
import { dataValue, Skip, TIMESTAMPS } from "./steps.mjs";
import * as wire from "./wire.mjs";

/** An id that no server gave. */
const UNKNOWN = 4_000_000_000;
/** Responses that one step takes at most. */
const RESPONSES = 8;
/** OPC 10000-4 §7.39.1: information bits of a value with which its queue overflowed. */
const OVERFLOW = 0x0480;

/** An id by its number in the check; a number below zero is none. */
function at(ids, number) {
    return ids[number] ?? UNKNOWN;
}

function subscriptions(cx, step) {
    return step.subscriptions.map((number) => at(cx.subscriptions, number));
}

function items(cx, numbers) {
    return (numbers ?? []).map((number) => at(cx.items, number));
}

function statuses(codes) {
    return (codes ?? []).map((code) => ({ status: wire.status(code) }));
}

/** A request whose response has a status for each operation. */
async function operations(cx, request) {
    const { response, status } = await cx.send(request);
    return response ? { status, results: statuses(response.results) } : { status };
}

function limits(step) {
    return {
        requestedPublishingInterval: step.interval ?? 50,
        requestedLifetimeCount: step.lifetime ?? 1_000,
        requestedMaxKeepAliveCount: step.keep_alive ?? 5,
        maxNotificationsPerPublish: step.most ?? 0,
        priority: step.priority ?? 0,
    };
}

function revised(status, response) {
    return {
        status,
        interval: response.revisedPublishingInterval,
        keep_alive: response.revisedMaxKeepAliveCount,
        lifetime_suffices: response.revisedLifetimeCount >= 3 * response.revisedMaxKeepAliveCount,
    };
}

async function subscribe(cx, step) {
    const request = new opcua.CreateSubscriptionRequest({ ...limits(step), publishingEnabled: step.enabled ?? true });
    const { response, status } = await cx.send(request);
    if (!response) {
        return { status };
    }
    cx.subscriptions.push(response.subscriptionId);
    return revised(status, response);
}

async function modifySubscription(cx, step) {
    const subscriptionId = at(cx.subscriptions, step.subscription);
    const request = new opcua.ModifySubscriptionRequest({ ...limits(step), subscriptionId });
    const { response, status } = await cx.send(request);
    return response ? revised(status, response) : { status };
}

async function publishing(cx, step) {
    const subscriptionIds = subscriptions(cx, step);
    return operations(cx, new opcua.SetPublishingModeRequest({
        publishingEnabled: step.enabled ?? true,
        subscriptionIds,
    }));
}

async function unsubscribe(cx, step) {
    return operations(cx, new opcua.DeleteSubscriptionsRequest({ subscriptionIds: subscriptions(cx, step) }));
}

/** Deletes what a check that ended early left behind, so that the next one has no foreign messages. */
export async function endAll(cx) {
    if (cx.subscriptions.length > 0) {
        await unsubscribe(cx, { subscriptions: [...cx.subscriptions.keys()] });
    }
}

async function transfer(cx, step) {
    const { response, status } = await cx.send(new opcua.TransferSubscriptionsRequest({
        subscriptionIds: subscriptions(cx, step),
        sendInitialValues: step.initial ?? false,
    }));
    if (!response) {
        return { status };
    }
    const results = (response.results ?? []).map((result) => ({
        status: wire.status(result.statusCode),
        kept: (result.availableSequenceNumbers ?? []).length,
    }));
    return { status, results };
}

/** Publishes until there are as many changes as the step wants, or a message without any. */
async function publish(cx, step) {
    let acknowledged = (step.acknowledge ?? []).map(([place, message]) => ({
        subscriptionId: at(cx.subscriptions, place),
        sequenceNumber: at(cx.sequenceNumbers, message),
    }));
    let outcome = {};
    const changes = [];
    for (let round = 0; round < RESPONSES; round += 1) {
        const request = new opcua.PublishRequest({ subscriptionAcknowledgements: acknowledged });
        acknowledged = [];
        const { response, status } = await cx.send(request);
        if (!response) {
            return { status };
        }
        const message = response.notificationMessage;
        const said = content(message);
        const empty = (message.notificationData ?? []).length === 0;
        const place = cx.subscriptions.indexOf(response.subscriptionId);
        outcome = {
            acknowledged: outcome.acknowledged ?? statuses(response.results),
            status,
            subscription: place < 0 ? null : place,
            sequence: message.sequenceNumber,
            keep_alive: empty,
            ended: said.ended,
        };
        if (!empty) {
            cx.sequenceNumbers.push(message.sequenceNumber);
        }
        changes.push(...said.changes);
        if (changes.length >= (step.changes ?? 1) || empty || said.ended.length > 0) {
            break;
        }
    }
    return { ...outcome, changes: byHandle(changes) };
}

async function republish(cx, step) {
    const sequence = at(cx.sequenceNumbers, step.message);
    const { response, status } = await cx.send(new opcua.RepublishRequest({
        subscriptionId: at(cx.subscriptions, step.subscription),
        retransmitSequenceNumber: sequence,
    }));
    if (!response) {
        return { status };
    }
    const message = response.notificationMessage;
    return { status, same: message.sequenceNumber === sequence, changes: byHandle(content(message).changes) };
}

function content(message) {
    const changes = [];
    const ended = [];
    for (const data of message.notificationData ?? []) {
        if (data instanceof opcua.StatusChangeNotification) {
            ended.push({ status: wire.status(data.status) });
            continue;
        }
        for (const item of data.monitoredItems ?? []) {
            const overflow = (wire.status(item.value.statusCode) & OVERFLOW) === OVERFLOW;
            changes.push({ ...dataValue(item.value), handle: item.clientHandle, overflow });
        }
    }
    return { changes, ended };
}

/** Changes of several items come in any order, those of one in their own. */
function byHandle(changes) {
    return changes.sort((one, other) => one.handle - other.handle);
}

/** MonitoringMode has no more numbers than these, and the library sends no other. */
function mode(number) {
    if (number > 2) {
        throw new Skip(`node-opcua sends no MonitoringMode ${number}`);
    }
    return number;
}

async function monitor(cx, step) {
    if (step.items.some((item) => item.attribute > 27)) {
        throw new Skip("node-opcua sends no unknown attribute");
    }
    const request = new opcua.CreateMonitoredItemsRequest({
        subscriptionId: at(cx.subscriptions, step.subscription),
        itemsToCreate: step.items.map((item) => ({
            itemToMonitor: {
                nodeId: cx.node(item.node),
                attributeId: item.attribute ?? 13,
                indexRange: new opcua.NumericRange(item.range ?? null),
            },
            monitoringMode: mode(item.mode ?? 2),
            requestedParameters: parameters(item),
        })),
    });
    request.timestampsToReturn = timestamps(step);
    const { response, status } = await cx.send(request);
    if (!response) {
        return { status };
    }
    cx.items.push(...(response.results ?? []).map((result) => result.monitoredItemId));
    return { status, results: (response.results ?? []).map(itemResult) };
}

async function modifyItems(cx, step) {
    const request = new opcua.ModifyMonitoredItemsRequest({
        subscriptionId: at(cx.subscriptions, step.subscription),
        itemsToModify: step.items.map((item) => ({
            monitoredItemId: at(cx.items, item.item),
            requestedParameters: parameters(item),
        })),
    });
    request.timestampsToReturn = timestamps(step);
    const { response, status } = await cx.send(request);
    return response ? { status, results: (response.results ?? []).map(itemResult) } : { status };
}

function timestamps(step) {
    const wanted = step.timestamps ?? "both";
    return TIMESTAMPS[wanted] ?? wanted;
}

function parameters(item) {
    return {
        clientHandle: item.handle ?? 0,
        samplingInterval: item.sampling ?? 0,
        filter: item.filter ? filter(item.filter) : null,
        queueSize: item.queue ?? 1,
        discardOldest: item.discard_oldest ?? true,
    };
}

function filter(wanted) {
    const made = new opcua.DataChangeFilter({ deadbandValue: wanted.value ?? 0 });
    // Set afterwards: its constructor refuses numbers that have no name.
    made.trigger = wanted.trigger ?? 1;
    made.deadbandType = wanted.deadband ?? 0;
    return made;
}

function itemResult(result) {
    return { status: wire.status(result.statusCode), queue: result.revisedQueueSize };
}

async function monitoringMode(cx, step) {
    return operations(cx, new opcua.SetMonitoringModeRequest({
        subscriptionId: at(cx.subscriptions, step.subscription),
        monitoringMode: mode(step.mode ?? 2),
        monitoredItemIds: items(cx, step.items),
    }));
}

async function deleteItems(cx, step) {
    return operations(cx, new opcua.DeleteMonitoredItemsRequest({
        subscriptionId: at(cx.subscriptions, step.subscription),
        monitoredItemIds: items(cx, step.items),
    }));
}

async function trigger(cx, step) {
    const { response, status } = await cx.send(new opcua.SetTriggeringRequest({
        subscriptionId: at(cx.subscriptions, step.subscription),
        triggeringItemId: at(cx.items, step.item),
        linksToAdd: items(cx, step.add),
        linksToRemove: items(cx, step.remove),
    }));
    return response
        ? { status, added: statuses(response.addResults), removed: statuses(response.removeResults) }
        : { status };
}

/** Lets the server sample meanwhile. */
async function wait(_cx, step) {
    await new Promise((resolve) => { setTimeout(resolve, step.milliseconds ?? 200); });
    return {};
}

export const STEPS = {
    subscribe, modify_subscription: modifySubscription, publishing, unsubscribe, transfer, publish, republish,
    monitor, modify_items: modifyItems, monitoring_mode: monitoringMode, delete_items: deleteItems, trigger, wait,
};
