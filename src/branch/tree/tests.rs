use std::collections::BTreeMap;

use super::{Entries, Marks, Tree};
use crate::block::index::{ItemIdx, KeyIdx, LeafIdx};

/// Items by index: their leaf and their mark.
#[derive(Default)]
struct Items {
    leaf: Vec<LeafIdx>,
    mark: Vec<KeyIdx>,
}

impl Items {
    fn add(&mut self, mark: KeyIdx) -> ItemIdx {
        self.leaf.push(LeafIdx::NONE);
        self.mark.push(mark);
        ItemIdx(self.leaf.len() as u32 - 1)
    }
}

impl Entries for Items {
    fn leaf(&self, item: ItemIdx) -> LeafIdx {
        self.leaf[item.get()]
    }
    fn set_leaf(&mut self, item: ItemIdx, leaf: LeafIdx) {
        self.leaf[item.get()] = leaf;
    }
    fn mark(&self, item: ItemIdx) -> KeyIdx {
        self.mark[item.get()]
    }
}

/// The tree, and the plain list that it must agree with.
struct Model {
    random: fastrand::Rng,
    items: Items,
    tree: Tree,
    list: Vec<(ItemIdx, u32)>,
    marks: bool,
}

impl Model {
    fn new(seed: u64, marks: bool) -> Self {
        let random = fastrand::Rng::with_seed(seed);
        Self { random, items: Items::default(), tree: Tree::new(), list: Vec::new(), marks }
    }

    /// A new item: often without a width, sometimes a mark of one of a few keys.
    fn new_item(&mut self) -> (ItemIdx, u32) {
        let marked = self.marks && self.random.u32(..3) == 0;
        let key = if marked { KeyIdx(self.random.u32(..5)) } else { KeyIdx::NONE };
        let width = if marked { 0 } else { self.random.u32(..4) };
        (self.items.add(key), width)
    }

    fn insert(&mut self, at: usize) {
        let (item, width) = self.new_item();
        let left = if at == 0 { ItemIdx::NONE } else { self.list[at - 1].0 };
        self.tree.insert_after(&mut self.items, left, item, width);
        self.list.insert(at, (item, width));
    }

    fn remove(&mut self, at: usize) {
        let (item, _) = self.list.remove(at);
        self.tree.remove(&mut self.items, item);
        assert_eq!(self.items.leaf(item), LeafIdx::NONE);
    }

    fn any(&mut self) -> usize {
        self.random.usize(..self.list.len())
    }

    fn step(&mut self, grow: bool) {
        let roll = self.random.u32(..100);
        let inserts = if grow { 50 } else { 15 };
        if self.list.is_empty() || roll < inserts {
            let at = self.random.usize(..=self.list.len());
            self.insert(at);
            return;
        }
        let at = self.any();
        let item = self.list[at].0;
        match roll - inserts {
            0..25 => self.remove(at),
            25..32 => {
                let width = self.random.u32(..5);
                self.tree.set_width(&self.items, item, width);
                self.list[at].1 = width;
            }
            32..42 => self.run(at),
            42..47 => self.insert_run(at),
            _ if self.marks => {
                let had = self.items.mark(item).is_some();
                let key = if had { KeyIdx::NONE } else { KeyIdx(self.random.u32(..5)) };
                self.items.mark[item.get()] = key;
                self.tree.mark_changed(&self.items, item);
            }
            _ => {}
        }
    }

    /// Changes one width again and again, and reads in between: the cursor.
    fn run(&mut self, at: usize) {
        let item = self.list[at].0;
        for _ in 0..self.random.u32(1..6) {
            let to = self.random.u32(..5);
            let delta = i64::from(to) - i64::from(self.list[at].1);
            self.list[at].1 = to;
            if self.random.bool() {
                self.tree.add_width(&self.items, item, delta);
            } else {
                self.tree.set_width(&self.items, item, to);
            }
            self.check_reads();
        }
    }

    /// Inserts again and again at one place, and reads in between: the leaf that lags.
    fn insert_run(&mut self, at: usize) {
        let ahead = self.random.bool();
        for step in 0..self.random.usize(1..8) {
            self.insert(if ahead { at } else { at + step });
            self.check();
        }
    }

    fn check(&self) {
        self.tree.check(&self.items, self.list.iter().copied());
        self.check_reads();
    }

    /// Every answer of the tree against the list.
    fn check_reads(&self) {
        let mut index = 0;
        let mut last = BTreeMap::new();
        let mut out = Marks::new();
        for &(item, width) in &self.list {
            assert_eq!(self.tree.index_of(&self.items, item), index, "index of {item:?}");
            assert_eq!(self.tree.width(&self.items, item), width, "width of {item:?}");
            for offset in 0..width {
                assert_eq!(self.tree.find(index + offset), Some((item, offset)));
            }
            self.tree.marks_before(&self.items, item, &mut out);
            assert_eq!(out.to_vec(), last.iter().map(|(&k, &i)| (k, i)).collect::<Vec<_>>());
            if self.items.mark(item).is_some() {
                last.insert(self.items.mark(item), item);
            }
            index += width;
        }
        self.tree.last_marks(&mut out);
        assert_eq!(out.to_vec(), last.into_iter().collect::<Vec<_>>());
        assert_eq!(self.tree.total(), index);
        assert_eq!(self.tree.find(index), None);
        assert_eq!(self.tree.find(u32::MAX), None);
        assert_eq!(self.tree.count(), self.list.len());
    }

