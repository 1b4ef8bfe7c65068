//! The server as the application sees it.

use core::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use uaforge_channel::MemoryQuota;
use uaforge_codec::{
    ByteString, DateTime, DecodeLimits, LocalizedText, NodeId, Now, StatusCode, TypeRegistry,
};
use uaforge_net::Listener;
use uaforge_nodes::{AddressSpace, Instance, Instantiate, InstantiateError};
use uaforge_types::{ServerState, ServerStatusDataType, status};

use crate::access::Rights;
use crate::application::Application;
use crate::binding::Polls;
use crate::blocking::BlockingPool;
use crate::builder::{BuildError, ServerBuilder};
use crate::config::Limits;
use crate::discovery::{DiscoveryServer, Registration, Registry};
use crate::event::{EmitError, Event};
use crate::life::{Life, Phase};
use crate::listener;
use crate::manager::{NodeManager, Routes};
use crate::methods::Bindings;
use crate::proto::backlog::Unsent;
use crate::proto::connection::Connection;
use crate::proto::mailbox::Mailboxes;
use crate::proto::orphans::Orphans;
use crate::proto::sessions::Sessions;
use crate::security::{Authenticator, Secured, Security};
use crate::shared::{Core, SharedEntropy};
use crate::space::SpaceManager;
use crate::space::live::Live;
use crate::space::standard::{self, MAINTENANCE, StandardCells};
use crate::subscription::Subscriptions;

/// What a builder hands over.
pub(crate) struct Parts {
    pub(crate) application: Application,
    pub(crate) endpoints: Vec<String>,
    pub(crate) limits: Limits,
    pub(crate) types: TypeRegistry,
    pub(crate) managers: Vec<Arc<dyn NodeManager>>,
    pub(crate) entropy: SharedEntropy,
    pub(crate) rights: Rights,
    pub(crate) space: AddressSpace,
    pub(crate) routes: Routes,
    pub(crate) listeners: Vec<Listener>,
    pub(crate) discovery_server: Option<DiscoveryServer>,
    pub(crate) registration: Registration,
    pub(crate) secured: Secured,
    pub(crate) authenticator: Arc<dyn Authenticator>,
}

/// Why a server does not run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// The server runs or ran already; a stopped one does not start again.
    #[error("the server was run already")]
    AlreadyRun,
    /// The server has stopped, or is about to.
    #[error("the server has stopped")]
    Stopped,
}

/// An OPC UA server. Cheap to clone; all clones are the same server.
#[derive(Clone)]
pub struct Server {
    inner: Arc<Inner>,
}

/// A server that this does not keep alive.
pub(crate) struct WeakServer(Weak<Inner>);

impl WeakServer {
    pub(crate) fn upgrade(&self) -> Option<Server> {
        self.0.upgrade().map(|inner| Server { inner })
    }
}

struct Inner {
    core: Arc<Core>,
    cells: StandardCells,
    addresses: Vec<SocketAddr>,
    listeners: Mutex<Option<Vec<Listener>>>,
}

impl Server {
    /// Begins a server.
    #[must_use]
    pub fn builder() -> ServerBuilder {
        ServerBuilder::new()
    }

    pub(crate) fn new(parts: Parts) -> Result<Self, BuildError> {
        let Now { ticks, utc: now } = uaforge_net::clock();
        let status = initial_status(&parts.application, now);
        let space = Arc::new(parts.space);
        let cells = standard::set_up(&space, &parts.application, &parts.limits, &status)
            .map_err(BuildError::ServerObject)?;
        let limits = parts.limits;
        let mut entropy = parts.entropy;
        let mut channel = [0; 4];
        entropy.fill(&mut channel);
        let mut subscription = [0; 4];
        entropy.fill(&mut subscription);
        let subscription = u32::from_le_bytes(subscription);
        let subscriptions = Arc::new(Subscriptions::new(&limits.subscriptions, subscription, ticks));
        let decode_limits = DecodeLimits {
            max_array_length: limits.max_array_length as usize,
            max_string_length: limits.max_string_length as usize,
            ..DecodeLimits::DEFAULT
        };
        let core = Core {
            application: parts.application,
            endpoints: parts.endpoints,
            secured: Mutex::new(Arc::new(parts.secured)),
            authenticator: parts.authenticator,
            decode_limits,
            types: parts.types,
            space,
            nodes: SpaceManager {
                live: Live::new(status),
                methods: Bindings::default(),
                started: now,
                rights: parts.rights,
            },
            managers: parts.managers,
            routes: parts.routes,
            sessions: Sessions::new(Arc::clone(&subscriptions)),
            subscriptions,
            mailboxes: Mailboxes::default(),
            blocking: BlockingPool::new(
                limits.blocking_threads,
                limits.hanging_threads,
                limits.blocking_queue,
            ),
            polls: Polls::new(ticks),
            orphans: Orphans::default(),
            entropy: Mutex::new(entropy),
            next_channel: AtomicU32::new(u32::from_le_bytes(channel)),
            memory: Arc::new(MemoryQuota::new(limits.message_memory)),
            early_memory: Arc::new(MemoryQuota::new(limits.early_message_memory)),
            life: Life::default(),
            unsent: Unsent::default(),
            registry: parts.discovery_server.map(|settings| Registry::new(settings, now)),
            registration: parts.registration,
            limits,
        };
        let addresses = parts.listeners.iter().filter_map(|listener| listener.local_addr().ok()).collect();
        let listeners = Mutex::new(Some(parts.listeners));
        Ok(Self { inner: Arc::new(Inner { core: Arc::new(core), cells, addresses, listeners }) })
    }

