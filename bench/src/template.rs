//! Requests that are encoded once, and what each response to them has to look like, byte for byte.

use core::ops::Range;

use anyhow::{Result, ensure};
use uaforge_codec::{
    DataValue, Decode as _, DecodeContext, Decoder, Encode as _, EncodeContext, Encoder, FromVariant as _,
    NodeId, StatusCode, UaString, Variant,
};
use uaforge_types::{
    BrowseDescription, BrowseDirection, BrowseRequest, BrowseResponse, ReadRequest, ReadResponse,
    ReadValueId, ResponseHeader, ServiceRequest, TimestampsToReturn, WriteRequest, WriteResponse, WriteValue,
};

use crate::wire::{Connection, HEADERS, body};

/// Which request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// Read of this many values, with both timestamps.
    Read(usize),
    /// Write of this many values, without timestamps.
    Write(usize),
    /// Browse of the Server object: all references, all fields.
    Browse,
}

/// The namespace of the variables, unless they are in the one of the application.
const NAMESPACE: &str = "urn:uaforge:bench";
/// There are this many variables: `v0`, `v1`, …; the value of `vN` is N.
const COUNT: usize = 1_000;

/// The variables of a server under test.
#[derive(Clone, Copy, Debug)]
pub struct Variables {
    namespace: u16,
    count: usize,
}

impl Variables {
    /// Asks a server for its namespaces.
    ///
    /// # Errors
    /// It does not tell.
    pub fn find(connection: &mut Connection) -> Result<Self> {
        let item = ReadValueId { node_id: NodeId::numeric(0, 2255), attribute_id: 13, ..Default::default() };
        let response =
            connection.call(ReadRequest { nodes_to_read: vec![item].into(), ..Default::default() })?;
        let value = response.results.first().and_then(DataValue::value).cloned().unwrap_or_default();
        let uris = Vec::<UaString>::from_variant(&value)?;
        let index = uris.iter().position(|uri| uri.as_str() == Some(NAMESPACE)).unwrap_or(1);
        Ok(Self { namespace: u16::try_from(index)?, count: COUNT })
    }

    fn id(&self, number: usize) -> NodeId {
        NodeId::string(self.namespace, format!("v{}", number % self.count))
    }
}

/// A request as a chunk, with places to fill in, and its response.
#[derive(Clone, Debug)]
pub struct Template {
    /// A whole chunk.
    pub frame: Vec<u8>,
    /// Offset of the request handle in it.
    pub handle_at: usize,
    /// What comes back.
    pub expected: Expected,
}

/// The response to expect.
#[derive(Clone, Debug)]
pub struct Expected {
    /// A whole chunk as it came once.
    frame: Vec<u8>,
    /// The parts that have to be the same each time.
    same: Vec<Range<usize>>,
}

/// Offsets in a response chunk: headers, type id (four bytes), timestamp, handle, result.
const TIMESTAMP_AT: usize = HEADERS + 4;
const HANDLE_AT: usize = TIMESTAMP_AT + 8;

impl Expected {
    /// The length of the response in bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.frame.len()
    }

    /// Whether there is no response; there always is one.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.frame.is_empty()
    }

    /// Whether `frame` is that response, to the request with this handle.
    #[must_use]
    pub fn accepts(&self, frame: &[u8], handle: u32) -> bool {
        frame.len() == self.frame.len()
            && frame.get(HANDLE_AT..HANDLE_AT + 4) == Some(&handle.to_le_bytes())
            && self.same.iter().all(|range| frame.get(range.clone()) == self.frame.get(range.clone()))
    }

    /// Any frame of this length, as from a peer that only echoes.
    #[must_use]
    pub fn of_length(frame: Vec<u8>) -> Self {
        let headers = 0..4;
        Self { frame, same: vec![headers] }
    }
}

impl Template {
    /// Encodes the request for a connection, sends it once, and checks every part of the response.
    ///
    /// # Errors
    /// The response is not what the values of the server have to give.
    pub fn prepare(connection: &mut Connection, request: Request) -> Result<Self> {
        let variables = &Variables::find(connection)?;
        match request {
            Request::Read(nodes) => prepare(connection, read(nodes, variables), |bytes| {
                expect_values(bytes, nodes, variables.count)
            }),
            Request::Write(nodes) => {
                prepare(connection, write(nodes, variables), |bytes| expect_written(bytes, nodes))
            }
            Request::Browse => prepare(connection, browse(), expect_references),
        }
    }
}

fn read(nodes: usize, variables: &Variables) -> ReadRequest {
    let item = |number| ReadValueId { node_id: variables.id(number), attribute_id: 13, ..Default::default() };
    ReadRequest {
        timestamps_to_return: TimestampsToReturn::BOTH,
        nodes_to_read: (0..nodes).map(item).collect::<Vec<_>>().into(),
        ..Default::default()
    }
}

fn write(nodes: usize, variables: &Variables) -> WriteRequest {
    let item = |number: usize| WriteValue {
        node_id: variables.id(number),
        attribute_id: 13,
        value: DataValue::new(Variant::Double((number % variables.count) as f64)),
        ..Default::default()
    };
    WriteRequest { nodes_to_write: (0..nodes).map(item).collect::<Vec<_>>().into(), ..Default::default() }
}

