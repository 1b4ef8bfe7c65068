//! What a status means for the user of a client, and what to do about it.

use std::fmt;

use uaforge_codec::StatusCode;
use uaforge_types::status as s;

/// Status, meaning, advice. The meanings are those of OPC 10000-4 §7.38 in other words.
const ADVICE: &[(StatusCode, &str, &str)] = &[
    (s::BAD_TIMEOUT, "it took too long", "give the call more time, or ask for less at once"),
    (
        s::BAD_NODE_ID_UNKNOWN,
        "the server has no such node",
        "check identifier and namespace index: the index differs between servers, the namespace URI does not",
    ),
    (s::BAD_NODE_ID_INVALID, "the NodeId is malformed", "check its type of identifier"),
    (s::BAD_NO_MATCH, "no such child", "check the browse name and its namespace"),
    (
        s::BAD_ATTRIBUTE_ID_INVALID,
        "the node does not have this attribute",
        "check its NodeClass: only variables have a Value",
    ),
    (
        s::BAD_INDEX_RANGE_INVALID,
        "the index range is malformed",
        "write it as `2`, `0:9` or `1:2,0:1`, the smaller number first",
    ),
    (
        s::BAD_INDEX_RANGE_NO_DATA,
        "the value has no elements in the index range",
        "read the whole value to see its size",
    ),
    (
        s::BAD_INDEX_RANGE_DATA_MISMATCH,
        "value and index range differ in size",
        "write as many elements as the range has",
    ),
    (s::BAD_DATA_ENCODING_INVALID, "the data encoding is malformed", "leave it out"),
    (s::BAD_DATA_ENCODING_UNSUPPORTED, "the server lacks this data encoding", "leave it out"),
    (
        s::BAD_TYPE_MISMATCH,
        "the value is of another type than the variable",
        "read the DataType and ValueRank attributes; numbers are not converted",
    ),
    (
        s::BAD_OUT_OF_RANGE,
        "the value is outside of what the server accepts",
        "look at the variable's EURange or InstrumentRange",
    ),
    (s::BAD_NOT_READABLE, "the variable may not be read", "look at its AccessLevel"),
    (s::BAD_NOT_WRITABLE, "the node may not be written", "look at its AccessLevel or WriteMask"),
    (
        s::BAD_USER_ACCESS_DENIED,
        "this user may not do that",
        "look at UserAccessLevel, or connect as another user",
    ),
    (
        s::BAD_WRITE_NOT_SUPPORTED,
        "the server does not take this combination of value, status and timestamps",
        "write the value only",
    ),
    (
        s::BAD_WAITING_FOR_INITIAL_DATA,
        "the server has no value of it yet",
        "read it again later, or subscribe",
    ),
    (s::BAD_NO_COMMUNICATION, "the server does not reach its device", "look at the device"),
    (s::BAD_NOT_CONNECTED, "the other side cannot be reached", "look at its address and power"),
    (s::BAD_DEVICE_FAILURE, "the device behind the server has failed", "look at the device"),
    (s::BAD_SENSOR_FAILURE, "the sensor behind the server has failed", "look at the sensor"),
    (s::BAD_METHOD_INVALID, "the object has no such Method", "check object and Method id"),
    (s::BAD_ARGUMENTS_MISSING, "the Method needs more arguments", "read its InputArguments"),
    (s::BAD_TOO_MANY_ARGUMENTS, "the Method takes fewer arguments", "read its InputArguments"),
    (
        s::BAD_INVALID_ARGUMENT,
        "an argument is not accepted",
        "look at inputArgumentResults, which tells the argument",
    ),
    (s::BAD_NOT_EXECUTABLE, "the Method cannot be called now", "look at its Executable attribute"),
    (s::BAD_NOTHING_TO_DO, "the request has no operations", "call it with at least one"),
    (
        s::BAD_TOO_MANY_OPERATIONS,
        "the server takes fewer operations in one call",
        "use the session's own calls, which are taken apart, or look at its OperationLimits",
    ),
    (
        s::BAD_REQUEST_TOO_LARGE,
        "the request is larger than the server accepts",
        "send less at once, a large array by index ranges",
    ),
    (
        s::BAD_RESPONSE_TOO_LARGE,
        "the response is larger than one side accepts",
        "ask for less at once, a large array by index ranges, or raise max_message_size",
    ),
    (
        s::BAD_ENCODING_LIMITS_EXCEEDED,
        "a message goes beyond the limits of one side",
        "send or ask for less at once",
    ),
    (
        s::BAD_NO_CONTINUATION_POINTS,
        "the server has no continuation point free",
        "browse fewer nodes at once, or release points that are not needed",
    ),
    (
        s::BAD_CONTINUATION_POINT_INVALID,
        "the server has given the continuation point up",
        "browse the node again from the start",
    ),
    (s::BAD_SERVICE_UNSUPPORTED, "the server does not have this service", "look at its profiles"),
    (
        s::BAD_SESSION_ID_INVALID,
        "the server does not know the session: it timed out, or the server was restarted",
        "connect again",
    ),
    (s::BAD_SESSION_CLOSED, "the session was closed", "connect again"),
    (s::BAD_SESSION_NOT_ACTIVATED, "the session is not activated", "connect again"),
    (
        s::BAD_TOO_MANY_SESSIONS,
        "the server has no room for a session more",
        "close others, or wait for their timeout",
    ),
    (s::BAD_CONNECTION_CLOSED, "the connection is gone", "connect again"),
    (s::BAD_SECURE_CHANNEL_CLOSED, "the channel is closed", "connect again"),
    (s::BAD_SECURE_CHANNEL_ID_INVALID, "the server does not know the channel", "connect again"),
    (
        s::BAD_TCP_ENDPOINT_URL_INVALID,
        "the server does not have this address",
        "check the path behind host and port",
    ),
    (
        s::BAD_IDENTITY_TOKEN_REJECTED,
        "the server does not accept this kind of user",
        "look at the endpoint's user identity tokens",
    ),
    (s::BAD_REQUEST_CANCELLED_BY_CLIENT, "it was cancelled", "nothing: somebody asked for it"),
    (s::BAD_SHUTDOWN, "the server is shutting down", "connect again later"),
    (s::BAD_SERVER_TOO_BUSY, "the server has too much to do", "try again later, less at once"),
    (s::BAD_TCP_SERVER_TOO_BUSY, "the server has too much to do", "try again later"),
];

