//! The other implementations: how each is installed and how its client and its server are started.

use super::install;
use crate::demo::Profile;
use crate::{demo, workspace};
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Names of peers, in the order of the table.
pub(super) const NAMES: [&str; 4] = ["asyncua", "node-opcua", "open62541", "o6"];

/// A peer that is there: the programs `client URL PLAN RESULTS` and `server SPACE`.
pub(super) struct Peer {
    pub(super) name: &'static str,
    client: Program,
    server: Program,
    /// Reads structures of the demo server, whose types it learns from the server: `structures URL`.
    structures: Option<Program>,
}

/// What stands before the arguments.
struct Program {
    folder: PathBuf,
    words: Vec<PathBuf>,
    /// Where packages that the program imports are.
    packages: Option<PathBuf>,
}

impl Program {
    fn command(&self) -> Command {
        let (first, rest) = self.words.split_first().expect("a program has a name");
        let mut command = Command::new(first);
        command.args(rest).current_dir(&self.folder);
        if let Some(packages) = &self.packages {
            command.env("UAFORGE_PEER_PACKAGES", packages);
        }
        command
    }
}

impl Peer {
    /// Installs a peer, unless it is there.
    pub(super) fn install(root: &Path, name: &'static str) -> Result<Self> {
        match name {
            "asyncua" => asyncua(root, name),
            "node-opcua" => node_opcua(root, name),
            "o6" => o6(root, name),
            _ => open62541(root, name),
        }
    }

    /// The command that runs a script or program of the peer as client.
    pub(super) fn client(&self) -> Command {
        self.client.command()
    }

    /// The command that reads structures of the demo server.
    pub(super) fn structures(&self) -> Option<Command> {
        self.structures.as_ref().map(Program::command)
    }

    /// The command that starts the peer's server; it prints its address.
    pub(super) fn server(&self) -> Command {
        self.server.command()
    }
}

fn asyncua(root: &Path, name: &'static str) -> Result<Peer> {
    let python = install::python(root, name, &root.join("tests/interop/asyncua/requirements.txt"))?;
    let program = |script: &str| Program {
        folder: root.to_path_buf(),
        words: vec![python.clone(), root.join("tests/interop/asyncua").join(script)],
        packages: None,
    };
    let structures = Some(program("structures.py"));
    Ok(Peer { name, client: program("client.py"), server: program("server.py"), structures })
}

/// open62541 with OpenSSL, in Python.
fn o6(root: &Path, name: &'static str) -> Result<Peer> {
    let folder = root.join("tests/interop/o6");
    let python = install::python(root, name, &folder.join("requirements.txt"))?;
    let program = |script: &str| Program {
        folder: root.to_path_buf(),
        words: vec![python.clone(), folder.join(script)],
        packages: None,
    };
    Ok(Peer { name, client: program("client.py"), server: program("server.py"), structures: None })
}

fn node_opcua(root: &Path, name: &'static str) -> Result<Peer> {
    let packages = install::npm(root, name, &root.join("tests/interop/node-opcua"))?;
    let program = |script: &str| Program {
        folder: root.to_path_buf(),
        words: vec!["node".into(), root.join("tests/interop/node-opcua").join(script)],
        packages: Some(packages.clone()),
    };
    let structures = Some(program("structures.mjs"));
    Ok(Peer { name, client: program("client.mjs"), server: program("server.mjs"), structures })
}

fn open62541(root: &Path, name: &'static str) -> Result<Peer> {
    let program = build_open62541(root)?;
    let part = |role: &str| Program {
        folder: root.to_path_buf(),
        words: vec![program.clone(), role.into()],
        packages: None,
    };
    Ok(Peer { name, client: part("client"), server: part("server"), structures: None })
}

/// The project's own program on the C library, a package apart from the workspace.
pub(crate) fn build_open62541(root: &Path) -> Result<PathBuf> {
    let package = root.join("tests/interop/open62541");
    // What builds the library and reads its headers; a C compiler is the machine's.
    let tools = install::python_packages(root, "open62541", &package.join("requirements.txt"))?;
    let headers = workspace::output_of(Command::new("cc").arg("-print-file-name=include"))?;
    let mut cargo = workspace::cargo(&package);
    cargo
        .args(["build", "--locked"])
        .env("CARGO_TARGET_DIR", root.join("target/peers"))
        .env("CMAKE", tools.join("bin/cmake"))
        .env("PYTHONPATH", &tools)
        .env("LIBCLANG_PATH", tools.join("clang/native"))
        .env("BINDGEN_EXTRA_CLANG_ARGS", format!("-I{}", headers.trim()));
    demo::program_of(&mut cargo, Profile::Release)
}

/// The project's own programs of the same kind.
pub(super) struct Ours {
    client: PathBuf,
    server: PathBuf,
    pub(super) dump: PathBuf,
    pub(super) register: PathBuf,
}

impl Ours {
    pub(super) fn build(root: &Path) -> Result<Self> {
        let build = |program| {
            demo::build_package(root, "uaforge-tests", program, Profile::Debug)
                .with_context(|| format!("cannot build {program}"))
        };
        Ok(Self {
            client: build("peer_client")?,
            server: build("peer_server")?,
            dump: build("peer_dump")?,
            register: build("peer_register")?,
        })
    }

    pub(super) fn client(&self) -> Command {
        in_root(&self.client)
    }

    pub(super) fn server(&self) -> Command {
        in_root(&self.server)
    }
}

fn in_root(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(workspace::root());
    command
}
