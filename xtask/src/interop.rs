//! `interop`: other implementations against ours, in both directions.

mod dumps;

use crate::demo::Profile;
use crate::process::{Server, run_bounded};
use crate::{demo, nodesets, workspace};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use uaforge_model::{Loader, canonical};

/// The peer of this project that comes from PyPI, at the version that is compared with.
const ASYNCUA: &str = "asyncua==2.1.0";
const INSTALL: Duration = Duration::from_secs(300);
const CHECK: Duration = Duration::from_secs(300);
const START: Duration = Duration::from_secs(60);
const STOP: Duration = Duration::from_secs(10);

/// What to compare with.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// A peer that must be there; without this a missing one is skipped.
    #[arg(long, value_name = "PEER", value_parser = ["asyncua"])]
    require: Vec<String>,
}

/// Installs the peers and runs every comparison.
pub(crate) fn run(options: &Options) -> Result<()> {
    let root = workspace::root();
    let python = match install_asyncua(&root) {
        Ok(python) => python,
        Err(error) if options.require.is_empty() => {
            println!("asyncua: skipped: {error:#}");
            return Ok(());
        }
        Err(error) => return Err(error.context("asyncua is required")),
    };
    let peer = Asyncua { root, python };
    peer.status_codes().context("status codes differ from asyncua's")?;
    peer.client_of_ours().context("asyncua as client of our server")?;
    peer.server_of_ours().context("our client at asyncua's server")
}

/// asyncua as installed under `.peers`.
struct Asyncua {
    root: PathBuf,
    python: PathBuf,
}

impl Asyncua {
    fn script(&self, name: &str) -> Command {
        let mut command = Command::new(&self.python);
        command.current_dir(&self.root).arg(Path::new("tests/interop").join(name));
        command
    }

    fn status_codes(&self) -> Result<()> {
        run_bounded(self.script("status_codes.py").arg("runtime/types/status_codes.csv"), CHECK)
    }

    /// asyncua browses and reads the demo server whole.
    fn client_of_ours(&self) -> Result<()> {
        let server = demo::start_server(&demo::build(&self.root, "server", Profile::Debug)?, 0)?;
        let mut script = self.script("check_server.py");
        script.arg(server.url()).args(["--expected", "tests/interop/expected.json"]);
        let folder = self.root.join(".peers/canonical");
        fs::create_dir_all(&folder)?;
        for (name, model) in nodesets::Catalogue::read(&self.root)?.models {
            let file = nodesets::folder(&self.root).join(format!("{name}.xml"));
            if !file.is_file() || model.nodes.is_some() {
                continue;
            }
            script.arg("--nodeset").arg(&file);
            // What the script shows differences from.
            let set = Loader::new().file(file).load().set;
            let text = set.ns(&model.uri).map(|ns| canonical::text(&set, ns)).unwrap_or_default();
            fs::write(folder.join(format!("{name}.txt")), text)?;
        }
        run_bounded(script.arg("--canonical").arg(&folder), CHECK)?;
        server.stop(STOP)?;
        Ok(())
    }

    /// Both clients dump asyncua's server; the dumps are equal line by line.
    fn server_of_ours(&self) -> Result<()> {
        let program = demo::build_package(&self.root, "uaforge-tests", "peer_dump", Profile::Debug)?;
        let server = Server::start(&mut self.script("peer_server.py"), START)?;
        println!("asyncua's server listens on {}", server.url());
        let folder = self.root.join(".peers");
        let (theirs, ours) = (folder.join("asyncua.dump"), folder.join("uaforge.dump"));
        run_bounded(self.script("dump.py").arg(server.url()).arg(&theirs), CHECK)?;
        run_bounded(Command::new(program).arg(server.url()).arg(&ours), CHECK)?;
        server.stop(STOP)?;
        dumps::compare(&theirs, &ours)
    }
}

/// A Python that has asyncua: an environment of its own under `.peers`.
fn install_asyncua(root: &Path) -> Result<PathBuf> {
    let environment = root.join(".peers/asyncua");
    let python = environment.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    let marker = environment.join("installed");
    if fs::read_to_string(&marker).is_ok_and(|text| text == ASYNCUA) && works(&python) {
        return Ok(python);
    }
    println!("installing {ASYNCUA} into .peers");
    fs::create_dir_all(root.join(".peers"))?;
    run_bounded(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&environment), INSTALL)
        .context("cannot make a Python environment")?;
    let mut pip = Command::new(&python);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", ASYNCUA]);
    run_bounded(&mut pip, INSTALL).context("cannot install asyncua")?;
    if !works(&python) {
        bail!("asyncua was installed, but cannot be imported");
    }
    fs::write(marker, ASYNCUA)?;
    Ok(python)
}

fn works(python: &Path) -> bool {
    let output = Command::new(python).args(["-c", "import asyncua"]).output();
    output.is_ok_and(|output| output.status.success())
}
