//! The first eight bytes of every message and chunk (OPC 10000-6 §6.7.2.2, §7.1.2.2).

use uaforge_types::status;

use crate::ChannelError;

/// What a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageKind {
    /// HEL
    Hello,
    /// ACK
    Acknowledge,
    /// ERR
    Error,
    /// OPN
    Open,
    /// MSG
    Message,
    /// CLO
    Close,
}

impl MessageKind {
    /// The three letters.
    #[must_use]
    pub const fn letters(self) -> [u8; 3] {
        match self {
            Self::Hello => *b"HEL",
            Self::Acknowledge => *b"ACK",
            Self::Error => *b"ERR",
            Self::Open => *b"OPN",
            Self::Message => *b"MSG",
            Self::Close => *b"CLO",
        }
    }
}

/// Which chunk of its message a chunk is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChunkKind {
    /// C: more follow.
    Intermediate,
    /// F: the last one.
    Final,
    /// A: the message is given up.
    Abort,
}

impl ChunkKind {
    /// The letter.
    #[must_use]
    pub const fn letter(self) -> u8 {
        match self {
            Self::Intermediate => b'C',
            Self::Final => b'F',
            Self::Abort => b'A',
        }
    }
}

/// Kind and size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// What it is.
    pub kind: MessageKind,
    /// Which chunk.
    pub chunk: ChunkKind,
    /// Length in bytes, this header included.
    pub size: usize,
}

impl Header {
    /// Length of the header.
    pub const LEN: usize = 8;

    /// Reads the header; `None` if there are not enough bytes.
    ///
    /// # Errors
    /// Bad_TcpMessageTypeInvalid for anything that no message begins with.
    pub fn parse(input: &[u8]) -> Result<Option<Self>, ChannelError> {
        let Some((&[a, b, c, chunk, size @ ..], _)) = input.split_first_chunk::<{ Self::LEN }>() else {
            return Ok(None);
        };
        let invalid =
            || ChannelError::new(status::BAD_TCP_MESSAGE_TYPE_INVALID, "not a message of OPC UA TCP");
        let kind = match &[a, b, c] {
            b"HEL" => MessageKind::Hello,
            b"ACK" => MessageKind::Acknowledge,
            b"ERR" => MessageKind::Error,
            b"OPN" => MessageKind::Open,
            b"MSG" => MessageKind::Message,
            b"CLO" => MessageKind::Close,
            _ => return Err(invalid()),
        };
        let chunk = match (chunk, kind) {
            (b'F', _) => ChunkKind::Final,
            (b'C', MessageKind::Message) => ChunkKind::Intermediate,
            (b'A', MessageKind::Message) => ChunkKind::Abort,
            _ => return Err(invalid()),
        };
        let size = usize::try_from(u32::from_le_bytes(size)).unwrap_or(usize::MAX);
        if size <= Self::LEN {
            return Err(ChannelError::new(status::BAD_DECODING_ERROR, "a message without content"));
        }
        Ok(Some(Self { kind, chunk, size }))
    }

    /// Writes the header into the first eight bytes of a chunk, which is as long as it says.
    pub(crate) fn write(kind: MessageKind, chunk: ChunkKind, into: &mut [u8]) {
        let size = u32::try_from(into.len()).unwrap_or(u32::MAX);
        if let Some(head) = into.first_chunk_mut::<{ Self::LEN }>() {
            let [a, b, c] = kind.letters();
            let [w, x, y, z] = size.to_le_bytes();
            *head = [a, b, c, chunk.letter(), w, x, y, z];
        }
    }
}
