//! Debug output of values in values, of bounded depth.

use core::fmt;

/// A value inside of another one; more than eight such levels are written as `…`.
pub(crate) struct Inner<'a>(pub(crate) &'a dyn fmt::Debug);

/// Writes one level deeper. How deep one is stands in the fill character: derived implementations hand it
/// on, and without a width it means nothing else.
macro_rules! deeper {
    ($value:expr, $f:ident, $last:literal, first $first:literal, $($here:literal then $next:literal),*) => {
        match ($f.fill(), $f.alternate()) {
            ($last, _) => $f.write_str("…"),
            $(
                ($here, false) => write!($f, concat!("{:", $next, "<?}"), $value),
                ($here, true) => write!($f, concat!("{:", $next, "<#?}"), $value),
            )*
            (_, false) => write!($f, concat!("{:", $first, "<?}"), $value),
            (_, true) => write!($f, concat!("{:", $first, "<#?}"), $value),
        }
    };
}

impl fmt::Debug for Inner<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        deeper!(
            self.0, f, '\u{E008}', first '\u{E001}',
            '\u{E001}' then '\u{E002}',
            '\u{E002}' then '\u{E003}',
            '\u{E003}' then '\u{E004}',
            '\u{E004}' then '\u{E005}',
            '\u{E005}' then '\u{E006}',
            '\u{E006}' then '\u{E007}',
            '\u{E007}' then '\u{E008}'
        )
    }
}

/// The parts of a structure that are there.
pub(crate) struct Parts<'a, 'f>(fmt::DebugStruct<'a, 'f>);

impl<'a, 'f> Parts<'a, 'f> {
    pub(crate) fn of(name: &str, f: &'a mut fmt::Formatter<'f>) -> Self {
        Self(f.debug_struct(name))
    }

    pub(crate) fn part(mut self, name: &str, value: Option<impl fmt::Debug>) -> Self {
        if let Some(value) = value {
            self.0.field(name, &value);
        }
        self
    }

    pub(crate) fn finish(mut self) -> fmt::Result {
        self.0.finish()
    }
}
