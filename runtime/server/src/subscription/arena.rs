//! Places with keys that do not come back: a key of what is gone finds nothing.

/// A place, and how often it was taken before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Key {
    place: u32,
    generation: u32,
}

#[derive(Debug)]
struct Place<T> {
    generation: u32,
    value: Option<T>,
}

/// Values at places that do not move.
#[derive(Debug)]
pub(crate) struct Arena<T> {
    places: Vec<Place<T>>,
    free: Vec<u32>,
    /// Generation of a place that is taken for the first time.
    first: u32,
}

/// Places that are kept though all of them are free.
const KEEP: usize = 1_024;

impl<T> Default for Arena<T> {
    fn default() -> Self {
        Self { places: Vec::new(), free: Vec::new(), first: 0 }
    }
}

impl<T> Arena<T> {
    pub(crate) fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    pub(crate) fn insert(&mut self, value: T) -> Key {
        let number = self.free.pop().unwrap_or_else(|| {
            self.places.push(Place { generation: self.first, value: None });
            u32::try_from(self.places.len() - 1).unwrap_or(u32::MAX)
        });
        let mut generation = 0;
        if let Some(place) = self.places.get_mut(number as usize) {
            place.value = Some(value);
            generation = place.generation;
        }
        Key { place: number, generation }
    }

    #[inline]
    pub(crate) fn get(&self, key: Key) -> Option<&T> {
        let place = self.places.get(key.place as usize)?;
        place.value.as_ref().filter(|_| place.generation == key.generation)
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, key: Key) -> Option<&mut T> {
        let place = self.places.get_mut(key.place as usize)?;
        place.value.as_mut().filter(|_| place.generation == key.generation)
    }

    pub(crate) fn remove(&mut self, key: Key) -> Option<T> {
        let place = self.places.get_mut(key.place as usize).filter(|p| p.generation == key.generation)?;
        let value = place.value.take()?;
        place.generation = place.generation.wrapping_add(1);
        self.free.push(key.place);
        if self.len() == 0 && self.places.len() > KEEP {
            // The memory of a crowd is given back, and no key of theirs comes back with new places.
            let latest = self.places.iter().map(|place| place.generation).max();
            *self = Self { first: latest.unwrap_or_default().wrapping_add(1), ..Self::default() };
        }
        Some(value)
    }

    /// Keys of all values.
    pub(crate) fn keys(&self) -> impl Iterator<Item = Key> {
        let key = |(place, slot): (u32, &Place<T>)| {
            slot.value.as_ref().map(|_| Key { place, generation: slot.generation })
        };
        (0..).zip(&self.places).filter_map(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_do_not_come_back() {
        let mut arena = Arena::default();
        let (a, b) = (arena.insert("a"), arena.insert("b"));
        assert_eq!((arena.len(), arena.get(a)), (2, Some(&"a")));
        assert_eq!(arena.remove(a), Some("a"));
        let c = arena.insert("c");
        assert!(arena.get(a).is_none() && arena.get_mut(a).is_none() && arena.remove(a).is_none());
        assert_eq!((arena.get(b), arena.get(c)), (Some(&"b"), Some(&"c")));
        assert_eq!(arena.keys().collect::<Vec<_>>(), [c, b]);
    }

    #[test]
    fn a_crowd_leaves_no_memory_behind() {
        let mut arena = Arena::default();
        let keys: Vec<Key> = (0..5_000).map(|number| arena.insert(number)).collect();
        for key in &keys {
            arena.remove(*key);
        }
        assert_eq!((arena.places.capacity(), arena.free.capacity()), (0, 0));
        let first = arena.insert(1);
        assert!(!keys.contains(&first) && arena.get(keys[0]).is_none());
    }
}
