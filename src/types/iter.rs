//! Iterators that ask for a transaction at each step, and one that carries it along.

use super::ReadTxn;

/// An iterator that needs a transaction for each step.
pub trait TxnIterator {
    /// What it yields.
    type Item;

    /// Returns the next value.
    fn next<T: ReadTxn>(&mut self, txn: &T) -> Option<Self::Item>;

    /// Collects what is left.
    fn collect<T, B>(&mut self, txn: &T) -> B
    where
        T: ReadTxn,
        B: Default + Extend<Self::Item>,
    {
        let mut all = B::default();
        all.extend(std::iter::from_fn(|| self.next(txn)));
        all
    }
}

/// A [`TxnIterator`] that can be walked from its end as well.
pub trait TxnDoubleEndedIterator: TxnIterator {
    /// Returns the last value that is left.
    fn next_back<T: ReadTxn>(&mut self, txn: &T) -> Option<Self::Item>;
}

/// An iterator that keeps its transaction from ending.
#[derive(Debug)]
pub struct AsIter<'a, T, I> {
    txn: &'a T,
    iter: I,
}

impl<'a, T: ReadTxn, I: Iterator> AsIter<'a, T, I> {
    /// Ties an iterator to a transaction.
    pub fn new(iter: I, txn: &'a T) -> Self {
        Self { txn, iter }
    }
}

impl<T: ReadTxn, I: Iterator> Iterator for AsIter<'_, T, I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        let _held: &T = self.txn;
        self.iter.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.iter.size_hint()
    }
}
