//! What yrs offers below the shared types: content and views of items, `Branch`, `Store`, collection on demand. Where the
//! real crate can be asked, its answers are compared.

use yatta::block::{Item, ItemContent, ItemFlags, ItemPtr, Prelim, SplittableString, Unused};
use yatta::branch::{Branch, BranchPtr};
use yatta::encoding::read::Read;
use yatta::types::{PathSegment, TypeRef};
use yatta::updates::decoder::{Decode, DecoderV1, DecoderV2};
use yatta::updates::encoder::{Encode, Encoder, EncoderV1, EncoderV2};
use yatta::{
    Any, Array, Doc, ID, Map, MapPrelim, OffsetKind, Options, Origin, Out, ReadTxn, StateVector, Text,
    Transact, TransactionMut, Update, WriteTxn,
};

/// Reads back what was written, in both formats.
fn round_trip(content: &ItemContent) -> Vec<u8> {
    let mut v1 = EncoderV1::new();
    content.encode(&mut v1);
    let v1 = v1.to_vec();
    let mut v2 = EncoderV2::new();
    content.encode(&mut v2);
    let v2 = v2.to_vec();
    let kind = content.get_ref_number();
    let read =
        ItemContent::decode(&mut DecoderV1::from(v1.as_slice()), kind).expect("what was written is read");
    assert_eq!(&read, content);
    let mut decoder =
        DecoderV2::new(yatta::encoding::read::Cursor::new(&v2)).expect("what was written is read");
    assert_eq!(&ItemContent::decode(&mut decoder, kind).expect("what was written is read"), content);
    assert!(decoder.read_u8().is_err(), "{content}: all of it is read");
    v1
}

#[test]
fn content_has_the_bytes_of_yrs() {
    use yrs::block::ItemContent as Theirs;
    let pairs = [
        (ItemContent::Any(vec![1.into(), "two".into()]), Theirs::Any(vec![1.into(), "two".into()])),
        (ItemContent::Binary(vec![1, 2, 3]), Theirs::Binary(vec![1, 2, 3])),
        (ItemContent::Deleted(7), Theirs::Deleted(7)),
        (ItemContent::Embed("x".into()), Theirs::Embed("x".into())),
        (
            ItemContent::Format("bold".into(), Box::new(true.into())),
            Theirs::Format("bold".into(), Box::new(true.into())),
        ),
        (ItemContent::String("aß😀".into()), Theirs::String("aß😀".into())),
        (
            ItemContent::Type(Branch::new(TypeRef::Map)),
            Theirs::Type(yrs::branch::Branch::new(yrs::types::TypeRef::Map)),
        ),
        (
            ItemContent::Type(Branch::new(TypeRef::XmlElement("p".into()))),
            Theirs::Type(yrs::branch::Branch::new(yrs::types::TypeRef::XmlElement("p".into()))),
        ),
    ];
    for (ours, theirs) in pairs {
        let mut encoder = yrs::updates::encoder::EncoderV1::new();
        theirs.encode(&mut encoder);
        use yrs::updates::encoder::Encoder as _;
        assert_eq!(round_trip(&ours), encoder.to_vec(), "{ours}");
        assert_eq!(ours.get_ref_number(), theirs.get_ref_number(), "{ours}");
        assert_eq!(ours.is_countable(), theirs.is_countable(), "{ours}");
        assert_eq!((ours.len_utf8(), ours.len_utf16()), (theirs.len_utf8(), theirs.len_utf16()), "{ours}");
        if !matches!(ours, ItemContent::Type(_)) {
            let shown = |out: Option<Out>| out.map(|out| format!("{out}"));
            let theirs_shown = |out: Option<yrs::Out>| out.map(|out| format!("{out}"));
            assert_eq!(shown(ours.get_first()), theirs_shown(theirs.get_first()), "{ours}");
            assert_eq!(shown(ours.get_last()), theirs_shown(theirs.get_last()), "{ours}");
            let all: Vec<String> = ours.get_content().iter().map(|out| format!("{out}")).collect();
            let theirs: Vec<String> = theirs.get_content().iter().map(|out| format!("{out}")).collect();
            assert_eq!(all, theirs, "{ours}");
        }
    }
    round_trip(&ItemContent::JSON(vec!["1".into(), "{}".into()]));
    assert!(ItemContent::decode(&mut DecoderV1::from(&[1_u8][..]), 11).is_err(), "there is no content 11");
    let huge = [0xff, 0xff, 0xff, 0xff, 0x0f];
    assert!(ItemContent::decode(&mut DecoderV1::from(&huge[..]), 8).is_err(), "a count is no length");
}

