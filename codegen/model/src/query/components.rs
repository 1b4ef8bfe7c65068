//! Strongly connected components of a graph of ids, in time linear in its edges and without recursion (Tarjan).

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::resolved::Id;

/// Which ids lead to which others.
pub type Edges = BTreeMap<Id, BTreeSet<Id>>;

/// The components of a graph: ids of one component lead to each other.
#[derive(Debug, Default)]
pub struct Components<'a> {
    numbers: HashMap<&'a Id, usize>,
    /// Ids that lead to themselves.
    cyclic: BTreeSet<&'a Id>,
}

/// The state of one id during the search.
#[derive(Clone, Copy)]
struct Visit {
    order: usize,
    lowest: usize,
    is_open: bool,
}

impl<'a> Components<'a> {
    /// Finds the components.
    pub fn new(edges: &'a Edges) -> Self {
        let mut components = Self::default();
        let mut visits: HashMap<&Id, Visit> = HashMap::new();
        let mut open: Vec<&Id> = Vec::new();
        for root in edges.keys() {
            if visits.contains_key(root) {
                continue;
            }
            let mut path = vec![(root, targets(edges, root))];
            enter(&mut visits, &mut open, root);
            while let Some((id, rest)) = path.last_mut() {
                let id = *id;
                match rest.next() {
                    Some(next) if !visits.contains_key(next) => {
                        enter(&mut visits, &mut open, next);
                        path.push((next, targets(edges, next)));
                    }
                    Some(next) => {
                        let reached = visits.get(next).filter(|visit| visit.is_open).map(|visit| visit.order);
                        lower(&mut visits, id, reached);
                    }
                    None => {
                        path.pop();
                        components.leave(&mut visits, &mut open, id);
                        let reached = visits.get(id).filter(|visit| visit.is_open).map(|visit| visit.lowest);
                        if let Some((above, _)) = path.last() {
                            lower(&mut visits, above, reached);
                        }
                    }
                }
            }
        }
        let loops = edges.iter().filter(|(id, targets)| targets.contains(*id));
        components.cyclic.extend(loops.map(|(id, _)| id));
        components
    }

    /// Closes the component of which `id` was met first.
    fn leave(&mut self, visits: &mut HashMap<&'a Id, Visit>, open: &mut Vec<&'a Id>, id: &'a Id) {
        let Some(visit) = visits.get(id).filter(|visit| visit.lowest == visit.order).copied() else {
            return;
        };
        let mut members = Vec::new();
        while let Some(member) = open.pop() {
            if let Some(visit) = visits.get_mut(member) {
                visit.is_open = false;
            }
            self.numbers.insert(member, visit.order);
            members.push(member);
            if member == id {
                break;
            }
        }
        if members.len() > 1 {
            self.cyclic.extend(members);
        }
    }

    /// True if the id leads to itself over some way.
    pub fn is_cyclic(&self, id: &Id) -> bool {
        self.cyclic.contains(id)
    }

    /// True if two ids lead to each other.
    pub fn are_connected(&self, one: &Id, other: &Id) -> bool {
        match (self.numbers.get(one), self.numbers.get(other)) {
            (Some(one_number), Some(other_number)) => {
                one_number == other_number && (one != other || self.is_cyclic(one))
            }
            _ => false,
        }
    }
}

fn targets<'a>(edges: &'a Edges, id: &Id) -> impl Iterator<Item = &'a Id> + use<'a> {
    edges.get(id).into_iter().flatten()
}

fn enter<'a>(visits: &mut HashMap<&'a Id, Visit>, open: &mut Vec<&'a Id>, id: &'a Id) {
    let order = visits.len();
    visits.insert(id, Visit { order, lowest: order, is_open: true });
    open.push(id);
}

fn lower(visits: &mut HashMap<&Id, Visit>, id: &Id, reached: Option<usize>) {
    if let (Some(visit), Some(reached)) = (visits.get_mut(id), reached) {
        visit.lowest = visit.lowest.min(reached);
    }
}

#[cfg(test)]
mod tests {
    use super::{Components, Edges};
    use crate::resolved::Id;

    fn edges(pairs: &[(u32, u32)]) -> Edges {
        let mut edges = Edges::new();
        for (from, to) in pairs {
            edges.entry(Id::ns0(*from)).or_default().insert(Id::ns0(*to));
        }
        edges
    }

    #[test]
    fn cycles_are_found() {
        let edges = edges(&[(1, 2), (2, 3), (3, 1), (3, 4), (4, 5), (5, 5), (6, 4), (7, 8), (8, 7), (8, 1)]);
        let components = Components::new(&edges);
        let cyclic: Vec<u32> = (1..=9).filter(|number| components.is_cyclic(&Id::ns0(*number))).collect();
        assert_eq!(cyclic, [1, 2, 3, 5, 7, 8]);
        let connected = |one, other| components.are_connected(&Id::ns0(one), &Id::ns0(other));
        assert!(connected(1, 3) && connected(7, 8) && connected(5, 5));
        assert!(!connected(8, 1) && !connected(4, 5) && !connected(4, 4) && !connected(1, 9));
    }

    /// A chain and a ring of many need neither stack nor time beyond their length.
    #[test]
    fn long_ways_are_no_matter() {
        let count = 200_000;
        let chain: Vec<(u32, u32)> = (1..count).map(|number| (number, number + 1)).collect();
        let chain_edges = edges(&chain);
        let components = Components::new(&chain_edges);
        assert!((1..=count).all(|number| !components.is_cyclic(&Id::ns0(number))));
        let ring: Vec<(u32, u32)> = chain.into_iter().chain([(count, 1)]).collect();
        let ring_edges = edges(&ring);
        let components = Components::new(&ring_edges);
        assert!((1..=count).all(|number| components.is_cyclic(&Id::ns0(number))));
    }
}
