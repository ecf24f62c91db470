//! Gives memory back, off every path that somebody waits on: unmapping gigabytes takes long and stalls every core, so
//! one thread does it, one piece at a time.

use crossbeam_channel::{Receiver, Sender, unbounded};

use crate::sync::{Condvar, Mutex};

/// Something whose drop is slow.
type Garbage = Box<dyn Send>;

/// Where things go to be dropped.
pub(super) struct Reclaimer {
    sender: Mutex<Option<Sender<Garbage>>>,
    /// Pieces that were handed in, and pieces that are gone.
    counts: Mutex<(u64, u64)>,
    changed: Condvar,
}

impl Reclaimer {
    /// With what its thread reads.
    pub fn new() -> (Self, Receiver<Garbage>) {
        let (sender, receiver) = unbounded();
        (Self { sender: Mutex::new(Some(sender)), counts: Mutex::new((0, 0)), changed: Condvar::new() }, receiver)
    }

    /// Drops `garbage` soon; at once where the thread has ended.
    pub fn hand_in(&self, garbage: Garbage) {
        self.counts.lock().0 += 1;
        let sender = self.sender.lock().clone();
        let refused = match sender {
            Some(sender) => sender.send(garbage).err().map(|error| error.0),
            None => Some(garbage),
        };
        if let Some(garbage) = refused {
            self.drop_one(garbage);
        }
    }

    /// Waits until all that was handed in before is gone. False, without waiting, if nothing was left.
    pub fn wait(&self) -> bool {
        let mut counts = self.counts.lock();
        let goal = counts.0;
        if counts.1 >= goal {
            return false;
        }
        while counts.1 < goal {
            counts = self.changed.wait(counts);
        }
        true
    }

    /// The thread's work, until `end`.
    pub fn work(&self, pieces: &Receiver<Garbage>) {
        while let Ok(garbage) = pieces.recv() {
            self.drop_one(garbage);
        }
    }

    /// No more is handed to the thread, which ends.
    pub fn end(&self) {
        drop(self.sender.lock().take());
    }

    fn drop_one(&self, garbage: Garbage) {
        drop(garbage);
        self.counts.lock().1 += 1;
        self.changed.notify_all();
    }
}
