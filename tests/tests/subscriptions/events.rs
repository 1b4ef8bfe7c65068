//! Events: who gets them, with which fields, and what filters say (OPC 10000-4 §7.7, §7.22.3).

use uaforge_codec::{
    Array, ExtensionObject, IntoVariant as _, LocalizedText, NodeId, NodeIdRef, QualifiedName, StatusCode,
    Variant,
};
use uaforge_nodes::{AttributeId, ClassAttributes};
use uaforge_server::{Access, AccessControl, EmitError, Event, Limits, Server, SubscriptionLimits};
use uaforge_tests::nodes::{add, item, scalar, variable};
use uaforge_types::{
    ContentFilter, ContentFilterElement, ElementOperand, EventFilter, EventFilterResult,
    EventNotificationList, FilterOperator, LiteralOperand, MonitoredItemCreateRequest,
    MonitoredItemCreateResult, MonitoringMode, MonitoringParameters, PublishResponse, SimpleAttributeOperand,
    status,
};

use crate::harness::{Plant, builder};
use crate::reporting;

const SERVER: NodeId = NodeId::numeric(0, 2253);
const BASE_EVENT: NodeId = NodeId::numeric(0, 2041);
const DEVICE_FAILURE: NodeId = NodeId::numeric(0, 2131);
const PROGRESS: NodeId = NodeId::numeric(0, 11436);
const CONDITION: NodeId = NodeId::numeric(0, 2782);
const OVERFLOW: NodeId = NodeId::numeric(0, 3035);
const HAS_NOTIFIER: NodeId = NodeId::numeric(0, 48);
const HAS_EVENT_SOURCE: NodeId = NodeId::numeric(0, 36);

/// A field of any event, or of those of a type.
fn field_of(event_type: &NodeId, path: &[&str]) -> SimpleAttributeOperand {
    SimpleAttributeOperand {
        type_definition_id: event_type.clone(),
        browse_path: path.iter().map(|name| QualifiedName::new(0, *name)).collect(),
        attribute_id: AttributeId::Value as u32,
        ..Default::default()
    }
}

fn field(name: &str) -> SimpleAttributeOperand {
    field_of(&BASE_EVENT, &[name])
}

/// Operands of a where clause.
fn op(field: SimpleAttributeOperand) -> ExtensionObject {
    ExtensionObject::new(field)
}

fn literal(value: impl Into<Variant>) -> ExtensionObject {
    ExtensionObject::new(LiteralOperand { value: value.into() })
}

fn element(index: u32) -> ExtensionObject {
    ExtensionObject::new(ElementOperand { index })
}

type Elements = Vec<(FilterOperator, Vec<ExtensionObject>)>;

fn filter(select: Vec<SimpleAttributeOperand>, elements: Elements) -> EventFilter {
    let elements = elements.into_iter().map(|(filter_operator, operands)| ContentFilterElement {
        filter_operator,
        filter_operands: Array::from(operands),
    });
    let where_clause = ContentFilter { elements: elements.collect() };
    EventFilter { select_clauses: Array::from(select), where_clause }
}

fn monitoring(
    node: &NodeId,
    handle: u32,
    queue_size: u32,
    filter: EventFilter,
) -> MonitoredItemCreateRequest {
    MonitoredItemCreateRequest {
        item_to_monitor: item(node, AttributeId::EventNotifier as u32),
        monitoring_mode: MonitoringMode::REPORTING,
        requested_parameters: MonitoringParameters {
            client_handle: handle,
            sampling_interval: 0.0,
            filter: ExtensionObject::new(filter),
            queue_size,
            discard_oldest: true,
        },
    }
}

/// The events of a response: client handle and fields.
fn events(response: &PublishResponse) -> Vec<(u32, Vec<Variant>)> {
    let data = response.notification_message.notification_data.iter();
    let lists = data.filter_map(|data| data.downcast_ref::<EventNotificationList>());
    lists
        .flat_map(|list| list.events.iter())
        .map(|event| (event.client_handle, event.event_fields.to_vec()))
        .collect()
}

