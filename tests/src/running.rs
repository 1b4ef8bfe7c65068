//! A server that runs in threads of its own, for tests over sockets.

use std::net::TcpStream;
use std::time::{Duration, Instant};

use uaforge_server::Server;

/// Runs a server while `client` talks to it; then stops it. `client` learns how many tasks there are.
pub fn with_running(server: &Server, client: impl FnOnce(&dyn Fn() -> usize)) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let running = runtime.spawn({
        let server = server.clone();
        async move { server.run_until(stopped).await }
    });
    let tasks = || runtime.metrics().num_alive_tasks();
    // The server, its listener, its polls, its subscriptions, and the home of handlers that work on.
    eventually("the server runs", || tasks() == 5);
    client(&tasks);
    let _ = stop.send(());
    runtime.block_on(running).expect("the server does not panic").expect("the server runs");
}

/// Connects to a server's first endpoint.
pub fn dial(server: &Server) -> TcpStream {
    let stream = TcpStream::connect(server.local_addr().expect("it listens")).expect("it accepts");
    stream.set_read_timeout(Some(Duration::from_secs(10))).expect("a timeout");
    stream
}

/// Waits until something holds, for a few seconds.
pub fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < Duration::from_secs(10), "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
