//! `uaforge explain CODE`: the page of a diagnostic.

use std::process::ExitCode;

use uaforge_model::diagnostic::{REGISTRY, explain};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A code such as UAF0102; without one, all codes are listed
    code: Option<String>,
}

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let Some(code) = &arguments.code else {
        for entry in REGISTRY {
            println!("{}  {}", entry.code.0, entry.title);
        }
        return ExitCode::SUCCESS;
    };
    match explain(code) {
        Some(entry) => {
            println!("{}: {}\n\n{}", entry.code.0, entry.title, entry.page.trim_end());
            ExitCode::SUCCESS
        }
        None => {
            eprintln!("there is no code {code}; `uaforge explain` lists all");
            ExitCode::FAILURE
        }
    }
}