/// A plant with one subscription and an item on the Server object.
fn listening(queue_size: u32, filter: EventFilter) -> (Plant, u32) {
    let mut plant = Plant::new();
    let id = plant.subscribe();
    let item = plant.monitor_one(id, monitoring(&SERVER, 7, queue_size, filter));
    (plant, item)
}

impl Plant {
    fn emit(&self, event: Event) -> Result<uaforge_codec::ByteString, EmitError> {
        self.server.emit_at(event, self.client.now)
    }

    /// The events that the next 100 ms bring; none if there is only a keep-alive or nothing.
    #[track_caller]
    fn heard(&mut self) -> Vec<(u32, Vec<Variant>)> {
        if self.waiting.is_empty() {
            self.publish(1);
        }
        self.pass(100);
        self.told().iter().flat_map(|told| events(told.as_ref().expect("a response"))).collect()
    }
}

#[test]
fn an_event_has_the_fields_that_were_selected() {
    let names =
        ["EventId", "EventType", "SourceNode", "SourceName", "Time", "ReceiveTime", "Message", "Severity"];
    let mut select: Vec<_> = names.map(field).to_vec();
    select.push(field_of(&PROGRESS, &["Progress"]));
    select.push(field("LocalTime"));
    let (mut plant, _) = listening(10, filter(select, vec![]));
    let now = plant.client.now.utc;
    let event = Event::new(PROGRESS).message("half").severity(10).field("Progress", 50_u16);
    let id = plant.emit(event).expect("it is emitted");
    assert_eq!(id.bytes().len(), 16);
    let heard = plant.heard();
    let text = LocalizedText { text: "half".into(), ..Default::default() };
    let expected: Vec<Variant> = vec![
        id.into_variant(),
        PROGRESS.into_variant(),
        SERVER.into_variant(),
        "Server".into(),
        now.into_variant(),
        now.into_variant(),
        text.into_variant(),
        Variant::UInt16(10),
        Variant::UInt16(50),
        Variant::Null,
    ];
    assert_eq!(heard, [(7, expected)]);
}

#[test]
fn fields_of_a_type_are_null_in_events_of_others() {
    let select = vec![field_of(&PROGRESS, &["Progress"]), field("Progress"), field("Severity")];
    let (mut plant, _) = listening(10, filter(select, vec![]));
    plant.emit(Event::new(DEVICE_FAILURE).field("Progress", 9_u16)).expect("it is emitted");
    // With BaseEventType the type of the event does not count (OPC 10000-4 §7.7.4.5).
    let expected = vec![Variant::Null, Variant::UInt16(9), Variant::UInt16(500)];
    assert_eq!(plant.heard(), [(7, expected)]);
}

/// An area that is notified of a machine, whose sensor is an event source; another area that is not.
fn hierarchy(server: &Server) -> [NodeId; 4] {
    let object = |id, event_notifier| add(server, id, ClassAttributes::Object { event_notifier });
    let (area, machine, other) = (object(1, 1), object(2, 1), object(3, 1));
    let sensor = variable(server, 4, scalar(11), 0.0).id().clone();
    server.add_reference(&area, &HAS_NOTIFIER, &machine).expect("a notifier");
    server.add_reference(&machine, &HAS_EVENT_SOURCE, &sensor).expect("a source");
    // A circle harms nobody.
    server.add_reference(&machine, &HAS_NOTIFIER, &area).expect("a notifier");
    [area, machine, other, sensor]
}

#[test]
fn events_reach_the_notifiers_above_their_source() {
    let mut plant = Plant::new();
    let [area, machine, other, sensor] = hierarchy(&plant.server);
    let id = plant.subscribe();
    for (handle, node) in [(1, &SERVER), (2, &area), (3, &machine), (4, &other)] {
        plant.monitor_one(id, monitoring(node, handle, 10, filter(vec![field("SourceName")], vec![])));
    }
    for (source, handles) in [(&sensor, vec![1, 2, 3]), (&other, vec![1, 4]), (&SERVER, vec![1])] {
        plant.emit(Event::new(DEVICE_FAILURE).source(source.clone())).expect("it is emitted");
        let mut heard: Vec<u32> = plant.heard().into_iter().map(|event| event.0).collect();
        heard.sort_unstable();
        assert_eq!(heard, handles, "{source:?}");
    }
}

