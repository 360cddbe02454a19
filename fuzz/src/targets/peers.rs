//! Targets with a document: what a peer sends is taken whole or refused whole.

use yatta::sync::awareness::AwarenessUpdate;
use yatta::sync::{Awareness, DefaultProtocol, Protocol};
use yatta::types::text::YChange;
use yatta::updates::decoder::Decode;
use yatta::updates::encoder::{Encode, Encoder, EncoderV1, EncoderV2};
use yatta::{
    Array, Assoc, Doc, IdSet, IndexedSequence, Map, Options, ReadTxn, Snapshot, StateVector, StickyIndex,
    Text, Transact, Update, XmlFragment,
};
use yatta_encoding::block::{Block, Parent};
use yatta_encoding::update::decode_update_v1;

use super::bytes::read_v2;
use super::fixture::{self, Roots};
use super::input::Input;

/// Applies updates in V1.
pub fn apply_v1(data: &[u8]) {
    apply(data, Update::decode_v1);
}

/// Applies updates in V2.
pub fn apply_v2(data: &[u8]) {
    apply(data, Update::decode_v2);
}

/// The first byte says to which document, and how often the rest is divided into several updates.
fn apply(data: &[u8], decode: fn(&[u8]) -> Result<Update, yatta_encoding::Error>) {
    let mut input = Input::new(data);
    let kind = input.byte();
    let mut updates = Vec::new();
    for _ in 0..(kind >> 4) % 4 {
        updates.push(input.part());
    }
    updates.push(input.rest());
    updates.retain(|bytes| decode(bytes).is_ok());
    if updates.is_empty() {
        // A document that nobody sends anything to is the same each time.
        return;
    }
    let (doc, roots) =
        if kind & 1 == 0 { fixture::filled(kind & 2 == 0) } else { fixture::empty(9, kind & 2 == 0) };
    if kind & 4 == 0 {
        fixture::observe(&doc, &roots);
    }
    let mut undo = (kind & 8 != 0).then(|| fixture::undo_manager(&doc, &roots));
    for bytes in updates {
        let update = || decode(bytes).expect("it was read before");
        let before = fixture::state(&doc);
        if doc.transact_mut().apply_update(update()).is_err() {
            assert_eq!(fixture::state(&doc), before, "an error changes nothing");
        }
        doc.check();
        // Of two forged blocks of one id that both wait, either may be kept, as in Yjs.
        let integrated = || doc.transact().encode_diff_v1(&StateVector::default());
        let (held, taken) = (fixture::state(&doc), integrated());
        let waits = doc.transact().has_missing_updates();
        doc.transact_mut().apply_update(update()).ok();
        assert_eq!(integrated(), taken, "an update that comes again changes nothing");
        assert!(waits || fixture::state(&doc) == held, "nor anything that waits");
    }
    after(&doc, &roots);
    if let Some(undo) = &mut undo {
        edit(&doc, &roots);
        while undo.undo_blocking() {
            doc.check();
        }
        while undo.redo_blocking() {
            doc.check();
        }
        after(&doc, &roots);
    } else {
        edit(&doc, &roots);
        after(&doc, &roots);
    }
}

/// Whatever came, the document can be edited.
fn edit(doc: &Doc, roots: &Roots) {
    let mut txn = doc.transact_mut();
    let len = roots.text.len(&txn);
    roots.text.insert(&mut txn, len / 2, "x");
    roots.text.format(&mut txn, len / 3, 2, yatta::types::Attrs::from([("b".into(), true.into())]));
    roots.text.remove_range(&mut txn, len / 3, (len / 4).min(3));
    let len = roots.array.len(&txn);
    roots.array.insert(&mut txn, len / 2, 7);
    roots.array.remove(&mut txn, len / 3);
    roots.map.insert(&mut txn, "k", 3);
    let len = roots.xml.len(&txn);
    if len > 0 {
        roots.xml.remove(&mut txn, len / 2);
    }
    drop(txn);
    doc.check();
}

