//! The patterns of the operator Like (OPC 10000-4 §7.7.3).

/// One element of a pattern.
enum Piece {
    /// `%`: any characters, or none.
    Any,
    /// `_`: one character.
    One,
    /// A character that stands for itself.
    Exact(char),
    /// `[…]` or `[^…]`: one character of ranges, or outside of all of them.
    Class { ranges: Vec<(char, char)>, is_negated: bool },
}

impl Piece {
    fn fits(&self, character: char) -> bool {
        match self {
            Self::Any | Self::One => true,
            Self::Exact(exact) => *exact == character,
            Self::Class { ranges, is_negated } => {
                let is_inside = ranges.iter().any(|(from, to)| (*from..=*to).contains(&character));
                is_inside != *is_negated
            }
        }
    }
}

/// A pattern, taken apart.
fn pieces(pattern: &str) -> Vec<Piece> {
    let mut characters = pattern.chars().peekable();
    let mut pieces = Vec::new();
    while let Some(character) = characters.next() {
        pieces.push(match character {
            '%' => Piece::Any,
            '_' => Piece::One,
            '\\' => Piece::Exact(characters.next().unwrap_or('\\')),
            '[' => class(&mut characters),
            exact => Piece::Exact(exact),
        });
    }
    pieces
}

/// What stands between brackets; without a closing one, the rest of the pattern.
fn class(characters: &mut core::iter::Peekable<core::str::Chars<'_>>) -> Piece {
    let is_negated = characters.next_if_eq(&'^').is_some();
    let mut ranges: Vec<(char, char)> = Vec::new();
    let mut is_range = false;
    while let Some(mut character) = characters.next() {
        match character {
            ']' => break,
            '-' if !ranges.is_empty() && !is_range && characters.peek().is_some_and(|next| *next != ']') => {
                is_range = true;
                continue;
            }
            '\\' => character = characters.next().unwrap_or('\\'),
            _ => {}
        }
        match ranges.last_mut().filter(|_| is_range) {
            Some(last) => last.1 = character,
            None => ranges.push((character, character)),
        }
        is_range = false;
    }
    Piece::Class { ranges, is_negated }
}

/// Whether a text matches a pattern as a whole. It takes no more than the product of both lengths: after a `%` only
/// the last one is tried again.
pub(super) fn is_like(text: &str, pattern: &str) -> bool {
    let pieces = pieces(pattern);
    let text: Vec<char> = text.chars().collect();
    let (mut at, mut piece) = (0, 0);
    let mut again: Option<(usize, usize)> = None;
    while let Some(character) = text.get(at) {
        match pieces.get(piece) {
            Some(Piece::Any) => {
                again = Some((piece + 1, at));
                piece += 1;
            }
            Some(known) if known.fits(*character) => {
                at += 1;
                piece += 1;
            }
            _ => {
                let Some((behind, from)) = &mut again else { return false };
                *from += 1;
                (piece, at) = (*behind, *from);
            }
        }
    }
    pieces.get(piece..).unwrap_or_default().iter().all(|piece| matches!(piece, Piece::Any))
}

#[cfg(test)]
mod tests {
    use super::is_like;

    #[test]
    fn patterns() {
        let matching = [
            ("main", "main%"),
            ("mainstream", "main%"),
            ("en", "%en%"),
            ("seven", "%en"),
            ("Thales", "[TH]hales"),
            ("abc5", "abc[13-68]"),
            ("abc4", "abc[13-68]"),
            ("xyzd", "xyz[c-e]"),
            ("abc2", "abc[^13-5]"),
            ("but", "b_t"),
            ("100%", "100\\%"),
            ("a_b", "a\\_b"),
            ("", "%"),
            ("", ""),
            ("a-b", "a[x-]b"),
            ("aXbXc", "a%b%c"),
        ];
        for (text, pattern) in matching {
            assert!(is_like(text, pattern), "{text} {pattern}");
        }
        let others = [
            ("mai", "main%"),
            ("abc2", "abc[13-68]"),
            ("abc7", "abc[13-68]"),
            ("abc4", "abc[^13-5]"),
            ("bt", "b_t"),
            ("1000", "100\\%"),
            ("a", ""),
            ("ends", "%en"),
            ("aXbX", "a%b%c"),
        ];
        for (text, pattern) in others {
            assert!(!is_like(text, pattern), "{text} {pattern}");
        }
    }

    #[test]
    fn a_hostile_pattern_takes_bounded_time() {
        let text = "a".repeat(2_000);
        let pattern = format!("{}b", "%a".repeat(1_000));
        assert!(!is_like(&text, &pattern));
    }
}
