//! The queue of a monitored item (OPC 10000-4 §5.13.1.5): its size, what is dropped, and who is marked.

use std::collections::VecDeque;

/// What a queue holds.
pub(crate) trait Entry {
    /// Others were dropped beside this one.
    fn mark_overflow(&mut self);
}

impl Entry for super::sample::Sample {
    fn mark_overflow(&mut self) {
        Self::mark_overflow(self);
    }
}

/// A queue that is never longer than its size. It takes memory for what it holds, not for what it may hold.
#[derive(Debug)]
pub(crate) struct Queue<T> {
    size: u32,
    discard_oldest: bool,
    entries: Entries<T>,
}

#[derive(Debug)]
enum Entries<T> {
    /// No more than one, which is what most queues have room for.
    One(Option<T>),
    Many(VecDeque<T>),
}

impl<T: Entry> Queue<T> {
    /// An empty queue. A size of 0 is one of 1.
    pub(crate) fn new(size: u32, discard_oldest: bool) -> Self {
        Self { size: size.max(1), discard_oldest, entries: Entries::One(None) }
    }

    /// Entries that wait.
    pub(crate) fn len(&self) -> usize {
        match &self.entries {
            Entries::One(entry) => usize::from(entry.is_some()),
            Entries::Many(entries) => entries.len(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn size(&self) -> u32 {
        self.size
    }

    /// Whether the oldest entries make room for new ones.
    pub(crate) fn discards_oldest(&self) -> bool {
        self.discard_oldest
    }

    /// Adds an entry; the one that made room for it. Without `room`, the queue counts as full as it is.
    ///
    /// A queue of size 1 holds the newest entry and says nothing. In a larger one the oldest entry goes and
    /// the next oldest is marked, or the newest entry is replaced and its successor is marked.
    pub(crate) fn push(&mut self, mut entry: T, room: bool) -> Option<T> {
        if self.size == 1 {
            return self.replace_single(entry);
        }
        let is_full = self.len() >= self.size as usize || (!room && !self.is_empty());
        if !is_full {
            self.append(entry);
            return None;
        }
        if self.len() == 1 {
            // What one memory limit leaves of a longer queue: there is nobody else to mark.
            entry.mark_overflow();
            return self.replace_single(entry);
        }
        let Entries::Many(entries) = &mut self.entries else { return None };
        if self.discard_oldest {
            let dropped = entries.pop_front();
            if let Some(oldest) = entries.front_mut() {
                oldest.mark_overflow();
            }
            entries.push_back(entry);
            dropped
        } else {
            entry.mark_overflow();
            let dropped = entries.pop_back();
            entries.push_back(entry);
            dropped
        }
    }

    fn replace_single(&mut self, entry: T) -> Option<T> {
        match &mut self.entries {
            Entries::One(one) => one.replace(entry),
            Entries::Many(entries) => {
                let dropped = entries.pop_back();
                self.entries = Entries::One(Some(entry));
                dropped
            }
        }
    }

    fn append(&mut self, entry: T) {
        match &mut self.entries {
            Entries::One(one @ None) => *one = Some(entry),
            Entries::One(one) => {
                self.entries = Entries::Many(one.take().into_iter().chain([entry]).collect())
            }
            Entries::Many(entries) => entries.push_back(entry),
        }
    }

    /// Takes the oldest entry.
    pub(crate) fn pop(&mut self) -> Option<T> {
        match &mut self.entries {
            Entries::One(one) => one.take(),
            Entries::Many(entries) => {
                let entry = entries.pop_front();
                if entries.is_empty() {
                    self.entries = Entries::One(None);
                }
                entry
            }
        }
    }

    /// Changes size and rule (ModifyMonitoredItems, OPC 10000-4 §5.13.3); what finds no room any more is handed
    /// to `dropped`: the oldest entries, or all between the oldest ones and the newest. Who is left is marked as if
    /// the queue had overflowed.
    pub(crate) fn resize(&mut self, size: u32, discard_oldest: bool, mut dropped: impl FnMut(T)) {
        self.size = size.max(1);
        self.discard_oldest = discard_oldest;
        let keep = self.size as usize;
        let Entries::Many(entries) = &mut self.entries else { return };
        let Some(excess) = entries.len().checked_sub(keep).filter(|excess| *excess > 0) else { return };
        let first = if discard_oldest { 0 } else { keep - 1 };
        entries.drain(first..first + excess).for_each(&mut dropped);
        if keep == 1 {
            self.entries = Entries::One(entries.pop_front());
            return;
        }
        let marked = if discard_oldest { entries.front_mut() } else { entries.back_mut() };
        if let Some(marked) = marked {
            marked.mark_overflow();
        }
    }

    /// Empties the queue.
    pub(crate) fn clear(&mut self, dropped: impl FnMut(T)) {
        match core::mem::replace(&mut self.entries, Entries::One(None)) {
            Entries::One(one) => one.into_iter().for_each(dropped),
            Entries::Many(entries) => entries.into_iter().for_each(dropped),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A number, and whether it is marked.
    type Marked = (u32, bool);

    impl Entry for Marked {
        fn mark_overflow(&mut self) {
            self.1 = true;
        }
    }

    fn filled(size: u32, discard_oldest: bool, entries: u32) -> Queue<Marked> {
        let mut queue = Queue::new(size, discard_oldest);
        for entry in 1..=entries {
            queue.push((entry, false), true);
            assert!(queue.len() <= queue.size() as usize);
        }
        queue
    }

    fn drained(mut queue: Queue<Marked>) -> Vec<Marked> {
        std::iter::from_fn(|| queue.pop()).collect()
    }

    #[test]
    fn the_oldest_is_discarded() {
        assert_eq!(drained(filled(3, true, 7)), [(5, true), (6, false), (7, false)]);
    }

    #[test]
    fn the_newest_is_discarded() {
        assert_eq!(drained(filled(3, false, 7)), [(1, false), (2, false), (7, true)]);
    }

    #[test]
    fn a_single_entry_is_never_marked() {
        for discard_oldest in [true, false] {
            assert_eq!(drained(filled(1, discard_oldest, 7)), [(7, false)]);
            assert_eq!(drained(filled(0, discard_oldest, 7)), [(7, false)]);
        }
    }

    #[test]
    fn a_queue_with_room_drops_nothing() {
        let expected: Vec<Marked> = (1..=7).map(|entry| (entry, false)).collect();
        assert_eq!(drained(filled(10, true, 7)), expected);
        assert_eq!(drained(filled(7, false, 7)), expected);
        assert_eq!(drained(filled(u32::MAX, true, 7)), expected);
    }

    #[test]
    fn a_smaller_size_drops_by_the_rule() {
        for (discard_oldest, left) in [(true, [(4, true), (5, false)]), (false, [(1, false), (5, true)])] {
            let mut queue = filled(5, true, 5);
            let mut dropped = 0;
            queue.resize(2, discard_oldest, |_| dropped += 1);
            assert_eq!((drained(queue), dropped), (left.to_vec(), 3));
        }
        for discard_oldest in [true, false] {
            let mut queue = filled(5, true, 5);
            queue.resize(1, discard_oldest, drop);
            assert_eq!(drained(queue), [(5, false)]);
        }
        let mut queue = filled(5, true, 2);
        queue.resize(2, true, drop);
        assert_eq!(drained(queue), [(1, false), (2, false)]);
    }

    #[test]
    fn without_memory_the_queue_grows_no_more() {
        let mut queue = filled(10, true, 2);
        assert_eq!(queue.push((3, false), false), Some((1, false)));
        assert_eq!(drained(queue), [(2, true), (3, false)]);
        let mut queue = filled(10, false, 1);
        assert_eq!(queue.push((2, false), false), Some((1, false)));
        assert_eq!(drained(queue), [(2, true)]);
        let mut queue = filled(10, true, 0);
        assert_eq!(queue.push((1, false), false), None);
        assert_eq!(drained(queue), [(1, false)]);
    }

    #[test]
    fn clearing_hands_everything_out() {
        let mut queue = filled(3, true, 3);
        let mut dropped = Vec::new();
        queue.clear(|entry| dropped.push(entry.0));
        assert_eq!((dropped, queue.is_empty()), (vec![1, 2, 3], true));
    }
}
