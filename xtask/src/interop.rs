//! `interop`: other implementations against ours, in both directions.

use crate::process::run_bounded;
use crate::{demo, workspace};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The peer of this project that comes from PyPI, at the version that is compared with.
const ASYNCUA: &str = "asyncua==2.1.0";
const INSTALL: Duration = Duration::from_secs(300);
const CHECK: Duration = Duration::from_secs(300);
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
    let python = match asyncua(&root) {
        Ok(python) => python,
        Err(error) if options.require.is_empty() => {
            println!("asyncua: skipped: {error:#}");
            return Ok(());
        }
        Err(error) => return Err(error.context("asyncua is required")),
    };
    let scripts = root.join("tests/interop");
    let script = |name: &str| {
        let mut command = Command::new(&python);
        command.current_dir(&root).arg(scripts.join(name));
        command
    };
    run_bounded(
        script("status_codes.py").arg("runtime/types/status_codes.csv"),
        CHECK,
    )
    .context("status codes")?;
    let server = demo::start_server(&demo::build(&root, "server")?, 0)?;
    run_bounded(
        &mut check_server(&root, script("check_server.py"), server.url()),
        CHECK,
    )
    .context("asyncua as client of our server")?;
    server.stop(STOP)?;
    Ok(())
}

/// The arguments of the script that browses and reads our server whole.
fn check_server(root: &Path, mut script: Command, url: &str) -> Command {
    script
        .arg(url)
        .arg("--expected")
        .arg("tests/interop/expected.json");
    let nodesets = crate::nodesets::folder(root);
    for model in ["ns0_core", "di"] {
        let file = nodesets.join(format!("{model}.xml"));
        if file.is_file() {
            script.arg("--nodeset").arg(file);
        }
    }
    script
}

/// A Python that has asyncua: an environment of its own under `.peers`.
fn asyncua(root: &Path) -> Result<PathBuf> {
    let environment = root.join(".peers/asyncua");
    let python = environment.join(if cfg!(windows) {
        "Scripts/python.exe"
    } else {
        "bin/python"
    });
    let marker = environment.join("installed");
    if fs::read_to_string(&marker).is_ok_and(|text| text == ASYNCUA) && works(&python) {
        return Ok(python);
    }
    println!("installing {ASYNCUA} into .peers");
    fs::create_dir_all(root.join(".peers"))?;
    run_bounded(
        Command::new("python3")
            .args(["-m", "venv", "--clear"])
            .arg(&environment),
        INSTALL,
    )
    .context("cannot make a Python environment")?;
    let mut pip = Command::new(&python);
    pip.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        ASYNCUA,
    ]);
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
