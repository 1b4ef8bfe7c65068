//! The documented file and what wrong files are told.

use core::time::Duration;
use std::path::PathBuf;

use super::{ServerSettings, SettingsError};
use crate::{Limits, Server};

fn documented() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/server.toml"))
}

fn refused(text: &str) -> SettingsError {
    ServerSettings::from_toml(text).expect_err(text)
}

#[test]
fn the_documented_file_says_what_holds_without_it() {
    let settings = ServerSettings::from_file(documented()).expect("the documented file");
    let builder = Server::builder().settings(&settings);
    assert_eq!(builder.limits, Limits::default());
    assert_eq!(builder.discovery_server, Some(crate::DiscoveryServer::default()));
    let registration = crate::Registration::with("opc.tcp://localhost:4840");
    assert_eq!(builder.registration, registration);
    assert_eq!(builder.endpoints, ["opc.tcp://0.0.0.0:4840"]);
    assert!(builder.insecure);
}

#[test]
fn every_key_is_documented() {
    let text = std::fs::read_to_string(documented()).expect("the documented file");
    for table in
        ["", "[application]", "[discovery_server]", "[registration]", "[limits]", "[limits.operations]"]
    {
        let error = refused(&format!("{table}\nqqqq = 1\n"));
        let keys =
            error.help().and_then(|help| help.strip_prefix("known keys here: ")).expect("a list of keys");
        for key in keys.split(", ") {
            let is_there = text.lines().any(|line| {
                line.starts_with(&format!("{key} = "))
                    || line.starts_with(&format!("[{key}]"))
                    || line.ends_with(&format!(".{key}]"))
            });
            assert!(is_there, "{table} {key} is not in docs/server.toml");
        }
    }
}

#[test]
fn an_unknown_key_is_told_with_its_line_and_the_nearest_one() {
    let error = refused("insecure = true\n\n[limits]\nmax_sesions = 5\n");
    assert_eq!((error.line(), error.help()), (Some(4), Some("did you mean `max_sessions`?")));
    assert_eq!(error.to_string(), "settings:4:1: unknown key `max_sesions`; did you mean `max_sessions`?");
    let error = refused("endpoint = ['opc.tcp://127.0.0.1']\n");
    assert_eq!(error.help(), Some("did you mean `endpoints`?"));
    let error = refused("[limits.operations]\nmax_nodes_per_reed = 5\n");
    assert_eq!((error.line(), error.help()), (Some(2), Some("did you mean `max_nodes_per_read`?")));
}

#[test]
fn values_of_a_wrong_kind_are_told_with_their_line() {
    for (text, line) in [
        ("endpoints = 'opc.tcp://127.0.0.1'\n", 1),
        ("[limits]\nmax_sessions = -1\n", 2),
        ("[limits]\nmax_continuation_points = 70000\n", 2),
        ("[limits]\n\nmin_session_timeout = -0.5\n", 3),
        ("[limits]\nmin_session_timeout = nan\n", 2),
        ("[limits]\nmin_session_timeout = 1e30\n", 2),
        ("[limits]\nmin_session_timeout = '10 s'\n", 2),
        ("[limits\n", 1),
        ("insecure = true\ninsecure = false\n", 2),
    ] {
        assert_eq!(refused(text).line(), Some(line), "{}", refused(text));
    }
    let error = ServerSettings::from_file("/no/such/file.toml").expect_err("no file");
    assert!(error.to_string().starts_with("/no/such/file.toml: cannot be read"), "{error}");
}

#[test]
fn what_is_not_said_stays() {
    let settings = ServerSettings::from_toml("[limits]\nmin_session_timeout = 0.25\n").expect("settings");
    let builder = Server::builder().endpoint("opc.tcp://127.0.0.1:0").insecure().settings(&settings);
    let expected = Limits { min_session_timeout: Duration::from_millis(250), ..Limits::default() };
    assert_eq!(builder.limits, expected);
    assert_eq!(builder.endpoints, ["opc.tcp://127.0.0.1:0"]);
    assert!(builder.insecure && builder.discovery_server.is_none());
}