/// Everything can be read, saved and loaded again.
fn after(doc: &Doc, roots: &Roots) {
    let content = fixture::read(&doc.transact(), roots);
    let [v1, v2] = fixture::state(doc);
    if let Some(decoded) = read_v2(&v2) {
        assert_eq!(decoded.encode_v2(), v2, "I11: V2");
    }
    let decoded = Update::decode_v1(&v1).expect("a state in V1 reads");
    assert_eq!(decoded.encode_v1(), v1, "I11: V1");
    let (copy, copied) = fixture::empty(77, true);
    copy.transact_mut().apply_update(decoded).expect("a state applies");
    copy.check();
    if !doc.transact().has_missing_updates() {
        assert_eq!(copy.transact().state_vector(), doc.transact().state_vector(), "all of it arrives");
    }
    let [saved, _] = fixture::state(&copy);
    let (third, _) = fixture::empty(78, true);
    third.transact_mut().apply_update(Update::decode_v1(&saved).expect("it reads")).expect("it applies");
    third.check();
    if !has_crossed_origins(&v1) && !has_crossed_origins(&saved) && !stands_at_collected(&saved) {
        assert_eq!(fixture::state(&third)[0], saved, "loading what was loaded changes nothing");
    }
    drop((content, fixture::read(&copy.transact(), &copied)));
}

/// Whether a block names two units of one other block as its neighbours, the right one first. Nobody can have written
/// that. Where Yjs puts it depends on how the other block was cut before, so each load moves it, here as there.
fn has_crossed_origins(state: &[u8]) -> bool {
    let decoded = decode_update_v1(state).expect("a state reads");
    let holds = |block: &Block<'_>, id: yatta::ID| {
        block.id().client == id.client && (block.id().clock..block.clock_end()).contains(&id.clock)
    };
    decoded.blocks.iter().any(|block| {
        let Block::Item(item) = block else { return false };
        let (Some(origin), Some(right)) = (item.origin, item.right_origin) else { return false };
        let crossed = origin.client == right.client && right.clock <= origin.clock;
        crossed && decoded.blocks.iter().any(|other| holds(other, origin) && holds(other, right))
    })
}

/// Whether a block has a neighbour, or a parent, that is a collected range. It was there when the block came; who loads the
/// state collects the block too, as Yjs does, and what stands beside that one at the next load.
fn stands_at_collected(state: &[u8]) -> bool {
    let decoded = decode_update_v1(state).expect("a state reads");
    let is_collected = |id: yatta::ID| {
        decoded.blocks.iter().any(|block| {
            let clocks = block.id().clock..block.clock_end();
            matches!(block, Block::Gc { .. }) && block.id().client == id.client && clocks.contains(&id.clock)
        })
    };
    decoded.blocks.iter().any(|block| {
        let Block::Item(item) = block else { return false };
        let parent = if let Parent::Branch(id) = item.parent { Some(id) } else { None };
        [item.origin, item.right_origin, parent].into_iter().flatten().any(is_collected)
    })
}

