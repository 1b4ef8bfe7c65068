//! Peers at the demo server: asyncua browses and reads all of it, peers read its structures; and asyncua's
//! own server is dumped by both clients.

use super::peers::Peer;
use super::table::{Table, Verdict};
use super::{Run, SPACE, START, STOP, dumps};
use crate::demo::Profile;
use crate::process::{Server, run_bounded};
use crate::{demo, nodesets, workspace};
use anyhow::Result;
use std::fs;
use std::process::Command;
use std::time::Duration;
use uaforge_model::{Loader, canonical};

const PATIENCE: Duration = Duration::from_secs(180);
/// The documents whose nodes the demo server shows.
const SERVED: [&str; 2] = ["ns0_core", "di"];
const SCRIPTS: &str = "tests/interop/asyncua";

impl Run {
    /// All of it, each comparison a row of the table.
    pub(super) fn whole(&self, peer: &Peer, table: &mut Table) {
        let column = format!("{} client", peer.name);
        table.note(&column, "status codes are its own", verdict(self.status_codes(peer)));
        table.note(&column, "whole address space", verdict(self.client_of_ours(peer)));
        table.note(&column, "bindings and a derived structure", verdict(self.bindings(peer)));
        let column = format!("{} server", peer.name);
        table.note(&column, "whole address space", verdict(self.server_of_ours(peer)));
        table.note(&column, "our server registers with it", verdict(self.registration(peer)));
    }

    /// Our server registers with asyncua's, which is a discovery server too and keeps what has unregistered
    /// (`tests/peers.md`).
    fn registration(&self, peer: &Peer) -> Result<()> {
        let server = Server::start(peer.server().arg(self.root.join(SPACE)), START)?;
        run_bounded(Command::new(&self.ours.register).arg(server.url()).arg("--keeps"), PATIENCE)?;
        server.stop(STOP).map(drop)
    }

    /// A peer that knows nothing of the demo server's model reads its structures.
    pub(super) fn structures(&self, peer: &Peer, table: &mut Table) {
        let Some(mut script) = peer.structures() else { return };
        let mut read = || -> Result<()> {
            let server = demo::start_server(&demo::build(&self.root, "server", Profile::Debug)?, 0)?;
            run_bounded(script.arg(server.url()), PATIENCE)?;
            server.stop(STOP).map(drop)
        };
        let column = format!("{} client", peer.name);
        table.note(&column, "structures by their definition", verdict(read()));
    }

    /// The example of bindings, whose structure no model has.
    fn bindings(&self, peer: &Peer) -> Result<()> {
        let mut build = workspace::cargo(&self.root);
        build.args(["build", "--package", "uaforge", "--example", "bindings"]);
        let program = demo::program_of(&mut build, Profile::Debug)?;
        let server = Server::start(Command::new(program).arg("0"), START)?;
        run_bounded(self.script(peer, "bindings.py").arg(server.url()), PATIENCE)?;
        server.stop(STOP).map(drop)
    }

    fn script(&self, peer: &Peer, name: &str) -> Command {
        let client = peer.client();
        let mut command = Command::new(client.get_program());
        command.current_dir(&self.root).arg(self.root.join(SCRIPTS).join(name));
        command
    }

    fn status_codes(&self, peer: &Peer) -> Result<()> {
        run_bounded(self.script(peer, "status_codes.py").arg("runtime/types/status_codes.csv"), PATIENCE)
    }

    /// asyncua browses and reads the demo server whole.
    fn client_of_ours(&self, peer: &Peer) -> Result<()> {
        let server = demo::start_server(&demo::build(&self.root, "server", Profile::Debug)?, 0)?;
        let mut script = self.script(peer, "check_server.py");
        script.arg(server.url()).args(["--expected", "tests/interop/expected.json"]);
        let folder = self.folder.join("canonical");
        fs::create_dir_all(&folder)?;
        let catalogue = nodesets::Catalogue::read(&self.root)?;
        for name in SERVED {
            let file = nodesets::folder(&self.root).join(format!("{name}.xml"));
            if !file.is_file() {
                continue;
            }
            let model = catalogue.locked(name)?;
            script.arg("--nodeset").arg(&file);
            // What the script shows differences from.
            let set = Loader::new().file(file).load().set;
            let text = set.ns(&model.uri).map(|ns| canonical::text(&set, ns)).unwrap_or_default();
            fs::write(folder.join(format!("{name}.txt")), text)?;
        }
        run_bounded(script.arg("--canonical").arg(&folder), PATIENCE)?;
        server.stop(STOP)?;
        Ok(())
    }

    /// Both clients dump asyncua's server; the dumps are equal line by line.
    fn server_of_ours(&self, peer: &Peer) -> Result<()> {
        let server = Server::start(peer.server().arg(self.root.join(SPACE)), START)?;
        let (theirs, ours) = (self.folder.join("asyncua.dump"), self.folder.join("uaforge.dump"));
        run_bounded(self.script(peer, "dump.py").arg(server.url()).arg(&theirs), PATIENCE)?;
        run_bounded(Command::new(&self.ours.dump).arg(server.url()).arg(&ours), PATIENCE)?;
        server.stop(STOP)?;
        dumps::compare(&theirs, &ours)
    }
}

fn verdict(outcome: Result<()>) -> Verdict {
    match outcome {
        Ok(()) => Verdict::Passed,
        Err(error) => Verdict::Failed(vec![format!("{error:#}")]),
    }
}
