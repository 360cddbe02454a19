//! B1: one client edits, one transaction an operation; a second document applies the updates.

use super::Random;
use crate::edit::{Edit, Scalar};
use crate::script::{Finish, Script};

/// Builds B1.1 to B1.11 for `n` operations.
pub fn b1(n: u32) -> Vec<Script> {
    vec![
        one_by_one("B1.1", "append N characters", |random| {
            (0..n).map(|i| Edit::insert(i, random.word(1, 1))).collect()
        }),
        one_by_one("B1.2", "insert one string of N characters", |random| {
            vec![Edit::insert(0, random.word(n, n))]
        }),
        one_by_one("B1.3", "prepend N characters", |random| {
            (0..n).map(|_| Edit::insert(0, random.word(1, 1))).collect()
        }),
        one_by_one("B1.4", "insert N characters at random positions", |random| {
            (0..n).map(|len| Edit::insert(random.between(0, len), random.word(1, 1))).collect()
        }),
        one_by_one("B1.5", "insert N words at random positions", |random| words(random, n)),
        one_by_one("B1.6", "insert a string, then delete it", |random| {
            vec![Edit::insert(0, random.word(n, n)), Edit::Remove { at: 0, len: n }]
        }),
        one_by_one("B1.7", "insert and delete at random positions", |random| inserts_and_deletes(random, n)),
        one_by_one("B1.8", "append N numbers", |random| {
            (0..n).map(|at| Edit::ArrayInsert { at, value: Scalar::Number(random.number()) }).collect()
        }),
        one_by_one("B1.9", "insert an array of N numbers", |random| {
            vec![Edit::ArrayExtend { at: 0, numbers: (0..n).map(|_| random.number()).collect() }]
        }),
        one_by_one("B1.10", "prepend N numbers", |random| {
            (0..n).map(|_| Edit::ArrayInsert { at: 0, value: Scalar::Number(random.number()) }).collect()
        }),
        one_by_one("B1.11", "insert N numbers at random positions", |random| {
            let place = |len| (random.between(0, len), random.number());
            let places: Vec<_> = (0..n).map(place).collect();
            places.into_iter().map(|(at, n)| Edit::ArrayInsert { at, value: Scalar::Number(n) }).collect()
        }),
    ]
}

fn one_by_one(id: &str, title: &str, make: impl FnOnce(&mut Random) -> Vec<Edit>) -> Script {
    let mut script = Script::new(id, title, 1, Finish::Second);
    for edit in make(&mut Random::for_benchmark(id)) {
        script.turn(0, [edit]);
    }
    script
}

fn words(random: &mut Random, n: u32) -> Vec<Edit> {
    let mut len = 0;
    let mut edits = Vec::new();
    for _ in 0..n {
        let (at, text) = (random.between(0, len), random.word(2, 10));
        len += text.len() as u32;
        edits.push(Edit::insert(at, text));
    }
    edits
}

fn inserts_and_deletes(random: &mut Random, n: u32) -> Vec<Edit> {
    let mut len = 0;
    let mut edits = Vec::new();
    for _ in 0..n {
        let at = random.between(0, len);
        if at == len || random.coin() {
            let text = random.word(2, 10);
            len += text.len() as u32;
            edits.push(Edit::insert(at, text));
        } else {
            let gone = random.between(1, 9.min(len - at));
            len -= gone;
            edits.push(Edit::Remove { at, len: gone });
        }
    }
    edits
}
