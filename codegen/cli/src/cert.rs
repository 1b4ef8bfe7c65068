//! `uaforge cert`: the certificates of an application, in its folders `own`, `trusted`, `issuer` and `rejected`.

use std::error::Error;
use std::net::IpAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand, ValueEnum};
use uaforge_crypto::{Certificate, Draft, KeyKind, Pki, Place, Purpose, chain, default_provider, pem_or_der};

#[derive(Args)]
pub(crate) struct Arguments {
    /// The folder of the application's certificates
    #[arg(long, default_value = "pki", global = true)]
    pki: PathBuf,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Make an own key and a self-signed certificate, unless they are there
    New(New),
    /// List the certificates of every folder
    List,
    /// Show a certificate: a file, or one of the folders by the beginning of its thumbprint
    Show {
        /// File, or thumbprint
        certificate: String,
    },
    /// Trust a certificate: a file, or one of the folders by the beginning of its thumbprint
    Trust {
        /// File, or thumbprint
        certificate: String,
    },
    /// Trust a certificate no more
    Reject {
        /// File, or thumbprint
        certificate: String,
    },
}

#[derive(Args)]
struct New {
    /// URI of the application, such as urn:plant:line1:server
    #[arg(long)]
    uri: String,
    /// Name for people; the end of the URI if it is left out
    #[arg(long)]
    name: Option<String>,
    /// Kind of key
    #[arg(long, value_enum, default_value = "rsa2048")]
    key: Key,
    /// A host name beside those of this machine; may be repeated
    #[arg(long = "host")]
    hosts: Vec<String>,
    /// An address beside those of this machine; may be repeated
    #[arg(long = "address")]
    addresses: Vec<IpAddr>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Key {
    Rsa2048,
    Rsa3072,
    Rsa4096,
    P256,
    P384,
    Ed25519,
}

impl Key {
    fn kind(self) -> KeyKind {
        match self {
            Self::Rsa2048 => KeyKind::Rsa(2048),
            Self::Rsa3072 => KeyKind::Rsa(3072),
            Self::Rsa4096 => KeyKind::Rsa(4096),
            Self::P256 => KeyKind::P256,
            Self::P384 => KeyKind::P384,
            Self::Ed25519 => KeyKind::Ed25519,
        }
    }
}

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    match perform(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn perform(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let pki = Pki::open(&arguments.pki, default_provider(), Purpose::Client)?;
    match &arguments.command {
        Command::New(new) => make(&pki, new)?,
        Command::List => list(&pki)?,
        Command::Show { certificate } => show(&pki, &find(&pki, certificate)?),
        Command::Trust { certificate } => {
            let found = find(&pki, certificate)?;
            pki.trust(&found)?;
            println!("trusted {} {}", pki.thumbprint(&found), found.subject());
        }
        Command::Reject { certificate } => {
            let found = find(&pki, certificate)?;
            pki.reject(&found)?;
            println!("rejected {} {}", pki.thumbprint(&found), found.subject());
        }
    }
    Ok(())
}

fn make(pki: &Pki, new: &New) -> Result<(), Box<dyn Error>> {
    let end = new.uri.rsplit([':', '/']).next().unwrap_or(&new.uri);
    let name = new.name.as_deref().unwrap_or(end);
    let mut draft = Draft::application(&new.uri, name, uaforge_net::clock().utc)?;
    for host in uaforge_net::host_names().iter().chain(&new.hosts) {
        draft = draft.host(host)?;
    }
    for address in uaforge_net::addresses().into_iter().chain(new.addresses.iter().copied()) {
        draft = draft.address(address)?;
    }
    let identity = pki.own(new.key.kind(), &draft, &mut uaforge_net::OsEntropy)?;
    show(pki, identity.certificate());
    Ok(())
}

fn list(pki: &Pki) -> Result<(), Box<dyn Error>> {
    for place in Place::ALL {
        for (file, certificate) in pki.list(place)? {
            println!(
                "{:<8} {} {} ({file})",
                place.name(),
                pki.thumbprint(&certificate),
                certificate.subject()
            );
        }
    }
    Ok(())
}

fn show(pki: &Pki, certificate: &Certificate) {
    let names = certificate.names();
    let (from, to) = certificate.validity();
    println!("subject     {}", certificate.subject());
    println!("issuer      {}", certificate.issuer());
    println!("thumbprint  {}", pki.thumbprint(certificate));
    println!("key         {:?}", certificate.key());
    println!("valid       {from} to {to}");
    println!("uri         {}", names.uris.join(", "));
    println!("hosts       {}", names.hosts.join(", "));
    let addresses: Vec<String> = names.addresses.iter().map(ToString::to_string).collect();
    println!("addresses   {}", addresses.join(", "));
}

/// A certificate of a file, or of the folders.
fn find(pki: &Pki, certificate: &str) -> Result<Certificate, Box<dyn Error>> {
    let Ok(file) = std::fs::read(certificate) else { return Ok(pki.find(&certificate.to_lowercase())?) };
    let first = chain(&pem_or_der(&file)?)?.into_iter().next();
    first.ok_or_else(|| format!("{certificate} holds no certificate").into())
}