/// A status with its name, number, meaning and advice, as far as they are known.
pub(crate) struct StatusText(pub(crate) StatusCode);

impl fmt::Display for StatusText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match s::name(self.0) {
            Some(name) => write!(f, "{name} ({})", self.0)?,
            None => write!(f, "status {}", self.0)?,
        }
        match meaning(self.0) {
            Some((meaning, advice)) => write!(f, ": {meaning}; {advice}"),
            None => Ok(()),
        }
    }
}

/// What a status means and what to do.
pub(crate) fn meaning(status: StatusCode) -> Option<(&'static str, &'static str)> {
    // The low half says more about a value, not about what has happened.
    let code = status.0 & 0xFFFF_0000;
    ADVICE.iter().find(|(known, ..)| known.0 == code).map(|(_, meaning, advice)| (*meaning, *advice))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_told_with_its_meaning() {
        assert_eq!(
            StatusText(s::BAD_NOT_WRITABLE).to_string(),
            "Bad_NotWritable (0x803B0000): the node may not be written; look at its AccessLevel or WriteMask"
        );
        assert_eq!(StatusText(s::BAD_NOT_IMPLEMENTED).to_string(), "Bad_NotImplemented (0x80400000)");
        assert_eq!(StatusText(StatusCode(0x8FFF_0001)).to_string(), "status 0x8FFF0001");
    }

    #[test]
    fn each_status_once() {
        for (index, (status, ..)) in ADVICE.iter().enumerate() {
            assert!(ADVICE.iter().skip(index + 1).all(|(other, ..)| other != status), "{status}");
        }
    }
}
