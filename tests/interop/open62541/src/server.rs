//! The library's server with the nodes of a space file.

use std::ffi::{CString, c_void};
use std::net::TcpListener;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use open62541_sys as ua;
use serde_json::Value;
use uaforge_codec::{Guid, LocalizedText, NodeId, QualifiedName, StatusCode, Variant};
use uaforge_types::{Argument, VariableAttributes, status};

use crate::c::{Kind, Owned, get, good};
use crate::interop::{Namespace, items, methods, number, text, value};

const ORGANIZES: u32 = 35;
const HAS_COMPONENT: u32 = 47;
const BASE_OBJECT_TYPE: u32 = 58;
const BASE_DATA_VARIABLE_TYPE: u32 = 63;

/// Variables of the bench; they stand in the server's own namespace.
const BENCH_VARIABLES: u32 = 1_000;
const BENCH_NAMESPACE: Namespace = Namespace(1);
/// Sessions and channels that the bench may open.
const BENCH_SESSIONS: u16 = 10_000;

/// Serves the nodes of a space file at a free port until it is interrupted.
pub fn run(space: &str) -> Result<(), String> {
    let space = std::fs::read_to_string(space).map_err(|error| error.to_string())?;
    let space: Value = serde_json::from_str(&space).map_err(|error| error.to_string())?;
    let port = free_port().map_err(|error| error.to_string())?;
    let server = Server::new(port)?;
    Filler::new(&server, text(&space, "uri"))?.fill(&space)?;
    serve(&server, port, Arc::default())
}

/// Serves the variables of the bench at a port until it is interrupted or its input ends.
pub fn bench(port: u16) -> Result<(), String> {
    let server = Server::new(port)?;
    Filler { server: &server, namespace: BENCH_NAMESPACE }.fill_for_bench()?;
    let stopped = Arc::new(AtomicBool::new(false));
    let input_ended = Arc::clone(&stopped);
    std::thread::spawn(move || {
        // An input that fails has ended as well.
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        input_ended.store(true, Ordering::Relaxed);
    });
    serve(&server, port, stopped)
}

fn serve(server: &Server, port: u16, stopped: Arc<AtomicBool>) -> Result<(), String> {
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&stopped)).map_err(|error| error.to_string())?;
    }
    // SAFETY: the server is started once, run by this thread only, and stopped before it is given back.
    unsafe {
        good(ua::UA_Server_run_startup(server.0))?;
        println!("open62541 listens on opc.tcp://127.0.0.1:{port}");
        while !stopped.load(Ordering::Relaxed) {
            ua::UA_Server_run_iterate(server.0, true);
        }
        good(ua::UA_Server_run_shutdown(server.0))
    }
}

fn free_port() -> std::io::Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

/// A server of the library.
struct Server(*mut ua::UA_Server);

impl Server {
    fn new(port: u16) -> Result<Self, String> {
        // SAFETY: a server with its configuration, of which the library owns all parts: the logger and
        // the address are made by its own functions.
        unsafe {
            let mut config = Box::new(std::mem::zeroed::<ua::UA_ServerConfig>());
            config.logging = ua::UA_Log_Stdout_new(ua::UA_LogLevel::UA_LOGLEVEL_FATAL);
            good(ua::UA_ServerConfig_setMinimal(&mut *config, port, ptr::null()))?;
            let address =
                CString::new(format!("opc.tcp://127.0.0.1:{port}")).map_err(|error| error.to_string())?;
            if config.serverUrlsSize > 0 {
                let first = config.serverUrls;
                ua::UA_clear(first.cast(), Kind::of(ua::UA_TYPES_STRING).as_ptr());
                *first = ua::UA_String_fromChars(address.as_ptr());
            }
            config.maxSessions = BENCH_SESSIONS;
            config.maxSecureChannels = BENCH_SESSIONS;
            let server = ua::UA_Server_newWithConfig(&mut *config);
            if server.is_null() { Err("the library makes no server".to_owned()) } else { Ok(Self(server)) }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // SAFETY: the server came from UA_Server_newWithConfig and is given back once.
        unsafe { ua::UA_Server_delete(self.0) };
    }
}

struct Filler<'a> {
    server: &'a Server,
    namespace: Namespace,
}