    fn check_order(&mut self) {
        for _ in 0..self.list.len().min(20) {
            let (a, b) = (self.any(), self.any());
            let got = self.tree.compare(&self.items, self.list[a].0, self.list[b].0);
            assert_eq!(got, a.cmp(&b), "order of places {a} and {b}");
        }
    }
}

#[test]
fn random_operations_agree_with_a_list() {
    for seed in 0..60 {
        println!("seed {seed}");
        let mut model = Model::new(seed, seed % 2 == 0);
        for step in 0..400 {
            // Grow to a few levels, shrink to nothing, and again.
            model.step(step % 200 < 120);
            model.check();
        }
        model.check_order();
        while !model.list.is_empty() {
            let at = model.any();
            model.remove(at);
            model.check();
        }
    }
}

#[test]
fn built_trees_can_be_edited() {
    for seed in 0..60 {
        println!("seed {seed}");
        let mut model = Model::new(seed, seed % 2 == 0);
        for _ in 0..seed * 2 {
            let entry = model.new_item();
            model.list.push(entry);
        }
        let mut list = model.list.iter().copied();
        model.tree = Tree::build(&mut model.items, model.list.len(), |_| list.next());
        model.check();
        model.check_order();
        for _ in 0..50 {
            model.step(true);
            model.check();
        }
    }
}

/// Inserts `count` items with `place` choosing where, and returns how full the leaves are.
fn fill(count: usize, place: impl Fn(&Model) -> usize) -> f64 {
    let mut model = Model::new(7, true);
    for _ in 0..40 {
        let at = model.list.len();
        model.insert(at);
    }
    for _ in 0..count {
        let at = place(&model);
        model.insert(at);
        if model.list.len().is_multiple_of(16) {
            model.check();
        }
    }
    model.check();
    model.list.len() as f64 / (model.tree.leaves.len() * super::LEAF) as f64
}

#[test]
fn runs_fill_their_leaves() {
    let append = fill(400, |model| model.list.len());
    let prepend = fill(400, |_| 0);
    // Always right of one item, and always left of one item, in the middle of others.
    let after_one = fill(400, |_| 20);
    let before_one = fill(400, |model| model.list.len() - 20);
    for (name, fill) in
        [("append", append), ("prepend", prepend), ("after", after_one), ("before", before_one)]
    {
        assert!(fill > 0.85, "{name}: leaves are {fill} full");
    }
}

#[test]
fn an_unchanged_width_leaves_the_cursor() {
    let mut model = Model::new(1, false);
    for _ in 0..30 {
        let at = model.list.len();
        model.insert(at);
    }
    let at = model.list.iter().position(|entry| entry.1 > 0).unwrap();
    let item = model.list[at].0;
    for _ in 0..3 {
        model.tree.add_width(&model.items, item, 1);
        model.list[at].1 += 1;
    }
    assert_eq!(model.tree.cursor.item, item);
    let (other, width) = model.list[at + 1];
    model.tree.set_width(&model.items, other, width);
    assert_eq!(model.tree.cursor.item, item);
    model.check();
    let end = model.list.len();
    model.insert(end);
    assert!(model.tree.cursor.item.is_none());
    model.check();
}

#[test]
fn nothing_is_stored_for_marks_where_there_are_none() {
    let mut model = Model::new(3, false);
    for _ in 0..100 {
        let at = model.random.usize(..=model.list.len());
        model.insert(at);
    }
    assert!(model.tree.summaries.is_none());
    let mut out = Marks::from_elem((KeyIdx(1), ItemIdx(1)), 1);
    model.tree.marks_before(&model.items, model.list[50].0, &mut out);
    assert!(out.is_empty());
}

#[test]
#[should_panic(expected = "I3: entry 1 at index 2")]
fn check_sees_a_wrong_width() {
    let mut items = Items::default();
    let list: Vec<_> = (0..3).map(|_| (items.add(KeyIdx::NONE), 2)).collect();
    let mut entries = list.iter().copied();
    let tree = Tree::build(&mut items, list.len(), |_| entries.next());
    tree.check(&items, list.iter().map(|&(item, width)| (item, if item.0 == 1 { 3 } else { width })));
}

#[test]
#[should_panic(expected = "marks of node")]
fn check_sees_a_mark_that_was_not_told() {
    let mut items = Items::default();
    let list: Vec<_> = (0..30).map(|at| (items.add(KeyIdx(at % 3)), 0)).collect();
    let mut entries = list.iter().copied();
    let tree = Tree::build(&mut items, list.len(), |_| entries.next());
    items.mark[29] = KeyIdx(7);
    tree.check(&items, list.iter().copied());
}