#[test]
fn what_cannot_be_emitted() {
    let plant = Plant::new();
    let no_event = NodeId::numeric(0, 58);
    let unknown = NodeId::numeric(1, 99);
    let cases = [
        (Event::new(no_event.clone()), EmitError::UnknownEventType(no_event)),
        (Event::new(unknown.clone()), EmitError::UnknownEventType(unknown.clone())),
        (Event::new(DEVICE_FAILURE).source(unknown.clone()), EmitError::UnknownSource(unknown)),
        (Event::new(DEVICE_FAILURE).severity(0), EmitError::SeverityOutOfRange(0)),
        (Event::new(DEVICE_FAILURE).severity(1001), EmitError::SeverityOutOfRange(1001)),
    ];
    for (event, error) in cases {
        assert_eq!(plant.emit(event), Err(error.clone()), "{error}");
        assert!(error.status().is_bad());
    }
}

/// Whether an event gets through a where clause.
fn passes(elements: Elements, event: Event) -> bool {
    let (mut plant, _) = listening(10, filter(vec![field("Severity")], elements));
    plant.emit(event).expect("it is emitted");
    !plant.heard().is_empty()
}

#[test]
fn operators() {
    use FilterOperator as O;
    let severity = || op(field("Severity"));
    let message = || op(field("Message"));
    let missing = || op(field("LocalTime"));
    let cases: Vec<(&str, Elements, bool)> = vec![
        ("no condition", vec![], true),
        ("equal after conversion", vec![(O::EQUALS, vec![severity(), literal(300.0)])], true),
        ("not equal", vec![(O::EQUALS, vec![severity(), literal(301_u16)])], false),
        ("no conversion", vec![(O::EQUALS, vec![severity(), literal(BASE_EVENT)])], false),
        ("null", vec![(O::IS_NULL, vec![missing()])], true),
        ("not null", vec![(O::IS_NULL, vec![severity()])], false),
        ("greater", vec![(O::GREATER_THAN, vec![severity(), literal(299_i32)])], true),
        ("less", vec![(O::LESS_THAN, vec![severity(), literal(300_i32)])], false),
        ("at least", vec![(O::GREATER_THAN_OR_EQUAL, vec![severity(), literal("300")])], true),
        ("at most", vec![(O::LESS_THAN_OR_EQUAL, vec![severity(), literal(-1_i64)])], false),
        ("null is not ordered", vec![(O::LESS_THAN, vec![missing(), literal(1_i32)])], false),
        ("like", vec![(O::LIKE, vec![message(), literal("%too h_t")])], true),
        ("unlike", vec![(O::LIKE, vec![message(), literal("too%")])], false),
        ("like of a number", vec![(O::LIKE, vec![severity(), literal("3%")])], false),
        ("between", vec![(O::BETWEEN, vec![severity(), literal(300_u16), literal(400.5)])], true),
        ("not between", vec![(O::BETWEEN, vec![severity(), literal(1_u16), literal(299_u16)])], false),
        ("in list", vec![(O::IN_LIST, vec![severity(), literal("x"), literal(300_u32)])], true),
        ("not in list", vec![(O::IN_LIST, vec![severity(), literal(1_u16), literal(2_u16)])], false),
        ("of type", vec![(O::OF_TYPE, vec![literal(BASE_EVENT)])], true),
        ("of a subtype", vec![(O::OF_TYPE, vec![literal(PROGRESS)])], false),
        (
            "cast",
            vec![
                (O::EQUALS, vec![element(1), literal("300")]),
                (O::CAST, vec![severity(), literal(NodeId::numeric(0, 12))]),
            ],
            true,
        ),
        (
            "failed cast",
            vec![(O::IS_NULL, vec![element(1)]), (O::CAST, vec![severity(), literal(NodeId::numeric(0, 3))])],
            true,
        ),
        (
            "bits",
            vec![
                (O::EQUALS, vec![element(1), literal(44_u16)]),
                (O::BITWISE_AND, vec![severity(), literal(0xFC_u16)]),
            ],
            true,
        ),
        (
            "more bits",
            vec![
                (O::EQUALS, vec![element(1), literal(301_u16)]),
                (O::BITWISE_OR, vec![severity(), literal(1_u16)]),
            ],
            true,
        ),
        (
            "bits of no integer",
            vec![(O::IS_NULL, vec![element(1)]), (O::BITWISE_OR, vec![severity(), literal(1.0)])],
            true,
        ),
        ("a number is no truth", vec![(O::AND, vec![literal(true), literal(1_i32)])], false),
    ];
    for (name, elements, expected) in cases {
        let event = Event::new(DEVICE_FAILURE).severity(300).message("much too hot");
        assert_eq!(passes(elements, event), expected, "{name}");
    }
}