/// States of clients.
pub fn awareness(data: &[u8]) {
    let mut input = Input::new(data);
    let mut awareness = Awareness::new(Doc::with_client_id(fixture::CLIENT));
    awareness.set_local_state_raw(r#"{"name":"n"}"#);
    let rounds = 1 + input.below(4);
    let mut parts: Vec<&[u8]> = (1..rounds).map(|_| input.part()).collect();
    parts.push(input.rest());
    for bytes in parts {
        let Ok(update) = AwarenessUpdate::decode_v1(bytes) else { continue };
        let again = AwarenessUpdate::decode_v1(&update.encode_v1()).expect("what was written reads");
        assert_eq!(again.encode_v1(), update.encode_v1());
        let before = awareness.update().expect("all are known").encode_v1();
        if awareness.apply_update(update).is_err() {
            let now = awareness.update().expect("all are known").encode_v1();
            assert_eq!(now, before, "an error changes nothing");
        }
        let own = awareness.iter().find(|(client, _)| *client == awareness.client_id());
        assert!(own.is_some_and(|(_, state)| state.data.is_some()), "a peer cannot remove our state");
        let told = awareness.update().expect("all are known");
        let mut other = Awareness::new(Doc::with_client_id(2));
        other.apply_update(told).expect("our states are JSON");
    }
    awareness.check_timeouts(u64::MAX);
}

/// Frames of the sync protocol.
pub fn sync(data: &[u8]) {
    let (doc, roots) = fixture::filled(true);
    let before = fixture::state(&doc);
    let mut awareness = Awareness::new(doc.clone());
    awareness.set_local_state_raw("{}");
    if let Ok(answers) = DefaultProtocol.handle(&mut awareness, data) {
        for answer in answers {
            let bytes = answer.encode_v1();
            let (other, _) = fixture::empty(5, true);
            DefaultProtocol.handle(&mut Awareness::new(other), &bytes).expect("our answers can be handled");
        }
    }
    doc.check();
    if fixture::state(&doc) != before {
        after(&doc, &roots);
    }
}

/// Positions, snapshots, state vectors and sets of ids. The first byte says which.
pub fn positions(data: &[u8]) {
    let Some((kind, data)) = data.split_first() else { return };
    let (doc, roots) = fixture::filled(kind & 8 == 0);
    let v2 = kind & 16 != 0;
    match kind & 7 {
        0 | 1 => {
            let position = if v2 { StickyIndex::decode_v2(data) } else { StickyIndex::decode_v1(data) };
            let Ok(position) = position else { return };
            let again = StickyIndex::decode_v1(&position.encode_v1()).expect("what was written reads");
            assert_eq!(again, position);
            let txn = doc.transact();
            drop((position.get_offset(&txn), position.get_offset_without_undo(&txn)));
        }
        2 | 3 => {
            let snapshot = if v2 { Snapshot::decode_v2(data) } else { Snapshot::decode_v1(data) };
            let Ok(snapshot) = snapshot else { return };
            let again = Snapshot::decode_v1(&snapshot.encode_v1()).expect("what was written reads");
            assert_eq!(again, snapshot);
            let again = Snapshot::decode_v2(&snapshot.encode_v2()).expect("what was written reads");
            assert_eq!(again, snapshot);
            at_snapshot(&doc, &roots, &snapshot);
        }
        4 => {
            let state = if v2 { StateVector::decode_v2(data) } else { StateVector::decode_v1(data) };
            let Ok(state) = state else { return };
            let cut = doc.transact().encode_state_as_update_v1(&state);
            Update::decode_v1(&cut).expect("a difference reads");
            let cut = doc.transact().encode_state_as_update_v2(&state);
            drop(read_v2(&cut));
        }
        5 => {
            let set = if v2 { IdSet::decode_v2(data) } else { IdSet::decode_v1(data) };
            let Ok(set) = set else { return };
            assert_eq!(IdSet::decode_v1(&set.encode_v1()).ok().as_ref(), Some(&set));
            assert_eq!(IdSet::decode_v2(&set.encode_v2()).ok().as_ref(), Some(&set));
            let held = doc.transact().snapshot().delete_set;
            let (left, both) = (set.diff(&held), set.intersect(&held));
            assert_eq!(left.merge(&both), set, "what is in it and what is not make it up");
        }
        6 => {
            let Ok(options) = Options::decode_v1(data) else { return };
            let again = Options::decode_v1(&options.encode_v1()).expect("what was written reads");
            assert_eq!(again.encode_v1(), options.encode_v1());
        }
        _ => {
            let index = u32::from(data.first().copied().unwrap_or_default());
            let assoc = if v2 { Assoc::Before } else { Assoc::After };
            let txn = doc.transact();
            if let Some(position) = roots.text.sticky_index(&txn, index, assoc) {
                let offset = position.get_offset(&txn).expect("a position of now is somewhere");
                assert_eq!(offset.index, index, "a position of now is where it was made");
            }
        }
    }
}

fn at_snapshot(doc: &Doc, roots: &Roots, snapshot: &Snapshot) {
    let now = doc.transact().snapshot();
    {
        let txn = doc.transact();
        let mut v1 = EncoderV1::new();
        if txn.encode_state_from_snapshot(snapshot, &mut v1).is_ok() {
            Update::decode_v1(&v1.to_vec()).expect("a state at a snapshot reads");
            let mut v2 = EncoderV2::new();
            txn.encode_state_from_snapshot(snapshot, &mut v2).expect("it was written in V1");
            drop(read_v2(&v2.to_vec()));
            snapshot.create_doc(&txn).expect("a state at a snapshot loads").check();
        }
        drop(snapshot.map_entries(&txn, &roots.map));
        drop(snapshot.list_values(&txn, &roots.array));
    }
    let mut txn = doc.transact_mut();
    drop(roots.text.diff_range(&mut txn, Some(snapshot), None, YChange::identity));
    drop(roots.text.diff_range(&mut txn, Some(&now), Some(snapshot), YChange::identity));
    drop(roots.text.diff_range(&mut txn, Some(snapshot), Some(&now), YChange::identity));
    drop(txn);
    doc.check();
}
