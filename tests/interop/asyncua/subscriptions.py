"""The steps of subscriptions and monitored items, each as one request of asyncua."""

import asyncio

import wire
from asyncua import ua
from steps import Skip, data_value, timestamps

# An id that no server gave.
UNKNOWN = 4_000_000_000
# Responses that one step takes at most.
RESPONSES = 8
# OPC 10000-4 §7.39.1: information bits of a value with which its queue overflowed.
OVERFLOW = 0x0480


def _at(ids, number):
    """An id by its number in the check; a number below zero is none."""
    return ids[number] if number is not None and 0 <= number < len(ids) else UNKNOWN


def _mode(number):
    try:
        return ua.MonitoringMode(number)
    except ValueError:
        raise Skip(f"asyncua writes no MonitoringMode {number}") from None


def _subscription(cx, step):
    return _at(cx.subscriptions, step.get("subscription"))


def _subscriptions(cx, step):
    return [_at(cx.subscriptions, number) for number in step.get("subscriptions", [])]


def _items(cx, step, field):
    return [_at(cx.items, number) for number in step.get(field, [])]


def _statuses(status, codes):
    return {"status": status, "results": [{"status": code.value} for code in codes or []]}


def _limits(parameters, step):
    parameters.RequestedPublishingInterval = step.get("interval", 50.0)
    parameters.RequestedLifetimeCount = step.get("lifetime", 1_000)
    parameters.RequestedMaxKeepAliveCount = step.get("keep_alive", 5)
    parameters.MaxNotificationsPerPublish = step.get("most", 0)
    parameters.Priority = step.get("priority", 0)


def _revised(status, result):
    return {
        "status": status,
        "interval": result.RevisedPublishingInterval,
        "keep_alive": result.RevisedMaxKeepAliveCount,
        "lifetime_suffices": result.RevisedLifetimeCount >= 3 * result.RevisedMaxKeepAliveCount,
    }


async def subscribe(cx, step):
    request = ua.CreateSubscriptionRequest()
    _limits(request.Parameters, step)
    request.Parameters.PublishingEnabled = step.get("enabled", True)
    response, status = await cx.send(request, ua.CreateSubscriptionResponse)
    if response is None:
        return {"status": status}
    cx.subscriptions.append(response.Parameters.SubscriptionId)
    return _revised(status, response.Parameters)


async def modify_subscription(cx, step):
    request = ua.ModifySubscriptionRequest()
    _limits(request.Parameters, step)
    request.Parameters.SubscriptionId = _subscription(cx, step)
    response, status = await cx.send(request, ua.ModifySubscriptionResponse)
    return {"status": status} if response is None else _revised(status, response.Parameters)


async def publishing(cx, step):
    request = ua.SetPublishingModeRequest()
    request.Parameters.PublishingEnabled = step.get("enabled", True)
    request.Parameters.SubscriptionIds = _subscriptions(cx, step)
    response, status = await cx.send(request, ua.SetPublishingModeResponse)
    return {"status": status} if response is None else _statuses(status, response.Parameters.Results)


async def unsubscribe(cx, step):
    request = ua.DeleteSubscriptionsRequest()
    request.Parameters.SubscriptionIds = _subscriptions(cx, step)
    response, status = await cx.send(request, ua.DeleteSubscriptionsResponse)
    return {"status": status} if response is None else _statuses(status, response.Results)


async def end_all(cx):
    """Deletes what a check that ended early left behind, so that the next one has no foreign messages."""
    if cx.subscriptions:
        await unsubscribe(cx, {"subscriptions": range(len(cx.subscriptions))})


async def transfer(cx, step):
    request = ua.TransferSubscriptionsRequest()
    request.Parameters.SubscriptionIds = _subscriptions(cx, step)
    request.Parameters.SendInitialValues = step.get("initial", False)
    response, status = await cx.send(request, ua.TransferSubscriptionsResponse)
    if response is None:
        return {"status": status}
    results = [
        {"status": result.StatusCode.value, "kept": len(result.AvailableSequenceNumbers or [])}
        for result in response.Parameters.Results or []
    ]
    return {"status": status, "results": results}


async def publish(cx, step):
    """Publishes until there are as many changes as the step wants, or a message without any."""
    acknowledged = [
        ua.SubscriptionAcknowledgement(_at(cx.subscriptions, place), _at(cx.sequence_numbers, message))
        for place, message in step.get("acknowledge", [])
    ]
    outcome, changes = {}, []
    for _ in range(RESPONSES):
        request = ua.PublishRequest()
        request.Parameters.SubscriptionAcknowledgements, acknowledged = acknowledged, []
        response, status = await cx.send(request, ua.PublishResponse)
        if response is None:
            return {"status": status}
        result = response.Parameters
        message = result.NotificationMessage
        some, ended = _content(message)
        empty = not message.NotificationData
        outcome.setdefault("acknowledged", [{"status": code.value} for code in result.Results or []])
        known = result.SubscriptionId in cx.subscriptions
        outcome |= {
            "status": status,
            "subscription": cx.subscriptions.index(result.SubscriptionId) if known else None,
            "sequence": message.SequenceNumber,
            "keep_alive": empty,
            "ended": ended,
        }
        if not empty:
            cx.sequence_numbers.append(message.SequenceNumber)
        changes += some
        if len(changes) >= step.get("changes", 1) or empty or ended:
            break
    return outcome | {"changes": _by_handle(changes)}