impl<'a> Filler<'a> {
    fn new(server: &'a Server, uri: &str) -> Result<Self, String> {
        let uri = CString::new(uri).map_err(|error| error.to_string())?;
        // SAFETY: the text is taken for the call only.
        let index = unsafe { ua::UA_Server_addNamespace(server.0, uri.as_ptr()) };
        Ok(Self { server, namespace: Namespace(index) })
    }

    fn fill(&self, space: &Value) -> Result<(), String> {
        let folder = self.namespace.node("Peer")?;
        self.add_object(&folder, "Peer", (&NodeId::numeric(0, 85), ORGANIZES))?;
        let guid = NodeId::guid(self.namespace.0, Guid::default());
        self.add_object(&guid, "ByGuid", (&folder, HAS_COMPONENT))?;
        self.add_object(&NodeId::opaque(self.namespace.0, [0, 255]), "ByOpaque", (&folder, HAS_COMPONENT))?;
        for variable in items(space, "variables") {
            self.add_variable(&folder, variable).map_err(|error| format!("{variable}: {error}"))?;
        }
        for method in items(space, "methods") {
            self.add_method(&folder, method).map_err(|error| format!("{method}: {error}"))?;
        }
        Ok(())
    }

    fn fill_for_bench(&self) -> Result<(), String> {
        let folder = self.namespace.node("bench")?;
        self.add_object(&folder, "Bench", (&NodeId::numeric(0, 85), ORGANIZES))?;
        for number in 0..BENCH_VARIABLES {
            let name = format!("v{number}");
            let attributes = VariableAttributes {
                specified_attributes: u32::MAX,
                display_name: LocalizedText::from(name.as_str()),
                value: Variant::Double(f64::from(number)),
                data_type: NodeId::numeric(0, 11),
                value_rank: -1,
                access_level: 3,
                user_access_level: 3,
                ..Default::default()
            };
            self.add_variable_node(&folder, &name, &attributes)?;
        }
        Ok(())
    }

    fn add_object(&self, id: &NodeId, name: &str, parent: (&NodeId, u32)) -> Result<(), String> {
        let (id, parent, kind) = (node(id)?, node(parent.0)?, node(&NodeId::numeric(0, parent.1))?);
        let (name, definition) = (self.name(name)?, node(&NodeId::numeric(0, BASE_OBJECT_TYPE))?);
        // SAFETY: the library copies what it is given; the copies here are bitwise and live shorter than
        // the values that they are of.
        good(unsafe {
            ua::UA_Server_addObjectNode(
                self.server.0,
                id.copy(),
                parent.copy(),
                kind.copy(),
                name.copy(),
                definition.copy(),
                (&raw const ua::UA_ObjectAttributes_default).read(),
                ptr::null_mut(),
                ptr::null_mut(),
            )
        })
    }

    fn add_variable(&self, folder: &NodeId, variable: &Value) -> Result<(), String> {
        let name = text(variable, "name");
        let dimensions = items(variable, "dimensions").iter().filter_map(Value::as_u64);
        let mut dimensions: Vec<u32> = dimensions.filter_map(|length| u32::try_from(length).ok()).collect();
        // The library wants a length for each dimension, of which 0 is any.
        dimensions.resize(usize::try_from(number(variable, "rank", -1_i32)).unwrap_or(0), 0);
        let attributes = VariableAttributes {
            specified_attributes: u32::MAX,
            display_name: LocalizedText::from(name),
            value: value(text(variable, "value"))?,
            data_type: self.namespace.node(text(variable, "type"))?,
            value_rank: number(variable, "rank", -1),
            array_dimensions: dimensions.into(),
            access_level: number(variable, "access", 1),
            user_access_level: number(variable, "access", 1),
            ..Default::default()
        };
        self.add_variable_node(folder, name, &attributes)
    }

    fn add_variable_node(
        &self,
        folder: &NodeId,
        name: &str,
        attributes: &VariableAttributes,
    ) -> Result<(), String> {
        let id = node(&self.namespace.node(name)?)?;
        let (parent, kind) = (node(folder)?, node(&NodeId::numeric(0, HAS_COMPONENT))?);
        let definition = node(&NodeId::numeric(0, BASE_DATA_VARIABLE_TYPE))?;
        let name = self.name(name)?;
        let attributes = Owned::new(Kind::of(ua::UA_TYPES_VARIABLEATTRIBUTES), attributes)?;
        // SAFETY: as in `add_object`.
        good(unsafe {
            ua::UA_Server_addVariableNode(
                self.server.0,
                id.copy(),
                parent.copy(),
                kind.copy(),
                name.copy(),
                definition.copy(),
                attributes.copy(),
                ptr::null_mut(),
                ptr::null_mut(),
            )
        })
    }

