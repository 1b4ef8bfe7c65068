//! Values of the Server object that are set once: namespaces, capabilities, limits, build information
//! (OPC 10000-5 §6.3).

use std::sync::Arc;

use uaforge_codec::{
    Array, DateTime, IdKind, IntoVariant, ModelId, NamespaceMap, StatusCode, UaString, Variant,
};
use uaforge_nodes::{AddressSpace, Edit, ValueCell};
use uaforge_types::{ServerState, ServerStatusDataType, ids};

use crate::application::Application;
use crate::config::Limits;

/// ServiceLevel of a server that works (OPC 10000-4 §6.6.2.4.2).
const HEALTHY: u8 = 255;
/// ServiceLevel of a server whose clients are to disconnect.
pub(crate) const MAINTENANCE: u8 = 0;

/// Cells of the Server object that change while the server runs.
pub(crate) struct StandardCells {
    pub(crate) state: Arc<ValueCell>,
    pub(crate) seconds_till_shutdown: Arc<ValueCell>,
    pub(crate) service_level: Arc<ValueCell>,
}

/// Attaches a cell with a value to a Variable of the base model. One that this version of the model does
/// not have is left out.
fn attach<K: IdKind>(
    edit: &mut Edit,
    id: ModelId<K>,
    value: impl IntoVariant,
    time: DateTime,
) -> Result<Arc<ValueCell>, StatusCode> {
    let cell = Arc::new(ValueCell::new(Variant::Null));
    cell.set(value, Some(time));
    if let Ok(id) = id.resolve(NamespaceMap::ns0_only())
        && edit.snapshot().node(id.as_ref()).is_some()
    {
        edit.attach_cell(&id, Arc::clone(&cell))?;
    }
    Ok(cell)
}

/// Gives the Server object its values.
pub(crate) fn set_up(
    space: &AddressSpace,
    application: &Application,
    limits: &Limits,
    status: &ServerStatusDataType,
) -> Result<StandardCells, StatusCode> {
    let time = status.start_time;
    space.edit(|edit| {
        let uris: Vec<UaString> = space.namespaces().iter().map(UaString::from).collect();
        let servers = vec![UaString::from(application.uri.as_str())];
        attach(edit, ids::variable::SERVER_NAMESPACE_ARRAY, Array::from(uris), time)?;
        attach(edit, ids::variable::SERVER_SERVER_ARRAY, Array::from(servers), time)?;
        let service_level = attach(edit, ids::variable::SERVER_SERVICE_LEVEL, HEALTHY, time)?;
        attach(edit, ids::variable::SERVER_AUDITING, false, time)?;
        capabilities(edit, limits, time)?;
        operation_limits(edit, limits, time)?;
        build_info(edit, status, time)?;
        attach(edit, ids::variable::SERVER_SERVER_STATUS_START_TIME, time, time)?;
        let state = attach(edit, ids::variable::SERVER_SERVER_STATUS_STATE, ServerState::RUNNING.0, time)?;
        let seconds = attach(edit, ids::variable::SERVER_SERVER_STATUS_SECONDS_TILL_SHUTDOWN, 0u32, time)?;
        attach(
            edit,
            ids::variable::SERVER_SERVER_STATUS_SHUTDOWN_REASON,
            status.shutdown_reason.clone(),
            time,
        )?;
        Ok(StandardCells { state, seconds_till_shutdown: seconds, service_level })
    })
}

/// ServerCapabilities (OPC 10000-5 §6.3.2).
fn capabilities(edit: &mut Edit, limits: &Limits, time: DateTime) -> Result<(), StatusCode> {
    use ids::variable as v;
    let profiles = vec![UaString::from("http://opcfoundation.org/UA-Profile/Server/CoreFacet")];
    attach(edit, v::SERVER_SERVER_CAPABILITIES_SERVER_PROFILE_ARRAY, Array::from(profiles), time)?;
    attach(edit, v::SERVER_SERVER_CAPABILITIES_LOCALE_ID_ARRAY, Array::<UaString>::from(Vec::new()), time)?;
    subscription_limits(edit, limits, time)?;
    let points = limits.max_continuation_points;
    attach(edit, v::SERVER_SERVER_CAPABILITIES_MAX_BROWSE_CONTINUATION_POINTS, points, time)?;
    attach(edit, v::SERVER_SERVER_CAPABILITIES_MAX_QUERY_CONTINUATION_POINTS, 0u16, time)?;
    attach(edit, v::SERVER_SERVER_CAPABILITIES_MAX_HISTORY_CONTINUATION_POINTS, 0u16, time)?;
    attach(edit, v::SERVER_SERVER_CAPABILITIES_MAX_ARRAY_LENGTH, limits.max_array_length, time)?;
    attach(edit, v::SERVER_SERVER_CAPABILITIES_MAX_STRING_LENGTH, limits.max_string_length, time)?;
    attach(edit, v::SERVER_SERVER_CAPABILITIES_MAX_BYTE_STRING_LENGTH, limits.max_string_length, time)?;
    attach(edit, v::SERVER_SERVER_CAPABILITIES_MAX_SESSIONS, limits.max_sessions, time)?;
    Ok(())
}

