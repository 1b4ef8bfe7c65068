//! The model itself: what it requires, its version, its XML namespace.

use super::side::Side;
use super::{BEHAVIOURAL, CLIENTS, Report, SERVERS};
use crate::dates::parse_date;
use crate::resolved::Requirement;

pub(super) fn compare(report: &mut Report, old: &Side<'_>, new: &Side<'_>) {
    for before in &old.model.required {
        let Some(after) = new.model.required.iter().find(|after| after.uri == before.uri) else {
            report.of_model(
                "requirement-removed",
                BEHAVIOURAL,
                format!("{} is no longer required", before.uri),
            );
            continue;
        };
        if stated(before) == stated(after) {
            continue;
        }
        let message =
            format!("{} is required as {}, before as {}", before.uri, stated(after), stated(before));
        // A server has to carry the newer one; older ones still do where less is asked for.
        let classes = if is_raised(before, after) { SERVERS } else { BEHAVIOURAL };
        report.of_model("requirement-changed", classes, message);
    }
    for after in &new.model.required {
        if !old.model.required.iter().any(|before| before.uri == after.uri) {
            report.of_model("requirement-added", SERVERS, format!("{} is required now", after.uri));
        }
    }
    if old.model.xml_schema_uri != new.model.xml_schema_uri {
        let text = |uri: &Option<String>| uri.clone().unwrap_or_else(|| "none".to_owned());
        let message = format!(
            "XmlSchemaUri is {}, before {}",
            text(&new.model.xml_schema_uri),
            text(&old.model.xml_schema_uri)
        );
        report.of_model("xml-schema-changed", CLIENTS, message);
    }
}

fn stated(required: &Requirement) -> String {
    let parts = [&required.version, &required.publication_date, &required.model_version];
    let parts: Vec<&str> = parts.into_iter().flatten().map(String::as_str).collect();
    if parts.is_empty() { "any version".to_owned() } else { parts.join(" of ") }
}

/// True if the new one is later, or the dates do not tell.
fn is_raised(before: &Requirement, after: &Requirement) -> bool {
    let date = |required: &Requirement| required.publication_date.as_deref().and_then(parse_date);
    match (date(before), date(after)) {
        (Some(before), Some(after)) => after > before,
        (Some(_), None) => false,
        (None, _) => true,
    }
}

/// Says when the content changed and neither version nor date did; a changed version alone is worth a line too.
pub(super) fn version(report: &mut Report, old: &Side<'_>, new: &Side<'_>) {
    let of = |side: &Side<'_>| {
        let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "-".to_owned());
        format!("{} of {}", text(&side.model.version), text(&side.model.publication_date))
    };
    let model = report.model.clone();
    let changed = report.changes.iter().any(|change| change.model == model);
    let (before, after) = (of(old), of(new));
    if before != after {
        report.of_model("version-changed", BEHAVIOURAL, format!("the version is {after}, before {before}"));
    } else if changed {
        let message = format!("the content changed, version and date did not: both are {after}");
        report.of_model("version-not-changed", BEHAVIOURAL, message);
    }
    if old.model.model_version != new.model.model_version {
        report.of_model("model-version-changed", BEHAVIOURAL, "ModelVersion differs".to_owned());
    }
}
