//! Waiting for several futures at once.

use core::future::{Future, poll_fn};
use core::pin::Pin;
use core::task::Poll;

/// Runs all futures together and gives their outputs in order.
pub(crate) async fn join_all<F: Future>(futures: impl IntoIterator<Item = F>) -> Vec<F::Output> {
    let mut slots: Vec<Slot<F>> = futures.into_iter().map(|future| Slot::Waiting(Box::pin(future))).collect();
    poll_fn(|cx| {
        let mut waiting = false;
        for slot in &mut slots {
            if let Slot::Waiting(future) = slot {
                match future.as_mut().poll(cx) {
                    Poll::Ready(output) => *slot = Slot::Done(output),
                    Poll::Pending => waiting = true,
                }
            }
        }
        if waiting { Poll::Pending } else { Poll::Ready(()) }
    })
    .await;
    slots.into_iter().filter_map(Slot::output).collect()
}

enum Slot<F: Future> {
    Waiting(Pin<Box<F>>),
    Done(F::Output),
}

impl<F: Future> Slot<F> {
    fn output(self) -> Option<F::Output> {
        match self {
            Self::Done(output) => Some(output),
            Self::Waiting(_) => None,
        }
    }
}
