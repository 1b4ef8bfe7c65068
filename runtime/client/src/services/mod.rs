//! The services as methods of a session.

mod browse;
mod discovery;
mod read;
mod translate;

pub use browse::BrowsePage;

use crate::Error;

/// A service must give one result for each operation (OPC 10000-4 §7.34).
fn check_count(service: &'static str, asked: usize, found: usize) -> Result<(), Error> {
    if asked == found { Ok(()) } else { Err(Error::ResultCount { service, asked, found }) }
}

/// The operations of one call under the server's limit; 0 is none.
fn per_call(limit: u32) -> usize {
    match limit {
        0 => usize::MAX,
        limit => usize::try_from(limit).unwrap_or(usize::MAX),
    }
}

/// Takes the operations apart into calls that the server takes.
fn split<T>(mut operations: Vec<T>, limit: u32) -> Vec<Vec<T>> {
    let size = per_call(limit);
    let mut out = Vec::new();
    while operations.len() > size {
        let rest = operations.split_off(size);
        out.push(core::mem::replace(&mut operations, rest));
    }
    out.push(operations);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_limit_is_one_call() {
        assert_eq!(split(vec![1, 2, 3], 0), [vec![1, 2, 3]]);
        assert_eq!(split(vec![1, 2, 3], 3), [vec![1, 2, 3]]);
        assert_eq!(split(vec![1, 2, 3, 4, 5], 2), [vec![1, 2], vec![3, 4], vec![5]]);
        assert_eq!(split(Vec::<u8>::new(), 2), [Vec::new()]);
    }
}