async def republish(cx, step):
    sequence = _at(cx.sequence_numbers, step.get("message"))
    request = ua.RepublishRequest()
    request.Parameters.SubscriptionId = _subscription(cx, step)
    request.Parameters.RetransmitSequenceNumber = sequence
    response, status = await cx.send(request, ua.RepublishResponse)
    if response is None:
        return {"status": status}
    message = response.NotificationMessage
    same = message.SequenceNumber == sequence
    return {"status": status, "same": same, "changes": _by_handle(_content(message)[0])}


def _content(message):
    changes, ended = [], []
    for data in message.NotificationData or []:
        if isinstance(data, ua.StatusChangeNotification):
            ended.append({"status": wire.status(data.Status)})
            continue
        for item in data.MonitoredItems or []:
            bits = wire.status(item.Value.StatusCode)
            overflow = bits & OVERFLOW == OVERFLOW
            changes.append(data_value(item.Value) | {"handle": item.ClientHandle, "overflow": overflow})
    return changes, ended


def _by_handle(changes):
    """Changes of several items come in any order, those of one in their own."""
    return sorted(changes, key=lambda change: change["handle"])


async def monitor(cx, step):
    request = ua.CreateMonitoredItemsRequest()
    request.Parameters.SubscriptionId = _subscription(cx, step)
    request.Parameters.TimestampsToReturn = timestamps(step.get("timestamps", "both"))
    request.Parameters.ItemsToCreate = [
        ua.MonitoredItemCreateRequest(
            ItemToMonitor=ua.ReadValueId(
                NodeId=cx.node(item["node"]),
                AttributeId=item.get("attribute", 13),
                IndexRange=item.get("range"),
            ),
            MonitoringMode=_mode(item.get("mode", 2)),
            RequestedParameters=_parameters(item),
        )
        for item in step["items"]
    ]
    response, status = await cx.send(request, ua.CreateMonitoredItemsResponse)
    if response is None:
        return {"status": status}
    cx.items += [result.MonitoredItemId for result in response.Results or []]
    return {"status": status, "results": [_item(result) for result in response.Results or []]}


async def modify_items(cx, step):
    request = ua.ModifyMonitoredItemsRequest()
    request.Parameters.SubscriptionId = _subscription(cx, step)
    request.Parameters.TimestampsToReturn = timestamps(step.get("timestamps", "both"))
    request.Parameters.ItemsToModify = [
        ua.MonitoredItemModifyRequest(
            MonitoredItemId=_at(cx.items, item["item"]), RequestedParameters=_parameters(item)
        )
        for item in step["items"]
    ]
    response, status = await cx.send(request, ua.ModifyMonitoredItemsResponse)
    if response is None:
        return {"status": status}
    return {"status": status, "results": [_item(result) for result in response.Results or []]}


def _parameters(item):
    return ua.MonitoringParameters(
        ClientHandle=item.get("handle", 0),
        SamplingInterval=item.get("sampling", 0.0),
        Filter=_filter(item.get("filter")),
        QueueSize=item.get("queue", 1),
        DiscardOldest=item.get("discard_oldest", True),
    )


def _filter(wanted):
    if wanted is None:
        return None
    return ua.DataChangeFilter(
        Trigger=ua.DataChangeTrigger(wanted.get("trigger", 1)),
        DeadbandType=wanted.get("deadband", 0),
        DeadbandValue=wanted.get("value", 0.0),
    )


def _item(result):
    return {"status": result.StatusCode.value, "queue": result.RevisedQueueSize}


async def monitoring_mode(cx, step):
    request = ua.SetMonitoringModeRequest()
    request.Parameters.SubscriptionId = _subscription(cx, step)
    request.Parameters.MonitoringMode = _mode(step.get("mode", 2))
    request.Parameters.MonitoredItemIds = _items(cx, step, "items")
    response, status = await cx.send(request, ua.SetMonitoringModeResponse)
    return {"status": status} if response is None else _statuses(status, response.Parameters.Results)


async def delete_items(cx, step):
    request = ua.DeleteMonitoredItemsRequest()
    request.Parameters.SubscriptionId = _subscription(cx, step)
    request.Parameters.MonitoredItemIds = _items(cx, step, "items")
    response, status = await cx.send(request, ua.DeleteMonitoredItemsResponse)
    return {"status": status} if response is None else _statuses(status, response.Results)


async def trigger(cx, step):
    request = ua.SetTriggeringRequest()
    request.Parameters.SubscriptionId = _subscription(cx, step)
    request.Parameters.TriggeringItemId = _at(cx.items, step["item"])
    request.Parameters.LinksToAdd = _items(cx, step, "add")
    request.Parameters.LinksToRemove = _items(cx, step, "remove")
    response, status = await cx.send(request, ua.SetTriggeringResponse)
    if response is None:
        return {"status": status}
    result = response.Parameters
    sides = {"added": result.AddResults, "removed": result.RemoveResults}
    return {"status": status} | {name: [{"status": c.value} for c in side or []] for name, side in sides.items()}


async def wait(_cx, step):
    """Lets the server sample meanwhile."""
    await asyncio.sleep(step.get("milliseconds", 200) / 1000)
    return {}


STEPS = {
    function.__name__: function
    for function in (
        subscribe, modify_subscription, publishing, unsubscribe, transfer, publish, republish,
        monitor, modify_items, monitoring_mode, delete_items, trigger, wait,
    )
}
