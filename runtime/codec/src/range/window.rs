//! The elements of an array or matrix that lie inside bounds.

use alloc::vec::Vec;

use super::Bounds;

/// Ranges of indexes in each dimension, all of them within the value.
pub(super) struct Window {
    ranges: Vec<core::ops::Range<usize>>,
    lengths: Vec<usize>,
}

impl Window {
    /// The bounds as far as `dimensions` go; `None` if nothing is left. `take` says what of one dimension.
    pub(super) fn new(
        bounds: &[Bounds],
        dimensions: &[u32],
        take: fn(Bounds, usize) -> Option<core::ops::Range<usize>>,
    ) -> Option<Self> {
        let lengths: Vec<usize> =
            dimensions.iter().map(|len| usize::try_from(*len).unwrap_or(usize::MAX)).collect();
        let ranges = bounds.iter().zip(&lengths).map(|(bounds, len)| take(*bounds, *len));
        Some(Self { ranges: ranges.collect::<Option<_>>()?, lengths })
    }

    /// Lengths of the part.
    pub(super) fn dimensions(&self) -> Vec<u32> {
        self.ranges.iter().map(|range| u32::try_from(range.len()).unwrap_or(u32::MAX)).collect()
    }

    /// Elements of the part.
    pub(super) fn count(&self) -> usize {
        self.ranges.iter().map(ExactSizeIterator::len).product()
    }

    /// Calls `run` for each run of neighbours, in order: indexes into all elements, the last dimension fastest.
    pub(super) fn for_each_run(&self, mut run: impl FnMut(core::ops::Range<usize>)) {
        self.descend(0, 0, &mut run);
    }

    fn descend(&self, dimension: usize, offset: usize, run: &mut dyn FnMut(core::ops::Range<usize>)) {
        let Some(range) = self.ranges.get(dimension) else { return };
        if dimension + 1 == self.ranges.len() {
            run(offset.saturating_add(range.start)..offset.saturating_add(range.end));
            return;
        }
        let stride =
            self.lengths.iter().skip(dimension + 1).fold(1, |all: usize, len| all.saturating_mul(*len));
        for index in range.clone() {
            self.descend(dimension + 1, offset.saturating_add(index.saturating_mul(stride)), run);
        }
    }
}
