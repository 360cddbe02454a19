//! B2: two clients share 100 characters, each makes all its edits in one transaction.
//!
//! As published, the second client hears of the first one's transaction before it begins. The `c` variants
//! are truly concurrent: both edit before either hears of the other.

use super::Random;
use crate::edit::Edit;
use crate::script::{Finish, Script, Start};

/// Length of the text that both clients share at first.
const SHARED: u32 = 100;

/// Makes the edits of one client.
type Make = fn(&mut Random, u32) -> Vec<Edit>;

/// Builds B2.1 to B2.4, each as published and concurrent, for `n` operations a client.
pub fn b2(n: u32) -> Vec<Script> {
    let kinds: [(&str, &str, Make); 4] = [
        ("B2.1", "insert a string of N characters at 0", |random, n| {
            vec![Edit::insert(0, random.word(n, n))]
        }),
        ("B2.2", "insert N characters at random positions", |random, n| inserts(random, n, 1, 1)),
        ("B2.3", "insert N words at random positions", |random, n| inserts(random, n, 3, 9)),
        ("B2.4", "insert and delete at random positions", inserts_and_deletes),
    ];
    kinds.into_iter().flat_map(|(id, title, make)| variants(id, title, n, make)).collect()
}

fn variants(id: &str, title: &str, n: u32, make: Make) -> [Script; 2] {
    let mut random = Random::for_benchmark(id);
    let shared = random.word(SHARED, SHARED);
    let edits = [make(&mut random, n), make(&mut random, n)];
    [(id.to_owned(), "one after the other", &[0_u32][..]), (format!("{id}c"), "concurrently", &[])].map(
        |(id, how, second_hears)| {
            let mut script = Script::new(id, format!("two clients {title}, {how}"), 2, Finish::Everyone);
            script.start = Start::Edits(vec![Edit::insert(0, shared.clone())]);
            script.turn(0, edits[0].iter().cloned());
            script.turn_after(1, second_hears, edits[1].iter().cloned());
            script
        },
    )
}

fn inserts(random: &mut Random, n: u32, shortest: u32, longest: u32) -> Vec<Edit> {
    let mut len = SHARED;
    let mut edits = Vec::new();
    for _ in 0..n {
        edits.push(insert(random, &mut len, shortest, longest));
    }
    edits
}

/// Published as two operations a round: a word, then a word or a deletion.
fn inserts_and_deletes(random: &mut Random, n: u32) -> Vec<Edit> {
    let mut len = SHARED;
    let mut edits = Vec::new();
    for _ in 0..n {
        edits.push(insert(random, &mut len, 3, 9));
        let at = random.between(0, len);
        if at == len || random.coin() {
            edits.push(insert(random, &mut len, 2, 10));
        } else {
            let gone = random.between(1, 9.min(len - at));
            len -= gone;
            edits.push(Edit::Remove { at, len: gone });
        }
    }
    edits
}

fn insert(random: &mut Random, len: &mut u32, shortest: u32, longest: u32) -> Edit {
    let (at, text) = (random.between(0, *len), random.word(shortest, longest));
    *len += text.len() as u32;
    Edit::insert(at, text)
}