/// What ServerCapabilities say of subscriptions.
fn subscription_limits(edit: &mut Edit, limits: &Limits, time: DateTime) -> Result<(), StatusCode> {
    use ids::variable as v;
    let subscriptions = &limits.subscriptions;
    let fastest = subscriptions.min_sampling_interval.as_secs_f64() * 1000.0;
    attach(edit, v::SERVER_SERVER_CAPABILITIES_MIN_SUPPORTED_SAMPLE_RATE, fastest, time)?;
    let most = subscriptions.max_subscriptions;
    attach(edit, v::SERVER_SERVER_CAPABILITIES_MAX_SUBSCRIPTIONS, most, time)?;
    let most = subscriptions.max_subscriptions_per_session;
    attach(edit, v::SERVER_SERVER_CAPABILITIES_MAX_SUBSCRIPTIONS_PER_SESSION, most, time)?;
    let most = subscriptions.max_monitored_items;
    attach(edit, v::SERVER_SERVER_CAPABILITIES_MAX_MONITORED_ITEMS, most, time)?;
    let most = subscriptions.max_monitored_items_per_subscription;
    attach(edit, v::SERVER_SERVER_CAPABILITIES_MAX_MONITORED_ITEMS_PER_SUBSCRIPTION, most, time)?;
    let most = subscriptions.max_queue_size;
    attach(edit, v::SERVER_SERVER_CAPABILITIES_MAX_MONITORED_ITEMS_QUEUE_SIZE, most, time)?;
    let most = subscriptions.max_select_clauses;
    attach(edit, v::SERVER_SERVER_CAPABILITIES_MAX_SELECT_CLAUSE_PARAMETERS, most, time)?;
    let most = subscriptions.max_where_elements;
    attach(edit, v::SERVER_SERVER_CAPABILITIES_MAX_WHERE_CLAUSE_PARAMETERS, most, time)?;
    Ok(())
}

/// OperationLimits (OPC 10000-5 §6.3.11).
fn operation_limits(edit: &mut Edit, limits: &Limits, time: DateTime) -> Result<(), StatusCode> {
    use ids::variable as v;
    let operations = &limits.operations;
    let read = operations.max_nodes_per_read;
    attach(edit, v::SERVER_SERVER_CAPABILITIES_OPERATION_LIMITS_MAX_NODES_PER_READ, read, time)?;
    let write = operations.max_nodes_per_write;
    attach(edit, v::SERVER_SERVER_CAPABILITIES_OPERATION_LIMITS_MAX_NODES_PER_WRITE, write, time)?;
    let register = operations.max_nodes_per_register_nodes;
    attach(
        edit,
        v::SERVER_SERVER_CAPABILITIES_OPERATION_LIMITS_MAX_NODES_PER_REGISTER_NODES,
        register,
        time,
    )?;
    let browse = operations.max_nodes_per_browse;
    attach(edit, v::SERVER_SERVER_CAPABILITIES_OPERATION_LIMITS_MAX_NODES_PER_BROWSE, browse, time)?;
    let call = operations.max_nodes_per_method_call;
    attach(edit, v::SERVER_SERVER_CAPABILITIES_OPERATION_LIMITS_MAX_NODES_PER_METHOD_CALL, call, time)?;
    let translate = operations.max_nodes_per_translate;
    attach(
        edit,
        v::SERVER_SERVER_CAPABILITIES_OPERATION_LIMITS_MAX_NODES_PER_TRANSLATE_BROWSE_PATHS_TO_NODE_IDS,
        translate,
        time,
    )?;
    let items = operations.max_monitored_items_per_call;
    attach(edit, v::SERVER_SERVER_CAPABILITIES_OPERATION_LIMITS_MAX_MONITORED_ITEMS_PER_CALL, items, time)?;
    Ok(())
}

/// The components of ServerStatus/BuildInfo (OPC 10000-5 §12.4).
fn build_info(edit: &mut Edit, status: &ServerStatusDataType, time: DateTime) -> Result<(), StatusCode> {
    use ids::variable as v;
    let build = &status.build_info;
    attach(edit, v::SERVER_SERVER_STATUS_BUILD_INFO, build.clone(), time)?;
    attach(edit, v::SERVER_SERVER_STATUS_BUILD_INFO_PRODUCT_URI, build.product_uri.clone(), time)?;
    let manufacturer = build.manufacturer_name.clone();
    attach(edit, v::SERVER_SERVER_STATUS_BUILD_INFO_MANUFACTURER_NAME, manufacturer, time)?;
    attach(edit, v::SERVER_SERVER_STATUS_BUILD_INFO_PRODUCT_NAME, build.product_name.clone(), time)?;
    attach(edit, v::SERVER_SERVER_STATUS_BUILD_INFO_SOFTWARE_VERSION, build.software_version.clone(), time)?;
    attach(edit, v::SERVER_SERVER_STATUS_BUILD_INFO_BUILD_NUMBER, build.build_number.clone(), time)?;
    attach(edit, v::SERVER_SERVER_STATUS_BUILD_INFO_BUILD_DATE, build.build_date, time)?;
    Ok(())
}
