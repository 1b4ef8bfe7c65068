//! `uaforge explain CODE`: the page of a diagnostic.

use std::process::ExitCode;

use serde_json::json;
use uaforge_model::diagnostic::{Entry, REGISTRY, explain};

use crate::MessageFormat;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A code such as UAF0102; without one, all codes are listed
    code: Option<String>,
    /// How the page is printed
    #[arg(long, value_enum, default_value = "human")]
    message_format: MessageFormat,
}

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let Some(code) = &arguments.code else {
        for entry in REGISTRY {
            match arguments.message_format {
                MessageFormat::Human => println!("{}  {}", entry.code.0, entry.title),
                MessageFormat::Json => print_json(entry),
            }
        }
        return ExitCode::SUCCESS;
    };
    let Some(entry) = explain(code) else {
        eprintln!("there is no code {code}; `uaforge explain` lists all");
        return ExitCode::FAILURE;
    };
    match arguments.message_format {
        MessageFormat::Human => println!("{}: {}\n\n{}", entry.code.0, entry.title, entry.page.trim_end()),
        MessageFormat::Json => print_json(entry),
    }
    ExitCode::SUCCESS
}

fn print_json(entry: &Entry) {
    println!("{}", json!({ "code": entry.code.0, "title": entry.title, "page": entry.page.trim_end() }));
}