/// Logic with NULL (OPC 10000-4 §7.7.3): a NULL is told from false by NOT.
#[test]
fn three_valued_logic() {
    use FilterOperator as O;
    let (yes, no) = (Variant::Boolean(true), Variant::Boolean(false));
    let null = Variant::Null;
    let cases = [
        (O::AND, &yes, &yes, Some(true)),
        (O::AND, &yes, &no, Some(false)),
        (O::AND, &no, &null, Some(false)),
        (O::AND, &null, &no, Some(false)),
        (O::AND, &yes, &null, None),
        (O::AND, &null, &null, None),
        (O::OR, &no, &no, Some(false)),
        (O::OR, &yes, &null, Some(true)),
        (O::OR, &null, &yes, Some(true)),
        (O::OR, &no, &null, None),
        (O::OR, &null, &null, None),
    ];
    for (operator, a, b, expected) in cases {
        let term = (operator, vec![literal(a.clone()), literal(b.clone())]);
        let as_it_is = passes(vec![term.clone()], Event::new(DEVICE_FAILURE));
        let negated = passes(vec![(O::NOT, vec![element(1)]), term], Event::new(DEVICE_FAILURE));
        let found = match (as_it_is, negated) {
            (true, false) => Some(true),
            (false, true) => Some(false),
            (false, false) => None,
            (true, true) => unreachable!("{operator:?} {a:?} {b:?}"),
        };
        assert_eq!(found, expected, "{operator:?} {a:?} {b:?}");
    }
}

/// The result of an item with this filter.
fn created(filter: EventFilter) -> MonitoredItemCreateResult {
    let mut plant = Plant::new();
    let id = plant.subscribe();
    plant.monitor(id, vec![monitoring(&SERVER, 1, 1, filter)]).remove(0)
}