    pub(crate) fn downgrade(&self) -> WeakServer {
        WeakServer(Arc::downgrade(&self.inner))
    }

    pub(crate) fn core(&self) -> &Core {
        &self.inner.core
    }

    /// Secures new connections with other certificates, policies or modes. Those that are open go on as they
    /// are.
    ///
    /// # Errors
    /// See [`BuildError::Security`].
    pub fn set_security(&self, security: &Security) -> Result<(), BuildError> {
        let core = &self.inner.core;
        let secured = Secured::new(Some(security), core.secured().plain).map_err(BuildError::Security)?;
        core.set_secured(secured);
        Ok(())
    }

    /// The address of the first endpoint, with the port that the system gave.
    #[must_use]
    pub fn local_addr(&self) -> Option<SocketAddr> {
        self.inner.addresses.first().copied()
    }

    /// The endpoint URLs, with the ports that the system gave.
    #[must_use]
    pub fn endpoints(&self) -> &[String] {
        &self.inner.core.endpoints
    }

    /// The address space: add nodes with [`AddressSpace::edit`].
    #[must_use]
    pub fn space(&self) -> &Arc<AddressSpace> {
        &self.inner.core.space
    }

    /// The namespace index of the application's own nodes (OPC 10000-3 §8.2.2).
    #[must_use]
    pub fn application_namespace(&self) -> u16 {
        1
    }

    /// The time, as values are stamped with.
    #[must_use]
    pub fn now(&self) -> DateTime {
        uaforge_net::clock().utc
    }

    /// When the server was built: polls and simulations count from it.
    #[must_use]
    pub fn start_time(&self) -> Now {
        let core = &self.inner.core;
        Now { ticks: core.polls.start(), utc: core.nodes.started }
    }

    /// Sessions there are now.
    #[must_use]
    pub fn session_count(&self) -> usize {
        self.inner.core.sessions.len()
    }

    /// Makes an instance of a type, by ids; typed models have a method of their own for it.
    ///
    /// # Errors
    /// See [`InstantiateError`].
    pub fn instantiate_with(&self, instance: &Instantiate) -> Result<Instance, InstantiateError> {
        self.inner.core.space.edit(|edit| instance.run(edit))
    }

    /// Adds a reference between any two nodes of this server, those of node managers included: both ends
    /// show it in Browse, and browse paths lead along it. So a folder of the address space takes up the
    /// root of a manager. The closure of [`AddressSpace::edit`] does the same within a larger change
    /// ([`uaforge_nodes::Edit::add_external_reference`]).
    ///
    /// # Errors
    /// Bad_SourceNodeIdInvalid, Bad_TargetNodeIdInvalid, Bad_ReferenceTypeIdInvalid,
    /// Bad_DuplicateReferenceNotAllowed.
    pub fn add_reference(
        &self,
        source: &NodeId,
        reference_type: &NodeId,
        target: &NodeId,
    ) -> Result<(), StatusCode> {
        let core = &self.inner.core;
        core.space.edit(|edit| {
            if !core.has_node(edit.snapshot(), source.as_ref()) {
                return Err(status::BAD_SOURCE_NODE_ID_INVALID);
            }
            if !core.has_node(edit.snapshot(), target.as_ref()) {
                return Err(status::BAD_TARGET_NODE_ID_INVALID);
            }
            edit.add_external_reference(source, reference_type, target)
        })
    }

    /// Emits an event to all who monitor its source, a notifier above it, or the Server object; its EventId, which is
    /// random (OPC 10000-5 §6.4.2).
    ///
    /// # Errors
    /// See [`EmitError`]. Nobody gets the event then.
    pub fn emit(&self, event: Event) -> Result<ByteString, EmitError> {
        self.emit_at(event, uaforge_net::clock())
    }

