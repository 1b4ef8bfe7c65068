//! Splits names of models into words and joins them as Rust writes names.

use std::fmt::Write as _;

/// The words of a name: cut at what is neither letter nor digit, before an upper-case letter after a
/// lower-case one or a digit, and before the last upper-case letter of a run (`XMLText` → XML, Text).
pub(super) fn words(name: &str) -> Vec<String> {
    let letters: Vec<char> = spelled(name, is_plain).chars().collect();
    let mut words = Vec::new();
    let mut word = String::new();
    for (index, &letter) in letters.iter().enumerate() {
        if !letter.is_alphanumeric() {
            words.push(std::mem::take(&mut word));
            continue;
        }
        let before = index.checked_sub(1).and_then(|before| letters.get(before));
        let after = letters.get(index + 1);
        let starts_word = letter.is_uppercase()
            && (before.is_some_and(|before| before.is_lowercase() || before.is_numeric())
                || (before.is_some_and(|before| before.is_uppercase())
                    && after.is_some_and(|after| after.is_lowercase())));
        if starts_word {
            words.push(std::mem::take(&mut word));
        }
        word.push(letter);
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

/// `ServerStatus` → `server_status`
pub(super) fn snake(name: &str) -> String {
    words(name).join("_").to_lowercase()
}

/// `ServerStatus` → `SERVER_STATUS`
pub(super) fn screaming(name: &str) -> String {
    words(name).join("_").to_uppercase()
}

/// `3D-frame_type` → `3DFrameType`; letters inside words stay as they are.
pub(super) fn pascal(name: &str) -> String {
    let mut out = String::new();
    for word in spelled(name, is_plain).split(|letter: char| !letter.is_alphanumeric()) {
        let mut letters = word.chars();
        if let Some(first) = letters.next() {
            out.extend(first.to_uppercase());
            out.push_str(letters.as_str());
        }
    }
    out
}

/// The name with every letter beyond ASCII spelled by its number.
pub(super) fn in_ascii(name: &str) -> String {
    spelled(name, |letter| letter.is_ascii())
}

/// Spells letters that are not to be kept by their numbers; what is no letter or digit stays.
fn spelled(name: &str, keep: impl Fn(char) -> bool) -> String {
    let mut out = String::new();
    for letter in name.chars() {
        if letter.is_alphanumeric() && !keep(letter) {
            let _ = write!(out, "u{:x}", u32::from(letter));
        } else {
            out.push(letter);
        }
    }
    out
}

/// Letters that Rust takes in names without a warning: not those that look like others, and none that
/// normalisation would change.
fn is_plain(letter: char) -> bool {
    match letter {
        '\u{131}' | '\u{132}' | '\u{133}' | '\u{138}' | '\u{13f}' | '\u{140}' | '\u{149}' | '\u{17f}' => {
            false
        }
        '\u{c0}'..='\u{17f}' => true,
        '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30fa}' => true,
        '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' => true,
        _ => letter.is_ascii(),
    }
}

#[cfg(test)]
mod tests {
    use super::{pascal, screaming, snake};

    #[test]
    fn words_are_found() {
        assert_eq!(snake("nodesToRead"), "nodes_to_read");
        assert_eq!(snake("XMLText"), "xml_text");
        assert_eq!(snake("MaxSupportedSampleRate2Hz"), "max_supported_sample_rate2_hz");
        assert_eq!(screaming("Server_ServerStatus"), "SERVER_SERVER_STATUS");
        assert_eq!(screaming("LowTemp-Cooking"), "LOW_TEMP_COOKING");
        assert_eq!(pascal("low temp_Cooking"), "LowTempCooking");
        assert_eq!(snake("Größe Δ²"), "größe_u394ub2");
        assert_eq!(pascal("温度"), "温度");
    }
}