#[test]
fn parts_of_content_are_written_as_items_of_their_own() {
    let part = |content: &ItemContent, start, end| {
        let mut encoder = EncoderV1::new();
        content.encode_slice(&mut encoder, start, end);
        let bytes = encoder.to_vec();
        ItemContent::decode(&mut DecoderV1::from(bytes.as_slice()), content.get_ref_number()).unwrap()
    };
    let text = ItemContent::String("a😀b".into());
    assert_eq!(part(&text, 1, 2), ItemContent::String("😀".into()));
    assert_eq!(part(&text, 2, 3), ItemContent::String("\u{FFFD}b".into()));
    let values = ItemContent::Any(vec![1.into(), 2.into(), 3.into()]);
    assert_eq!(part(&values, 1, 2), ItemContent::Any(vec![2.into(), 3.into()]));

    let mut joined = ItemContent::String("ab".into());
    assert!(joined.try_squash(&ItemContent::String("c".into())));
    assert_eq!(joined, ItemContent::String("abc".into()));
    assert!(!joined.try_squash(&values), "text and values do not join");
    let mut string: SplittableString = "ä".into();
    string.push_str("😀");
    assert_eq!((string.len_utf8(), string.len_utf16(), &*string), (6, 3, "ä😀"));
    assert_eq!(Box::<str>::from(string), "ä😀".into());
}

/// Keeps the view of the item that an insert gives.
struct Seen(ItemPtr);

impl TryFrom<ItemPtr> for Seen {
    type Error = ItemPtr;

    fn try_from(item: ItemPtr) -> Result<Self, ItemPtr> {
        Ok(Self(item))
    }
}

struct Raw(ItemContent);

impl Prelim for Raw {
    type Return = Seen;

    fn into_content(self, _: &mut TransactionMut<'_>) -> (ItemContent, Option<Self>) {
        (self.0, None)
    }

