//! Where things are in the repository, and how other programs are called.

use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// A command that runs cargo in `folder` as this task was itself run.
pub(crate) fn cargo(folder: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(folder);
    command
}

/// Runs `command` and fails, with what it printed, unless it succeeds.
pub(crate) fn output_of(command: &mut Command) -> Result<String> {
    let shown = shown(command);
    let output = command.output().with_context(|| format!("cannot run `{shown}`"))?;
    if !output.status.success() {
        bail!(
            "`{shown}` failed ({})\n{}{}",
            output.status,
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The command as a person would type it.
fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let name = program.file_name().unwrap_or(program.as_os_str());
    let arguments = command.get_args().map(|a| a.to_string_lossy());
    std::iter::once(name.to_string_lossy()).chain(arguments).collect::<Vec<_>>().join(" ")
}

/// The files of the repository that git tracks or would track, relative to the root, sorted.
pub(crate) fn files(root: &Path) -> Result<Vec<PathBuf>> {
    let list = output_of(Command::new("git").current_dir(root).args([
        "ls-files",
        "--cached",
        "--others",
        "--exclude-standard",
    ]))?;
    let mut files: Vec<PathBuf> =
        list.lines().map(PathBuf::from).filter(|path| root.join(path).is_file()).collect();
    files.sort();
    files.dedup();
    Ok(files)
}
