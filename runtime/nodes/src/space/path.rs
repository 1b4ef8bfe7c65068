//! One step of a browse path (OPC 10000-4 §5.9.4, §7.32).

use super::reference::ReferenceIter;
use super::{Cursor, Direction, Node, ReferenceFilter};

/// The nodes that one element of a relative path leads to; see [`Node::follow`].
#[derive(Clone, Debug)]
pub struct Follow<'a, 'n> {
    references: ReferenceIter<'a>,
    namespace: u16,
    name: &'n str,
}

impl<'a> Node<'a> {
    /// The targets of references of the filter's types whose browse name is this one. An empty name
    /// matches every target (OPC 10000-4 §7.32).
    pub fn follow<'n>(
        self,
        filter: ReferenceFilter,
        is_inverse: bool,
        namespace: u16,
        name: &'n str,
    ) -> Follow<'a, 'n> {
        let direction = if is_inverse { Direction::Inverse } else { Direction::Forward };
        let references = self.references_from(direction, filter, Cursor::default());
        Follow { references, namespace, name }
    }
}

impl<'a> Iterator for Follow<'a, '_> {
    type Item = Node<'a>;

    fn next(&mut self) -> Option<Node<'a>> {
        self.references.by_ref().filter_map(|reference| reference.target()).find(|node| {
            let browse_name = node.browse_name();
            self.name.is_empty() || (browse_name.namespace == self.namespace && browse_name.name == self.name)
        })
    }
}
