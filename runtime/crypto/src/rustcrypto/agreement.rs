//! Ephemeral keys.

use core::fmt;

use p256::elliptic_curve::sec1::ToSec1Point as _;
use uaforge_codec::Entropy;
use zeroize::Zeroizing;

use crate::{Agreement, CryptoError, Curve};

pub(super) fn ephemeral(curve: Curve, entropy: &mut dyn Entropy) -> Result<Box<dyn Agreement>, CryptoError> {
    let mut secret = Zeroizing::new(vec![0; curve.secret_len()]);
    entropy.fill(&mut secret);
    let (key, point) = match curve {
        Curve::P256 => {
            let key = p256::SecretKey::from_slice(&secret).map_err(|_| CryptoError)?;
            let point = key.public_key().to_sec1_point(false).as_bytes().to_vec();
            (Key::P256(key), point)
        }
        Curve::P384 => {
            let key = p384::SecretKey::from_slice(&secret).map_err(|_| CryptoError)?;
            let point = key.public_key().to_sec1_point(false).as_bytes().to_vec();
            (Key::P384(key), point)
        }
        Curve::X25519 => {
            let secret: [u8; 32] = secret.as_slice().try_into().map_err(|_| CryptoError)?;
            let key = x25519_dalek::StaticSecret::from(secret);
            let point = x25519_dalek::PublicKey::from(&key).as_bytes().to_vec();
            (Key::X25519(key), point)
        }
    };
    // Messages have no 4 before the coordinates.
    let public = if curve == Curve::X25519 { point } else { point.get(1..).unwrap_or_default().to_vec() };
    Ok(Box::new(Ephemeral { key, public }))
}

enum Key {
    P256(p256::SecretKey),
    P384(p384::SecretKey),
    X25519(x25519_dalek::StaticSecret),
}

struct Ephemeral {
    key: Key,
    public: Vec<u8>,
}

impl Agreement for Ephemeral {
    fn public(&self) -> &[u8] {
        &self.public
    }

    fn agree(self: Box<Self>, peer: &[u8]) -> Result<Zeroizing<Vec<u8>>, CryptoError> {
        let point = [&[4], peer].concat();
        let secret = match &self.key {
            Key::P256(key) => {
                let peer = p256::PublicKey::from_sec1_bytes(&point).map_err(|_| CryptoError)?;
                key.diffie_hellman(&peer).raw_secret_bytes().to_vec()
            }
            Key::P384(key) => {
                let peer = p384::PublicKey::from_sec1_bytes(&point).map_err(|_| CryptoError)?;
                key.diffie_hellman(&peer).raw_secret_bytes().to_vec()
            }
            Key::X25519(key) => {
                let peer: [u8; 32] = peer.try_into().map_err(|_| CryptoError)?;
                let secret = key.diffie_hellman(&peer.into());
                // A point of small order gives a secret that everybody knows.
                if !secret.was_contributory() {
                    return Err(CryptoError);
                }
                secret.as_bytes().to_vec()
            }
        };
        Ok(Zeroizing::new(secret))
    }
}

impl fmt::Debug for Ephemeral {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ephemeral")
    }
}