#[test]
fn select_clauses_that_are_wrong_for_every_event_are_told_and_null() {
    let mut name = field("Severity");
    name.attribute_id = AttributeId::BrowseName as u32;
    let mut number = field("Severity");
    number.attribute_id = 99;
    let mut range = field("Severity");
    range.index_range = "2:1".into();
    let whole = SimpleAttributeOperand { attribute_id: 13, ..field_of(&BASE_EVENT, &[]) };
    let condition = SimpleAttributeOperand { attribute_id: 1, ..field_of(&CONDITION, &[]) };
    let clauses = [
        (field("Severity"), StatusCode::GOOD),
        (field("Nonsense"), status::BAD_NODE_ID_UNKNOWN),
        (field_of(&DEVICE_FAILURE, &["Progress"]), status::BAD_NODE_ID_UNKNOWN),
        (field_of(&CONDITION, &["EnabledState", "Id"]), StatusCode::GOOD),
        (field_of(&BASE_EVENT, &["EnabledState", "Id"]), StatusCode::GOOD),
        (field_of(&NodeId::numeric(0, 58), &["Severity"]), status::BAD_TYPE_DEFINITION_INVALID),
        (field_of(&NodeId::NULL, &["Severity"]), status::BAD_TYPE_DEFINITION_INVALID),
        (field(""), status::BAD_BROWSE_NAME_INVALID),
        (name, status::BAD_ATTRIBUTE_ID_INVALID),
        (number, status::BAD_ATTRIBUTE_ID_INVALID),
        (range, status::BAD_INDEX_RANGE_INVALID),
        (whole, status::BAD_ATTRIBUTE_ID_INVALID),
        (condition, StatusCode::GOOD),
    ];
    let (select, expected): (Vec<_>, Vec<_>) = clauses.into_iter().unzip();
    let result = created(filter(select.clone(), vec![]));
    assert_eq!(result.status_code, StatusCode::GOOD);
    let told = result.filter_result.downcast_ref::<EventFilterResult>().expect("a filter result");
    assert_eq!(*told.select_clause_results, *expected);
    let (mut plant, _) = listening(1, filter(select, vec![]));
    plant.emit(Event::new(DEVICE_FAILURE).condition(NodeId::numeric(1, 5))).expect("it is emitted");
    let heard = plant.heard().remove(0).1;
    assert_eq!(heard.len(), expected.len());
    assert_eq!((&heard[0], &heard[1]), (&Variant::UInt16(500), &Variant::Null));
    // Without a mistake there is nothing to tell.
    assert!(created(filter(vec![field("Severity")], vec![])).filter_result.is_null());
}

#[test]
fn the_condition_of_an_event() {
    let condition = SimpleAttributeOperand { attribute_id: 1, ..field_of(&CONDITION, &[]) };
    let (mut plant, _) = listening(10, filter(vec![condition], vec![]));
    let id = NodeId::numeric(1, 5);
    plant.emit(Event::new(NodeId::numeric(0, 2915)).condition(id.clone())).expect("it is emitted");
    plant.emit(Event::new(DEVICE_FAILURE).condition(id.clone())).expect("it is emitted");
    assert_eq!(plant.heard(), [(7, vec![Variant::NodeId(id)]), (7, vec![Variant::Null])]);
}

#[test]
fn where_clauses_that_are_refused() {
    use FilterOperator as O;
    let cases: Vec<(Elements, StatusCode, StatusCode)> = vec![
        (vec![(O(99), vec![])], status::BAD_FILTER_OPERATOR_INVALID, StatusCode::GOOD),
        (
            vec![(O::IN_VIEW, vec![literal(SERVER)])],
            status::BAD_FILTER_OPERATOR_UNSUPPORTED,
            StatusCode::GOOD,
        ),
        (vec![(O::NOT, vec![])], status::BAD_FILTER_OPERAND_COUNT_MISMATCH, StatusCode::GOOD),
        (
            vec![(O::EQUALS, vec![literal(1_i32), literal(1_i32), literal(1_i32)])],
            status::BAD_FILTER_OPERAND_COUNT_MISMATCH,
            StatusCode::GOOD,
        ),
        (
            vec![(O::NOT, vec![element(0)])],
            status::BAD_FILTER_OPERAND_INVALID,
            status::BAD_FILTER_ELEMENT_INVALID,
        ),
        (
            vec![(O::NOT, vec![element(1)])],
            status::BAD_FILTER_OPERAND_INVALID,
            status::BAD_FILTER_ELEMENT_INVALID,
        ),
        (
            vec![(O::NOT, vec![element(u32::MAX)])],
            status::BAD_FILTER_OPERAND_INVALID,
            status::BAD_FILTER_ELEMENT_INVALID,
        ),
        (
            vec![(O::NOT, vec![ExtensionObject::NULL])],
            status::BAD_FILTER_OPERAND_INVALID,
            status::BAD_FILTER_OPERAND_INVALID,
        ),
        (
            vec![(O::IS_NULL, vec![op(field("Nonsense"))])],
            status::BAD_FILTER_OPERAND_INVALID,
            status::BAD_NODE_ID_UNKNOWN,
        ),
        (
            vec![(O::OF_TYPE, vec![literal(NodeId::numeric(1, 1))])],
            status::BAD_FILTER_OPERAND_INVALID,
            status::BAD_TYPE_DEFINITION_INVALID,
        ),
        (
            vec![(O::OF_TYPE, vec![literal(1_i32)])],
            status::BAD_FILTER_OPERAND_INVALID,
            status::BAD_FILTER_LITERAL_INVALID,
        ),
    ];
    for (elements, of_element, of_operand) in cases {
        let name = format!("{elements:?}");
        let result = created(filter(vec![field("Severity")], elements));
        assert_eq!(result.status_code, status::BAD_EVENT_FILTER_INVALID, "{name}");
        let told = result.filter_result.downcast_ref::<EventFilterResult>().expect("a filter result");
        let element = &told.where_clause_result.element_results[0];
        assert_eq!(element.status_code, of_element, "{name}");
        let operand = element.operand_status_codes.first().copied().unwrap_or_default();
        assert_eq!(operand, of_operand, "{name}");
    }
}

