//! Browse paths one of whose steps waits for a node manager.

use core::task::Poll;

use uaforge_codec::{
    ArrayRef, ExpandedNodeId, NodeIdRef, QualifiedName, QualifiedNameRef, StatusCode, StrRef,
};
use uaforge_types::{RelativePathElement, RelativePathElementRef};

use super::walk::{Walked, Walker};
use crate::manager::{Deferred, Late, LateStep};
use crate::proto::buffers::WalkBuffers;

/// A path one of whose steps waits for a manager.
pub(crate) struct LateWalk {
    elements: Vec<RelativePathElement>,
    /// The first element that is not followed yet; the targets of the one before are being gathered.
    next: usize,
    targets: Vec<ExpandedNodeId>,
    waits: Vec<LateStep>,
}

/// What became of a late walk.
pub(crate) enum LateEnd {
    /// It is over; the targets and the remaining path index, or a status.
    Over(Result<(Vec<ExpandedNodeId>, u32), StatusCode>),
    /// A further step waits.
    Waits(LateWalk),
}

impl LateWalk {
    /// The walk along these elements, of which `next` are followed once the targets are there.
    pub(crate) fn new(
        elements: &ArrayRef<'_, RelativePathElementRef<'_>>,
        next: usize,
        buffers: &mut WalkBuffers,
    ) -> Self {
        Self::of(elements.iter().map(|element| owned(&element)).collect(), next, buffers)
    }

    fn of(elements: Vec<RelativePathElement>, next: usize, buffers: &mut WalkBuffers) -> Self {
        let targets = core::mem::take(&mut buffers.targets);
        Self { elements, next, targets, waits: core::mem::take(&mut buffers.late) }
    }

    /// The wait for the step, as an answer of the path's result.
    pub(crate) fn deferred(mut self, index: usize, node: NodeIdRef<'_>) -> Deferred {
        let mut failed = StatusCode::GOOD;
        let mut waits = core::mem::take(&mut self.waits);
        let all = core::future::poll_fn(move |cx| {
            waits.retain_mut(|step| match step.as_mut().poll(cx) {
                Poll::Pending => true,
                Poll::Ready(Ok(found)) => {
                    self.targets.extend(found);
                    false
                }
                Poll::Ready(Err(status)) => {
                    failed = status;
                    false
                }
            });
            if !waits.is_empty() {
                return Poll::Pending;
            }
            let walk = Self {
                elements: core::mem::take(&mut self.elements),
                next: self.next,
                targets: core::mem::take(&mut self.targets),
                waits: Vec::new(),
            };
            Poll::Ready(Late::Walk(Box::new((walk, failed))))
        });
        Deferred::new(index, node, false, all)
    }

    /// Goes on after the step that was waited for.
    pub(crate) fn resume(self, mut walker: Walker<'_>, step: StatusCode) -> LateEnd {
        if step.is_bad() {
            return LateEnd::Over(Err(step));
        }
        walker.buffers.targets = self.targets;
        let count = self.elements.len();
        let walked = match walker.arrive(self.next, count) {
            Ok(Some(remaining)) => Ok(Walked::End(remaining)),
            Ok(None) => {
                let elements = self.elements.iter().map(view).enumerate().skip(self.next);
                walker.walk(elements, count)
            }
            Err(status) => Err(status),
        };
        match walked {
            Ok(Walked::Waits(at)) => LateEnd::Waits(Self::of(self.elements, at, walker.buffers)),
            Ok(Walked::End(remaining)) => {
                LateEnd::Over(Ok((core::mem::take(&mut walker.buffers.frontier), remaining)))
            }
            Err(status) => LateEnd::Over(Err(status)),
        }
    }
}

fn owned(element: &RelativePathElementRef<'_>) -> RelativePathElement {
    RelativePathElement {
        reference_type_id: element.reference_type_id.to_owned(),
        is_inverse: element.is_inverse,
        include_subtypes: element.include_subtypes,
        target_name: element.target_name.to_owned(),
    }
}

fn view(element: &RelativePathElement) -> RelativePathElementRef<'_> {
    RelativePathElementRef {
        reference_type_id: element.reference_type_id.as_ref(),
        is_inverse: element.is_inverse,
        include_subtypes: element.include_subtypes,
        target_name: name(&element.target_name),
    }
}

fn name(name: &QualifiedName) -> QualifiedNameRef<'_> {
    QualifiedNameRef {
        namespace_index: name.namespace_index,
        name: StrRef(name.name.as_str().map(str::as_bytes)),
    }
}