fn browse() -> BrowseRequest {
    let server = BrowseDescription {
        node_id: NodeId::numeric(0, 2253),
        browse_direction: BrowseDirection::FORWARD,
        reference_type_id: NodeId::numeric(0, 33),
        include_subtypes: true,
        result_mask: 63,
        ..Default::default()
    };
    BrowseRequest { nodes_to_browse: vec![server].into(), ..Default::default() }
}

fn prepare<Q: ServiceRequest>(
    connection: &mut Connection,
    mut request: Q,
    parts: impl Fn(&[u8]) -> Result<Vec<Range<usize>>>,
) -> Result<Template> {
    use std::io::Write as _;

    let handle = 77;
    *request.header_mut() = connection.header(handle);
    let mut before_handle = Vec::new();
    let mut e = Encoder::new(&mut before_handle, EncodeContext::default());
    NodeId::numeric(0, Q::DESCRIPTOR.binary_id()).encode(&mut e);
    connection.session.encode(&mut e);
    let handle_at = HEADERS + before_handle.len() + 8;
    let frame = connection.frame(&body(&request));
    ensure!(frame.get(handle_at..handle_at + 4) == Some(&handle.to_le_bytes()), "the handle is elsewhere");
    ensure!(frame.len() <= connection.send_limit, "a request of {} bytes does not fit a chunk", frame.len());
    connection.stream.write_all(&frame)?;
    let answer = connection.any_chunk()?;
    ensure!(answer.get(..4) == Some(b"MSGF"), "the response is no single chunk: {:?}", answer.get(..16));
    let volatile = parts(answer.get(HEADERS..).unwrap_or_default())?;
    let mut same = Vec::new();
    // The headers are checked by whoever counts sequence numbers; the type id begins what is compared.
    let mut from = HEADERS;
    let header = core::iter::once(TIMESTAMP_AT..HANDLE_AT + 4);
    let body_parts = volatile.into_iter().map(|range| range.start + HEADERS..range.end + HEADERS);
    for range in header.chain(body_parts) {
        same.push(from..range.start);
        from = range.end;
    }
    same.push(from..answer.len());
    same.retain(|range| !range.is_empty());
    let expected = Expected { frame: answer, same };
    ensure!(expected.accepts(&expected.frame, handle), "the response does not repeat the handle");
    Ok(Template { frame, handle_at, expected })
}

/// Reads a response as a whole, and gives a decoder that stands behind its header.
fn opened<'a, T: uaforge_types::ServiceResponse>(bytes: &'a [u8]) -> Result<(T, Decoder<'a>)> {
    let whole: T = crate::wire::response(bytes)?;
    ensure!(whole.header().service_result == StatusCode::GOOD, "{}", whole.header().service_result);
    let mut d = Decoder::new(bytes, DecodeContext::default());
    NodeId::decode(&mut d)?;
    ResponseHeader::decode(&mut d)?;
    Ok((whole, d))
}

/// Checks the values, and finds their timestamps.
fn expect_values(bytes: &[u8], nodes: usize, count: usize) -> Result<Vec<Range<usize>>> {
    let (response, mut d) = opened::<ReadResponse>(bytes)?;
    ensure!(response.results.len() == nodes, "{} results for {nodes} nodes", response.results.len());
    let mut volatile = Vec::new();
    ensure!(d.u32()? as usize == nodes, "another number of results");
    for (number, result) in response.results.iter().enumerate() {
        let wanted = Variant::Double((number % count) as f64);
        ensure!(result.value() == Some(&wanted), "v{} is {result:?}", number % count);
        let mask = d.rest().first().copied().unwrap_or_default();
        DataValue::decode(&mut d)?;
        let end = bytes.len() - d.remaining();
        // Source and server timestamp and their picoseconds stand at the end (OPC 10000-6 §5.2.2.17).
        let tail: usize = [(4, 8), (16, 2), (8, 8), (32, 2)]
            .iter()
            .filter(|(bit, _)| mask & bit != 0)
            .map(|(_, len)| len)
            .sum();
        volatile.push(end - tail..end);
    }
    Ok(volatile)
}

fn expect_written(bytes: &[u8], nodes: usize) -> Result<Vec<Range<usize>>> {
    let (response, _) = opened::<WriteResponse>(bytes)?;
    ensure!(response.results.len() == nodes, "{} results for {nodes} nodes", response.results.len());
    ensure!(response.results.iter().all(|status| *status == StatusCode::GOOD), "{:?}", response.results);
    Ok(Vec::new())
}

fn expect_references(bytes: &[u8]) -> Result<Vec<Range<usize>>> {
    let (response, _) = opened::<BrowseResponse>(bytes)?;
    ensure!(response.results.len() == 1, "{} results for one node", response.results.len());
    for result in response.results.iter() {
        ensure!(result.status_code == StatusCode::GOOD, "{}", result.status_code);
        ensure!(result.continuation_point.is_null(), "the references do not fit one page");
        ensure!(result.references.len() >= 8, "{} references of the Server object", result.references.len());
    }
    Ok(Vec::new())
}