#[test]
fn filters_that_do_not_fit_what_is_monitored() {
    let mut plant = Plant::new();
    let value = variable(&plant.server, 1, scalar(6), 0_i32);
    let silent = add(&plant.server, 2, ClassAttributes::Object { event_notifier: 0 });
    let id = plant.subscribe();
    let all = || filter(vec![field("Severity")], vec![]);
    let mut refused = |item| plant.monitor(id, vec![item]).remove(0).status_code;
    assert_eq!(refused(monitoring(&silent, 1, 1, all())), status::BAD_NOT_SUPPORTED);
    assert_eq!(refused(monitoring(value.id(), 1, 1, all())), status::BAD_ATTRIBUTE_ID_INVALID);
    assert_eq!(refused(monitoring(&SERVER, 1, 1, EventFilter::default())), status::BAD_EVENT_FILTER_INVALID);
    let mut without = reporting(&SERVER, 1, 1);
    without.item_to_monitor.attribute_id = AttributeId::EventNotifier as u32;
    assert_eq!(refused(without.clone()), status::BAD_EVENT_FILTER_INVALID);
    without.requested_parameters.filter = ExtensionObject::new(uaforge_types::DataChangeFilter::default());
    assert_eq!(refused(without), status::BAD_FILTER_NOT_ALLOWED);
    let mut event_filter_of_value = reporting(value.id(), 1, 1);
    event_filter_of_value.requested_parameters.filter = ExtensionObject::new(all());
    assert_eq!(refused(event_filter_of_value), status::BAD_FILTER_NOT_ALLOWED);
}

#[test]
fn lost_events_are_told_where_they_are_missing() {
    for discard_oldest in [true, false] {
        let mut plant = Plant::new();
        let id = plant.subscribe();
        let select = vec![field("EventType"), field("Severity")];
        let mut item = monitoring(&SERVER, 7, 2, filter(select, vec![]));
        item.requested_parameters.discard_oldest = discard_oldest;
        plant.monitor_one(id, item);
        for severity in 1..=5 {
            plant.emit(Event::new(DEVICE_FAILURE).severity(severity)).expect("it is emitted");
        }
        let heard: Vec<(NodeId, u16)> = plant
            .heard()
            .into_iter()
            .map(|(_, fields)| match fields.as_slice() {
                [Variant::NodeId(event_type), Variant::UInt16(severity)] => (event_type.clone(), *severity),
                other => panic!("{other:?}"),
            })
            .collect();
        let lost = (OVERFLOW, 500);
        let expected = if discard_oldest {
            vec![lost, (DEVICE_FAILURE, 4), (DEVICE_FAILURE, 5)]
        } else {
            vec![(DEVICE_FAILURE, 1), (DEVICE_FAILURE, 5), lost]
        };
        assert_eq!(heard, expected);
        // What was told is over.
        plant.emit(Event::new(DEVICE_FAILURE).severity(6)).expect("it is emitted");
        assert_eq!(plant.heard().len(), 1);
    }
}