    /// As [`Server::emit`], at a time; for tests in virtual time.
    ///
    /// # Errors
    /// See [`EmitError`].
    pub fn emit_at(&self, event: Event, now: Now) -> Result<ByteString, EmitError> {
        let core = &self.inner.core;
        core.subscriptions.emit(core, event, now)
    }

    /// A connection without a socket: give it bytes, take its bytes. For tests and other transports.
    #[must_use]
    pub fn connection(&self, now: Now) -> Connection {
        Connection::new(Arc::clone(&self.inner.core), None, now)
    }

    /// As [`Server::connection`], of a client at an address: what holds for clients of other machines holds
    /// for it.
    #[must_use]
    pub fn connection_from(&self, address: IpAddr, now: Now) -> Connection {
        Connection::new(Arc::clone(&self.inner.core), Some(address), now)
    }

    /// Closes sessions whose time is over; when the next one ends.
    pub fn sweep(&self, now: Now) -> Option<uaforge_codec::Ticks> {
        self.inner.core.sessions.sweep(now.ticks)
    }

    /// Samples and publishes what is due at `now`; when there is more to do. For tests in virtual time:
    /// [`Server::run_until`] does it in real time. Handlers that answer later are asked again each time.
    pub fn publish_due(&self, now: Now) -> uaforge_codec::Ticks {
        let core = &self.inner.core;
        core.subscriptions.turn(core, &mut core::task::Context::from_waker(core::task::Waker::noop()), now)
    }

    /// Serves connections until `stop` is ready; then ends in order and returns.
    ///
    /// No connection and no session begins any more, and clients see that the server stops
    /// ([`Limits::shutdown_delay`]). Then requests that wait have some time for their answers, and
    /// connections are closed with Bad_Shutdown ([`Limits::stop_deadline`]).
    ///
    /// # Errors
    /// The server was run before.
    pub async fn run_until(&self, stop: impl Future) -> Result<(), ServerError> {
        let listeners = self.inner.listeners.lock().unwrap_or_else(PoisonError::into_inner).take();
        let listeners = listeners.ok_or(ServerError::AlreadyRun)?;
        // Also when this future is dropped.
        let _stopped = Stopped(&self.inner.core.life);
        listener::run(&self.inner.core, listeners, stop, |seconds| self.announce_stop(seconds)).await;
        Ok(())
    }

    /// Waits until clients are served, for supervisors that want to know.
    ///
    /// # Errors
    /// The server has stopped, or is about to.
    pub async fn ready(&self) -> Result<(), ServerError> {
        match self.inner.core.life.reach(Phase::Serving).await {
            Phase::Stopping | Phase::Stopped => Err(ServerError::Stopped),
            Phase::Built | Phase::Serving => Ok(()),
        }
    }

    /// Whether clients are served now: `false` before [`Server::run_until`], and from the moment it is to stop.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.inner.core.life.phase() == Phase::Serving
    }

    /// Says how well the server works (ServiceLevel, OPC 10000-4 §6.6.2.4.2): 0 in maintenance, 1 without data,
    /// 2 to 199 degraded, 200 to 255 healthy. It is 255 at first and 0 when the server stops.
    pub fn set_service_level(&self, level: u8) {
        self.inner.cells.service_level.set(level, Some(self.now()));
    }

    fn announce_stop(&self, seconds: u32) {
        self.set_state(ServerState::SHUTDOWN, seconds);
        self.set_service_level(MAINTENANCE);
    }

    fn set_state(&self, state: ServerState, seconds_till_shutdown: u32) {
        let now = Some(self.now());
        self.inner.core.nodes.live.set_state(state, seconds_till_shutdown);
        self.inner.cells.state.set(state.0, now);
        self.inner.cells.seconds_till_shutdown.set(seconds_till_shutdown, now);
    }
}

/// Marks a server as stopped, however that came.
struct Stopped<'l>(&'l Life);

impl Drop for Stopped<'_> {
    fn drop(&mut self) {
        self.0.set(Phase::Stopped);
    }
}

impl core::fmt::Debug for Server {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Server").field("endpoints", &self.endpoints()).finish_non_exhaustive()
    }
}

fn initial_status(application: &Application, now: DateTime) -> ServerStatusDataType {
    ServerStatusDataType {
        start_time: now,
        current_time: now,
        state: ServerState::RUNNING,
        build_info: application.build_info(),
        seconds_till_shutdown: 0,
        shutdown_reason: LocalizedText::default(),
    }
}
