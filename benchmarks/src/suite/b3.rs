//! B3: 20 * sqrt(N) clients make one change each without hearing of one another; the first applies them all.

use crate::edit::{Edit, Scalar};
use crate::script::{Bytes, Finish, Script};

/// Builds B3.1 to B3.5 for `20 * sqrt(n)` clients.
pub fn b3(n: u32) -> Vec<Script> {
    let clients = n.isqrt() * 20;
    let set = |value| Edit::MapSet { value };
    let mut objects =
        everyone("B3.2", "set an object in a map", clients, |i| set(Scalar::Person(i.to_string())));
    objects.bytes = Bytes::SameLength;
    vec![
        everyone("B3.1", "set a number in a map", clients, |i| set(Scalar::Number(i64::from(i)))),
        objects,
        everyone("B3.3", "set a string in a map", clients, |i| {
            set(Scalar::Text(i.to_string().repeat(clients as usize)))
        }),
        everyone("B3.4", "insert into an array", clients, |i| Edit::ArrayInsert {
            at: 0,
            value: Scalar::Text(i.to_string()),
        }),
        everyone("B3.5", "insert into a text", clients, |i| Edit::insert(0, i.to_string())),
    ]
}

fn everyone(id: &str, title: &str, clients: u32, make: impl Fn(u32) -> Edit) -> Script {
    let title = format!("20*sqrt(N) clients {title}");
    let mut script = Script::new(id, title, clients as usize, Finish::Gather);
    for client in 0..clients {
        script.turn(client as usize, [make(client)]);
    }
    script
}
