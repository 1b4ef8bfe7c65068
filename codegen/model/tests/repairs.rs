//! Repairs of published files: what they change, and what is said of those that do not fit.

use uaforge_model::{Loaded, Loader, Severity, canonical};

const REPAIR: &str = include_str!("fixtures/UAF0011.repair");
const FILE: &[u8] = include_bytes!("fixtures/UAF0011.xml");

fn load(file: &[u8], repair: &str) -> Loaded {
    Loader::new().text("file.xml", file).repair("file.repair", repair).load()
}

fn messages(loaded: &Loaded) -> Vec<(Severity, &str)> {
    loaded.diagnostics.iter().map(|found| (found.severity, found.message.as_str())).collect()
}

fn shows_the_repair(loaded: &Loaded) -> bool {
    let ns = loaded.set.ns("urn:fixture").expect("the model");
    canonical::text(&loaded.set, ns).contains("with a repair")
}

#[test]
fn a_repair_changes_its_file_and_is_told() {
    let loaded = load(FILE, REPAIR);
    assert!(shows_the_repair(&loaded));
    let [(severity, message)] = messages(&loaded)[..] else { panic!("{}", loaded.report(false)) };
    assert_eq!(severity, Severity::Note);
    assert!(message.contains("file.repair") && message.contains("misspelt"), "{message}");
    assert!(loaded.report(false).contains("the errata of the fixture"), "{}", loaded.report(false));
}

#[test]
fn another_file_stays_as_it_is() {
    let mut other = FILE.to_vec();
    other.push(b'\n');
    let loaded = load(&other, REPAIR);
    assert!(!shows_the_repair(&loaded));
    let [(severity, message)] = messages(&loaded)[..] else { panic!("{}", loaded.report(false)) };
    assert_eq!(severity, Severity::Warning);
    assert!(message.contains("no file of this run"), "{message}");
}

#[test]
fn what_is_no_repair_is_told_with_its_line() {
    let cases = [
        ("", 0, "missing"),
        ("uaforge-repair 2\n", 1, "no repair"),
        ("uaforge-repair 1\nfile\tx\nwhat\ty\n", 3, "neither"),
        ("uaforge-repair 1\nfile\tx\nwhy\ty\nsource\tz\n@@\n!a\n", 6, "begins with"),
        ("uaforge-repair 1\nfile\tx\nwhy\ty\nsource\tz\n@@\n+a\n", 6, "missing"),
        ("uaforge-repair 1\nfile\tx\nwhy\ty\n@@\n-a\n", 5, "missing"),
        ("uaforge-repair 1\nfile\tx\nwhy\ty\nsource\tz\n@@\n\n", 6, "begins with"),
    ];
    for (text, line, words) in cases {
        let loaded = load(FILE, text);
        let found = messages(&loaded);
        let place = format!("file.repair:{line}:");
        assert!(
            found.iter().any(|(severity, message)| *severity == Severity::Error
                && message.starts_with(&place)
                && message.contains(words)),
            "{text:?}: {found:?}"
        );
    }
}

/// A place that is there twice is none.
#[test]
fn a_hunk_fits_once() {
    let twice =
        REPAIR.split("@@").next().expect("a head").to_owned() + "@@\n-    </References>\n+    </Reference>\n";
    let file = String::from_utf8(FILE.to_vec()).expect("UTF-8");
    assert!(file.matches("    </References>\n").count() > 1, "the fixture has it more than once");
    let loaded = load(FILE, &twice);
    assert!(
        messages(&loaded).iter().any(|(_, message)| message.contains("more than once")),
        "{}",
        loaded.report(false)
    );
}

#[test]
fn a_repair_that_is_not_there_is_told() {
    let loaded = Loader::new().text("file.xml", FILE).repair_file("no/such/file.repair").load();
    assert!(loaded.diagnostics.iter().any(|found| found.code.0 == "UAF0001"), "{}", loaded.report(false));
}