#[test]
fn queue_sizes_of_event_items() {
    let limits = Limits {
        subscriptions: SubscriptionLimits { max_queue_size: 50, ..Default::default() },
        ..Default::default()
    };
    let mut plant = Plant::limited(limits);
    let id = plant.subscribe();
    let mut revised = |size| {
        let item = monitoring(&SERVER, 1, size, filter(vec![field("Severity")], vec![]));
        plant.monitor(id, vec![item]).remove(0).revised_queue_size
    };
    assert_eq!([revised(0), revised(1), revised(20), revised(u32::MAX)], [50, 1, 20, 50]);
}

#[test]
fn a_filter_of_thousands_of_parts() {
    use FilterOperator as O;
    // A chain as deep as is allowed, evaluated without recursion.
    let mut elements: Elements = (1..1_000).map(|next| (O::NOT, vec![element(next)])).collect();
    elements.push((O::IS_NULL, vec![op(field("Severity"))]));
    assert!(passes(elements.clone(), Event::new(DEVICE_FAILURE)));
    elements.push((O::NOT, vec![literal(true)]));
    let result = created(filter(vec![field("Severity")], elements));
    assert_eq!(result.status_code, status::BAD_TOO_MANY_OPERATIONS);
    let result = created(filter(vec![field("Severity"); 1_001], vec![]));
    assert_eq!(result.status_code, status::BAD_TOO_MANY_OPERATIONS);
}

#[test]
fn a_disabled_item_hears_nothing_and_a_deleted_one_neither() {
    let (mut plant, item) = listening(10, filter(vec![field("Severity")], vec![]));
    let mode = |monitoring_mode| uaforge_types::SetMonitoringModeRequest {
        subscription_id: 0,
        monitoring_mode,
        monitored_item_ids: Array::from(vec![item]),
        ..Default::default()
    };
    let id = plant.subscribe();
    let other = plant.monitor_one(id, monitoring(&SERVER, 8, 10, filter(vec![field("Severity")], vec![])));
    let mut request = mode(MonitoringMode::DISABLED);
    (request.subscription_id, request.monitored_item_ids) = (id, Array::from(vec![other]));
    plant.client.call(request).expect("results");
    plant.emit(Event::new(DEVICE_FAILURE)).expect("it is emitted");
    assert_eq!(plant.heard().iter().map(|event| event.0).collect::<Vec<_>>(), [7]);
    plant
        .client
        .call(uaforge_types::DeleteSubscriptionsRequest {
            subscription_ids: Array::from(vec![id]),
            ..Default::default()
        })
        .expect("results");
    plant.emit(Event::new(DEVICE_FAILURE)).expect("it is emitted");
    assert_eq!(plant.heard().len(), 1);
}

/// Users receive no events of one type.
struct NoProgress;

impl AccessControl for NoProgress {
    fn receives_events(&self, _access: Access, node: NodeIdRef<'_>) -> bool {
        node != PROGRESS.as_ref()
    }
}

#[test]
fn events_that_are_not_for_the_user() {
    let mut plant = Plant::with(builder().access_control(NoProgress));
    let id = plant.subscribe();
    plant.monitor_one(id, monitoring(&SERVER, 1, 10, filter(vec![field("EventType")], vec![])));
    for event_type in [PROGRESS, DEVICE_FAILURE] {
        plant.emit(Event::new(event_type)).expect("it is emitted");
    }
    assert_eq!(plant.heard(), [(1, vec![Variant::NodeId(DEVICE_FAILURE)])]);
}

#[test]
fn values_and_events_in_one_message() {
    let mut plant = Plant::new();
    let value = variable(&plant.server, 1, scalar(6), 0_i32);
    let id = plant.subscribe();
    plant.monitor_one(id, reporting(value.id(), 1, 1));
    plant.monitor_one(id, monitoring(&SERVER, 2, 1, filter(vec![field("Severity")], vec![])));
    plant.emit(Event::new(DEVICE_FAILURE)).expect("it is emitted");
    plant.publish(1);
    plant.pass(100);
    let told = plant.told_one();
    assert_eq!(crate::harness::changes(&told).len(), 1);
    assert_eq!(events(&told), [(2, vec![Variant::UInt16(500)])]);
}
