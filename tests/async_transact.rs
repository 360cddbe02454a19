//! Async transactions, on an executor of a few lines: they wait, they are woken, they may be sent to other threads.

use async_trait::async_trait;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use yatta::sync::protocol::AsyncProtocol;
use yatta::sync::{Awareness, DefaultProtocol, Error, Message, SyncMessage};
use yatta::updates::encoder::{Encode, EncoderV1};
use yatta::{AsyncTransact, Doc, GetString, ReadTxn, StateVector, Text, Transact};

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn block_on<F: Future>(future: F) -> F::Output {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Two tasks of one thread: the second waits for the first, which would be a deadlock for `transact_mut`.
#[test]
fn a_task_waits_for_one_of_the_same_thread() {
    let doc = Doc::new();
    let count = Arc::new(Count::default());
    let waker = Waker::from(Arc::clone(&count));
    let mut context = Context::from_waker(&waker);

    let reading = Transact::transact(&doc);
    let mut write = pin!(AsyncTransact::transact_mut_with(&doc, "me"));
    assert!(write.as_mut().poll(&mut context).is_pending());
    let other = block_on(AsyncTransact::transact(&doc));
    drop(other);
    assert!(write.as_mut().poll(&mut context).is_pending());
    drop(reading);
    assert!(count.0.load(Ordering::SeqCst) >= 1, "woken");
    let Poll::Ready(txn) = write.as_mut().poll(&mut context) else { panic!("nobody holds the lock") };
    assert_eq!(txn.origin(), Some(&"me".into()));

    let mut read = pin!(AsyncTransact::transact(&doc));
    assert!(read.as_mut().poll(&mut context).is_pending());
    let before = count.0.load(Ordering::SeqCst);
    drop(txn);
    assert_eq!(count.0.load(Ordering::SeqCst), before + 1);
    assert!(read.as_mut().poll(&mut context).is_ready());
    let before = count.0.load(Ordering::SeqCst);
    drop(Transact::transact_mut(&doc));
    assert_eq!(count.0.load(Ordering::SeqCst), before, "nobody waits");
}

/// A lost wake-up would make this hang.
#[test]
fn tasks_and_threads_take_turns() {
    const EACH: usize = 2000;
    let doc = Doc::new();
    let text = doc.get_or_insert_text("t");
    thread::scope(|scope| {
        for id in 0..4 {
            let (doc, text) = (&doc, &text);
            scope.spawn(move || {
                for _ in 0..EACH {
                    if id == 0 {
                        text.push(&mut Transact::transact_mut(doc), "a");
                    } else {
                        block_on(async { text.push(&mut AsyncTransact::transact_mut(doc).await, "b") });
                    }
                }
            });
        }
        scope.spawn(|| (0..EACH).for_each(|_| drop(block_on(AsyncTransact::transact(&doc)))));
    });
    assert_eq!(text.len(&Transact::transact(&doc)) as usize, 4 * EACH);
}

fn is_send<T: Send>(value: T) -> T {
    value
}

#[test]
fn futures_may_be_sent() {
    let doc = Doc::new();
    let mut awareness = Awareness::new(doc.clone());
    drop(block_on(is_send(AsyncTransact::transact(&doc))));
    drop(block_on(is_send(AsyncTransact::transact_mut(&doc))));
    block_on(is_send(AsyncProtocol::handle(&DefaultProtocol, &mut awareness, &[3]))).expect("a query");
}

/// Transactions may be held across an await and so be sent to other threads. The thread that began one is not taken for
/// its holder for ever.
#[test]
fn transactions_may_be_sent() {
    let doc = Doc::new();
    let text = doc.get_or_insert_text("t");
    let mut txn = is_send(Transact::transact_mut(&doc));
    thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(std::time::Duration::from_millis(50));
            text.push(&mut txn, "a");
            drop(txn);
        });
        text.push(&mut Transact::transact_mut(&doc), "b");
    });
    assert_eq!(text.get_string(&Transact::transact(&doc)), "ab");

    for _ in 0..3 {
        let reading = is_send(Transact::transact(&doc));
        thread::scope(|scope| drop(scope.spawn(move || drop(reading))));
    }
    let elsewhere = AtomicUsize::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            let _txn = Transact::transact_mut(&doc);
            elsewhere.store(1, Ordering::SeqCst);
            thread::sleep(std::time::Duration::from_millis(1500));
        });
        while elsewhere.load(Ordering::SeqCst) == 0 {
            thread::yield_now();
        }
        // longer than a thread waits for itself
        drop(Transact::transact_mut(&doc));
    });
}

fn catch(call: impl FnOnce()) -> thread::Result<()> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(call))
}

#[test]
fn a_thread_does_not_wait_for_itself_for_ever() {
    let doc = Doc::new();
    let _txn = Transact::transact_mut(&doc);
    assert!(catch(|| drop(Transact::transact(&doc))).is_err());
    assert!(catch(|| drop(Transact::transact_mut(&doc))).is_err());
    assert!(doc.try_transact().is_err() && doc.try_transact_mut().is_err());
}

#[test]
fn the_async_protocol_answers_as_the_other() {
    let mut alice = Awareness::new(Doc::with_client_id(1));
    alice.doc().get_or_insert_text("t").push(&mut Transact::transact_mut(alice.doc()), "abc");
    alice.set_local_state("here").expect("JSON");
    let mut bob = Awareness::new(Doc::with_client_id(2));
    let start = block_on(AsyncProtocol::start::<EncoderV1>(&DefaultProtocol, &bob)).expect("starts");
    assert_eq!(start[0], Message::Sync(SyncMessage::SyncStep1(StateVector::default())));
    for message in start {
        let answers = block_on(AsyncProtocol::handle(&DefaultProtocol, &mut alice, &message.encode_v1()));
        for answer in answers.expect("handled") {
            block_on(AsyncProtocol::handle(&DefaultProtocol, &mut bob, &answer.encode_v1()))
                .expect("handled");
        }
    }
    let text = bob.doc().get_or_insert_text("t");
    assert_eq!(text.get_string(&Transact::transact(bob.doc())), "abc");
    assert!(!Transact::transact(bob.doc()).has_missing_updates());
}

/// An `impl` as it is written for yrs.
struct ReadOnly;

#[async_trait]
impl AsyncProtocol for ReadOnly {
    async fn handle_sync_step2(&self, _: &mut Awareness, _: yatta::Update) -> Result<Option<Message>, Error> {
        Err(Error::PermissionDenied { reason: "read only".to_owned() })
    }
}

#[test]
fn methods_can_be_overridden() {
    let mut awareness = Awareness::default();
    let update = Message::Sync(SyncMessage::Update(vec![0, 0])).encode_v1();
    let refused = block_on(ReadOnly.handle(&mut awareness, &update));
    assert!(matches!(refused, Err(Error::PermissionDenied { .. })), "{refused:?}");
}
