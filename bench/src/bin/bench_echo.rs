//! The physical limit: splits frames by their header and answers all frames of one read with one write.
//!
//! `bench_echo PORT RESPONSE_LENGTH`. A response is the headers of its request, with its own length, and zeros.

use std::error::Error;
use std::net::SocketAddr;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// Bytes up to and with the request id (OPC 10000-6 §6.7.2).
const HEADERS: usize = 24;
const READ: usize = 1 << 16;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let usage = "usage: bench_echo PORT RESPONSE_LENGTH";
    let port: u16 = arguments.next().ok_or(usage)?.parse()?;
    let length: usize = arguments.next().ok_or(usage)?.parse()?;
    let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], port))).await?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        tokio::spawn(async move {
            // A connection that breaks ends.
            let _ = serve(stream, length).await;
        });
    }
}

async fn serve(mut stream: TcpStream, length: usize) -> std::io::Result<()> {
    let mut input = vec![0; READ];
    let mut filled = 0;
    let mut output = Vec::with_capacity(READ);
    let declared = u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes();
    loop {
        let count = stream.read(input.get_mut(filled..).unwrap_or_default()).await?;
        if count == 0 {
            return Ok(());
        }
        filled += count;
        let mut at = 0;
        while let Some((headers, size)) = frame(input.get(at..filled).unwrap_or_default()) {
            let from = output.len();
            output.extend_from_slice(headers);
            output.resize(from + length, 0);
            if let Some(place) = output.get_mut(from + 4..from + 8) {
                place.copy_from_slice(&declared);
            }
            at += size;
        }
        input.copy_within(at..filled, 0);
        filled -= at;
        stream.write_all(&output).await?;
        output.clear();
    }
}

/// The headers and the size of the first frame, if it is there as a whole.
fn frame(bytes: &[u8]) -> Option<(&[u8], usize)> {
    let size = u32::from_le_bytes(bytes.get(4..8)?.try_into().ok()?) as usize;
    let whole = bytes.get(..size)?;
    Some((whole.get(..HEADERS)?, size))
}
