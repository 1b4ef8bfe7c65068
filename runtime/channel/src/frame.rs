//! Message headers and the frames they begin (OPC 10000-6 §6.7.2.2, §7.1.2.2).

use uaforge_types::status;

use crate::ChannelError;

/// Bytes of a message header: type, chunk kind, size.
pub(crate) const HEADER: usize = 8;
/// Last or only chunk.
pub(crate) const FINAL: u8 = b'F';
/// More chunks follow.
pub(crate) const MORE: u8 = b'C';
/// The message is given up.
pub(crate) const ABORT: u8 = b'A';

/// The type in a message header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MessageType {
    Hello,
    ReverseHello,
    Acknowledge,
    Error,
    Open,
    Message,
    Close,
}

impl MessageType {
    fn parse(bytes: [u8; 3]) -> Option<Self> {
        Some(match &bytes {
            b"HEL" => Self::Hello,
            b"RHE" => Self::ReverseHello,
            b"ACK" => Self::Acknowledge,
            b"ERR" => Self::Error,
            b"OPN" => Self::Open,
            b"MSG" => Self::Message,
            b"CLO" => Self::Close,
            _ => return None,
        })
    }

    fn bytes(self) -> [u8; 3] {
        *match self {
            Self::Hello => b"HEL",
            Self::ReverseHello => b"RHE",
            Self::Acknowledge => b"ACK",
            Self::Error => b"ERR",
            Self::Open => b"OPN",
            Self::Message => b"MSG",
            Self::Close => b"CLO",
        }
    }
}

/// One whole chunk or message of the connection protocol.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame<'a> {
    pub(crate) kind: MessageType,
    /// [`FINAL`], [`MORE`] or [`ABORT`].
    pub(crate) chunk: u8,
    /// All of it, header included.
    pub(crate) bytes: &'a [u8],
}

impl<'a> Frame<'a> {
    /// What follows the header.
    pub(crate) fn body(&self) -> &'a [u8] {
        self.bytes.get(HEADER..).unwrap_or_default()
    }

    /// The frame at the start of `input`; `None` if more bytes have to come. The header is judged as
    /// soon as it is there.
    pub(crate) fn parse(input: &'a [u8], largest: usize) -> Result<Option<Self>, ChannelError> {
        let Some((&[t0, t1, t2, chunk, s0, s1, s2, s3], _)) = input.split_first_chunk::<HEADER>() else {
            return Ok(None);
        };
        let kind = MessageType::parse([t0, t1, t2]).filter(|kind| match kind {
            MessageType::Message => matches!(chunk, FINAL | MORE | ABORT),
            _ => chunk == FINAL,
        });
        let Some(kind) = kind else {
            return Err(ChannelError::new(status::BAD_TCP_MESSAGE_TYPE_INVALID, "unknown message type"));
        };
        let size = u32::from_le_bytes([s0, s1, s2, s3]) as usize;
        if size < HEADER || size > largest {
            return Err(ChannelError::new(
                status::BAD_TCP_MESSAGE_TOO_LARGE,
                "the size of the chunk is out of bounds",
            ));
        }
        Ok(input.get(..size).map(|bytes| Self { kind, chunk, bytes }))
    }
}

/// Writes a message header over the first bytes of `at`.
pub(crate) fn put_header(at: &mut [u8], kind: MessageType, chunk: u8, size: usize) {
    let [t0, t1, t2] = kind.bytes();
    let [s0, s1, s2, s3] = u32::try_from(size).unwrap_or(u32::MAX).to_le_bytes();
    if let Some(header) = at.first_chunk_mut::<HEADER>() {
        *header = [t0, t1, t2, chunk, s0, s1, s2, s3];
    }
}