    fn add_method(&self, folder: &NodeId, method: &Value) -> Result<(), String> {
        let name = text(method, "name");
        let arguments = |side| {
            let list =
                items(method, side).iter().map(methods::argument).collect::<Result<Vec<Argument>, _>>()?;
            let owned = list.iter().map(|argument| Owned::new(Kind::of(ua::UA_TYPES_ARGUMENT), argument));
            owned.collect::<Result<Vec<Owned>, String>>()
        };
        let (inputs, outputs) = (arguments("inputs")?, arguments("outputs")?);
        let id = node(&self.namespace.node(name)?)?;
        let (parent, kind) = (node(folder)?, node(&NodeId::numeric(0, HAS_COMPONENT))?);
        let browse_name = self.name(name)?;
        let display_name = Owned::new(Kind::of(ua::UA_TYPES_LOCALIZEDTEXT), &LocalizedText::from(name))?;
        // Lives as long as the process, as the node does.
        let context = Box::into_raw(Box::new(name.to_owned()));
        // SAFETY: as in `add_object`; the arguments are copied too, and `called` gets `context` back.
        good(unsafe {
            let inputs: Vec<ua::UA_Argument> = inputs.iter().map(|input| input.copy()).collect();
            let outputs: Vec<ua::UA_Argument> = outputs.iter().map(|output| output.copy()).collect();
            let mut attributes = (&raw const ua::UA_MethodAttributes_default).read();
            attributes.displayName = display_name.copy();
            attributes.executable = true;
            attributes.userExecutable = true;
            ua::UA_Server_addMethodNode(
                self.server.0,
                id.copy(),
                parent.copy(),
                kind.copy(),
                browse_name.copy(),
                attributes,
                Some(called),
                inputs.len(),
                inputs.as_ptr(),
                outputs.len(),
                outputs.as_ptr(),
                context.cast(),
                ptr::null_mut(),
            )
        })
    }

    fn name(&self, name: &str) -> Result<Owned, String> {
        let name = QualifiedName { namespace_index: self.namespace.0, name: name.into() };
        Owned::new(Kind::of(ua::UA_TYPES_QUALIFIEDNAME), &name)
    }
}

fn node(id: &NodeId) -> Result<Owned, String> {
    Owned::new(Kind::of(ua::UA_TYPES_NODEID), id)
}

/// What the library calls for every Method; the method's context is its name.
unsafe extern "C" fn called(
    _server: *mut ua::UA_Server,
    _session: *const ua::UA_NodeId,
    _session_context: *mut c_void,
    _method: *const ua::UA_NodeId,
    context: *mut c_void,
    _object: *const ua::UA_NodeId,
    _object_context: *mut c_void,
    input_count: usize,
    inputs: *const ua::UA_Variant,
    output_count: usize,
    outputs: *mut ua::UA_Variant,
) -> ua::UA_StatusCode {
    // SAFETY: `context` is the name that `add_method` left there for good.
    let name = unsafe { &*context.cast::<String>() };
    let variant = Kind::of(ua::UA_TYPES_VARIANT);
    let inputs: Result<Vec<Variant>, String> = (0..input_count)
        // SAFETY: the library gives `input_count` Variants.
        .map(|index| unsafe { get(inputs.add(index).cast(), variant) })
        .collect();
    let result = inputs
        .map_err(|_| status::BAD_DECODING_ERROR)
        .and_then(|inputs| methods::run(name, &inputs))
        .and_then(|results| {
            for (index, result) in results.iter().enumerate().take(output_count) {
                let owned = Owned::new(variant, result).map_err(|_| status::BAD_ENCODING_ERROR)?;
                // SAFETY: the library gives `output_count` empty Variants to be filled, and owns what
                // UA_copy puts into them.
                let code =
                    unsafe { ua::UA_copy(owned.as_ptr(), outputs.add(index).cast(), variant.as_ptr()) };
                good(code).map_err(|_| status::BAD_OUT_OF_MEMORY)?;
            }
            Ok(())
        });
    result.map_or_else(|StatusCode(code)| code, |()| StatusCode::GOOD.0)
}