    fn integrate(self, _: &mut TransactionMut<'_>, _: BranchPtr) {}
}

#[test]
fn an_insert_gives_a_view_of_its_item() {
    let doc = Doc::with_client_id(1);
    let array = doc.get_or_insert_array("array");
    let mut txn = doc.transact_mut();
    array.push_back(&mut txn, 0);
    let Seen(item) = array.push_back(&mut txn, Raw(ItemContent::String("aß".into())));
    let id = |clock| ID::new(yatta::ClientID::new(1), clock);
    assert_eq!((item.id(), item.len(), item.last_id()), (&id(1), 2, id(2)));
    assert_eq!((item.content_len(OffsetKind::Bytes), item.content_len(OffsetKind::Utf16)), (3, 2));
    assert!(item.contains(&id(2)) && !item.contains(&id(3)));
    assert!(item.is_countable() && !item.is_deleted());
    assert_eq!(item.info(), 4 | yatta::block::HAS_ORIGIN);
    assert_eq!(item.range(), item.block_range());
    let copy: &Item = &item;
    assert_eq!(ItemPtr::from(copy), item);
    assert_eq!(Any::try_from(item.clone()).unwrap(), Any::from("aß"));
    assert!(Unused::try_from(item).is_ok());
    let Seen(item) = array.push_back(&mut txn, Raw(ItemContent::Type(Branch::new(TypeRef::Text))));
    let branch = BranchPtr::try_from(item.clone()).unwrap();
    assert_eq!(branch.type_ref(), TypeRef::Text);
    assert!(Any::try_from(item).is_err());
    assert!(matches!(Out::from(branch.clone()), Out::YText(_)));
    assert_eq!(Origin::from(branch.clone()), Origin::from(branch));

    let mut flags = ItemFlags::new(0);
    flags.set_keep();
    flags.set_deleted();
    flags.set_countable();
    flags.set_linked();
    assert_eq!(u16::from(flags), 0b1_0000_0111, "the bits of yrs");
    flags.clear_keep();
    flags.clear_countable();
    flags.clear_linked();
    assert!(flags.is_deleted() && !flags.is_keep() && !flags.is_countable() && !flags.is_linked());
    assert!(!flags.is_marked());
}

#[test]
fn kinds_go_over_the_wire() {
    for kind in [
        TypeRef::Array,
        TypeRef::Map,
        TypeRef::Text,
        TypeRef::XmlElement("p".into()),
        TypeRef::XmlFragment,
        TypeRef::XmlText,
        TypeRef::SubDoc,
        TypeRef::Undefined,
    ] {
        assert_eq!(TypeRef::decode_v1(&kind.encode_v1()).unwrap(), kind);
        assert_eq!(TypeRef::decode_v2(&kind.encode_v2()).unwrap(), kind);
    }
    assert!(TypeRef::decode_v1(&[99]).is_err());
}

#[test]
fn a_handle_tells_without_a_transaction() {
    let doc = Doc::new();
    let array = doc.get_or_insert_array("array");
    let map = doc.get_or_insert_map("map");
    let branch: BranchPtr = AsRef::<Branch>::as_ref(&array).into();
    assert_eq!((branch.len(), branch.type_ref()), (0, TypeRef::Array));
    let nested: BranchPtr;
    {
        let mut txn = doc.transact_mut();
        array.insert_range(&mut txn, 0, [1, 2, 3]);
        assert_eq!(branch.len(), 3, "within the transaction that holds the lock");
        array.remove(&mut txn, 0);
        array.push_back(&mut txn, 9);
        array.insert(&mut txn, 0, 7);
        assert_eq!((branch.len(), branch.content_len()), (4, 4));
        let inner = map.insert(&mut txn, "key", MapPrelim::default());
        nested = AsRef::<Branch>::as_ref(&inner).into();
        assert!(!nested.is_deleted());
        map.remove(&mut txn, "key");
        assert!(nested.is_deleted(), "at once");
    }
    assert_eq!(branch.len(), 4);
    let other = Doc::new();
    let copy = other.get_or_insert_array("array");
    let copied: &Branch = copy.as_ref();
    let state = doc.transact().encode_state_as_update_v1(&StateVector::default());
    other.transact_mut().apply_update(Update::decode_v1(&state).unwrap()).unwrap();
    assert_eq!(copied.len(), 4);
    let handle = BranchPtr::from(copied);
    assert!(!handle.is_deleted());
    drop((other, copy));
    assert!(handle.is_deleted(), "its document is gone");
    assert_eq!(branch.to_string(), "YArray('array')");
}

#[test]
fn paths_lead_to_types() {
    let doc = Doc::new();
    let map = doc.get_or_insert_map("map");
    let mut txn = doc.transact_mut();
    let list = map.insert(&mut txn, "list", yatta::ArrayPrelim::from([1, 2]));
    let inner = list.push_back(&mut txn, MapPrelim::from([("a", 1)]));
    let path = [PathSegment::Key("map".into()), PathSegment::Key("list".into()), PathSegment::Index(2)];
    let found = txn.store().get_type_from_path(&path.iter().cloned().collect()).unwrap();
    assert_eq!(found, AsRef::<Branch>::as_ref(&inner).into());
    let none =
        |path: &[PathSegment]| txn.store().get_type_from_path(&path.iter().cloned().collect()).is_none();
    assert!(
        none(&[]) && none(&path[2..]) && none(&[path[0].clone(), path[1].clone(), PathSegment::Index(0)])
    );
    assert!(none(&[PathSegment::Key("nobody".into())]));
}

#[test]
fn what_waits_can_be_seen() {
    let author = Doc::with_client_id(1);
    let text = author.get_or_insert_text("text");
    text.insert(&mut author.transact_mut(), 0, "abc");
    let known = author.transact().state_vector();
    text.insert(&mut author.transact_mut(), 3, "def");
    text.remove_range(&mut author.transact_mut(), 0, 1);
    let late = author.transact().encode_state_as_update_v1(&known);
    let early = author.transact().encode_state_as_update_v1(&StateVector::default());

    let doc = Doc::new();
    let mut txn = doc.transact_mut();
    assert!(txn.store().pending_update().is_none() && txn.store().pending_ds().is_none());
    txn.apply_update(Update::decode_v1(&late).unwrap()).unwrap();
    let pending = txn.store().pending_update().expect("it misses the first letters");
    assert_eq!(pending.missing.get(&yatta::ClientID::new(1)), 2);
    assert!(!pending.update.state_vector_lower().is_empty());
    assert!(txn.store().pending_ds().is_some());
    txn.apply_update(Update::decode_v1(&early).unwrap()).unwrap();
    assert!(txn.store().pending_update().is_none() && txn.store().pending_ds().is_none());
    assert!(txn.store_mut().pending_ds_mut().is_none());
}

#[test]
fn collection_on_demand() {
    let doc =
        Doc::with_options(Options { skip_gc: true, ..Options::with_client_id(yatta::ClientID::new(1)) });
    let text = doc.get_or_insert_text("text");
    text.insert(&mut doc.transact_mut(), 0, "abcdef");
    text.remove_range(&mut doc.transact_mut(), 1, 2);
    text.remove_range(&mut doc.transact_mut(), 2, 1);
    let kept = doc.transact().encode_state_as_update_v1(&StateVector::default());
    assert!(kept.windows(2).any(|pair| pair == b"bc"), "deleted text is kept");
    let first = doc.transact().snapshot().delete_set;
    {
        let mut txn = doc.transact_mut();
        txn.gc(Some(&yatta::IdSet::default()));
    }
    assert_eq!(doc.transact().encode_state_as_update_v1(&StateVector::default()), kept);
    doc.transact_mut().gc(Some(&first));
    doc.check();
    let collected = doc.transact().encode_state_as_update_v1(&StateVector::default());
    assert!(!collected.windows(2).any(|pair| pair == b"bc"), "and goes when that is asked for");
    assert_eq!(doc.transact().snapshot().delete_set, first, "what is deleted stays deleted");
    doc.transact_mut().gc(None);
    assert_eq!(doc.transact().encode_state_as_update_v1(&StateVector::default()), collected);
    doc.check();

    let mut theirs = yrs::Options::with_client_id(yrs::ClientID::new(1));
    theirs.skip_gc = true;
    let theirs = yrs::Doc::with_options(theirs);
    {
        use yrs::{GetString, ReadTxn, Text, Transact};
        let text = theirs.get_or_insert_text("text");
        text.insert(&mut theirs.transact_mut(), 0, "abcdef");
        text.remove_range(&mut theirs.transact_mut(), 1, 2);
        text.remove_range(&mut theirs.transact_mut(), 2, 1);
        theirs.transact_mut().gc(None);
        assert_eq!(text.get_string(&theirs.transact()), "adf");
        let state = theirs.transact().encode_state_as_update_v1(&yrs::StateVector::default());
        assert_eq!(collected, state, "the bytes of yrs");
    }
}

#[test]
fn needless_formats_are_told_apart_from_other_deletions() {
    let doc = Doc::new();
    let text = doc.get_or_insert_text("text");
    text.insert(&mut doc.transact_mut(), 0, "abc");
    let bold = [("b".into(), Any::from(true))].into_iter().collect();
    text.format(&mut doc.transact_mut(), 0, 3, bold);
    let mut txn = doc.transact_mut();
    assert!(txn.cleanups().is_empty());
    drop(txn);
    txn = doc.transact_mut();
    text.remove_range(&mut txn, 0, 3);
    let cleaned = txn.cleanups();
    assert!(!cleaned.is_empty(), "marks around nothing go");
    assert_eq!(cleaned.clone().intersect(txn.delete_set()), *cleaned);
    assert!(txn.events().is_some_and(|events| !events.has_update_subscribers()));
}

/// A format that reaches beyond the end is cut off there, as in yrs; a delta adds line breaks, as in Yjs.
#[test]
fn formats_beyond_the_end() {
    let doc = Doc::with_client_id(1);
    let text = doc.get_or_insert_text("text");
    let mut txn = doc.transact_mut();
    text.insert(&mut txn, 0, "abc");
    let bold: yatta::types::Attrs = [("b".into(), Any::from(true))].into_iter().collect();
    text.format(&mut txn, 1, u32::MAX, bold.clone());
    text.format(&mut txn, 9, 1, bold.clone());
    assert_eq!(yatta::GetString::get_string(&text, &txn), "abc");
    drop(txn);
    let theirs = yrs::Doc::with_client_id(1);
    {
        use yrs::{ReadTxn, Text, Transact};
        let text = theirs.get_or_insert_text("text");
        let mut txn = theirs.transact_mut();
        text.insert(&mut txn, 0, "abc");
        text.format(&mut txn, 1, 9, [("b".into(), yrs::Any::from(true))].into_iter().collect());
        drop(txn);
        let state = theirs.transact().encode_state_as_update_v1(&yrs::StateVector::default());
        assert_eq!(
            doc.transact().encode_state_as_update_v1(&StateVector::default()),
            state,
            "the bytes of yrs"
        );
    }
    let mut txn = doc.transact_mut();
    let delta: yatta::types::Delta<yatta::In> = yatta::types::Delta::Retain(5, Some(Box::new(bold)));
    text.apply_delta(&mut txn, [delta]);
    assert_eq!(yatta::GetString::get_string(&text, &txn), "abc\n\n");
}

/// The state that Yjs 13.6.33 has after the same edits with `gcFilter: item => item.parent !== keep`.
#[test]
fn a_filter_decides_what_is_collected() {
    const YJS: &str = "010901000401046b6565700461626364840103026566c4010301040178010102676f0484010a026566c1010a010b01\
                       2101036d6170016b010001a8010e017d02010103000406050d03";
    let doc = Doc::with_client_id(1);
    let keep = doc.get_or_insert_text("keep");
    let go = doc.get_or_insert_text("go");
    let map = doc.get_or_insert_map("map");
    let kept: BranchPtr = AsRef::<Branch>::as_ref(&keep).into();
    doc.set_gc_filter(move |item, parent| {
        assert!(item.is_deleted());
        *parent != kept
    });
    for text in [&keep, &go] {
        text.insert(&mut doc.transact_mut(), 0, "abcdef");
        text.remove_range(&mut doc.transact_mut(), 1, 2);
        text.remove_range(&mut doc.transact_mut(), 0, 1);
        text.insert(&mut doc.transact_mut(), 1, "x");
        text.remove_range(&mut doc.transact_mut(), 0, 2);
        doc.check();
    }
    map.insert(&mut doc.transact_mut(), "k", MapPrelim::from([("a", 1)]));
    map.insert(&mut doc.transact_mut(), "k", 2);
    doc.check();
    let state = doc.transact().encode_state_as_update_v1(&StateVector::default());
    let hex: String = state.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hex, YJS);

    // A filter that panics keeps the content, and the commit is completed.
    doc.set_gc_filter(|_, _| panic!("not this one"));
    let mut txn = doc.transact_mut();
    go.remove_range(&mut txn, 0, 1);
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || drop(txn)));
    assert!(panic.is_err());
    doc.check();
    doc.clear_gc_filter();
    go.remove_range(&mut doc.transact_mut(), 0, 1);
    assert_eq!(yatta::GetString::get_string(&go, &doc.transact()), "");
    doc.check();
}
