//! The one pool for all CPU work of an engine.

use std::sync::Arc;
use std::thread::JoinHandle;

use crate::error::{Error, Result, Status};
use crate::sync::Mutex;

/// Named worker threads with work stealing, which are joined at the end.
pub struct CpuPool {
    pool: Mutex<Option<Arc<rayon::ThreadPool>>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    size: usize,
}

/// Stacks of the workers: MSM and transform recursion needs far less.
const STACK_BYTES: usize = 4 << 20;

impl CpuPool {
    /// Starts `size` (at least 1) threads, with numbered names that begin with `name`.
    pub fn new(size: usize, name: &str) -> Result<Self> {
        let mut threads = Vec::with_capacity(size);
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(size)
            .spawn_handler(|worker| {
                let name = format!("{name}-{}", worker.index());
                let builder = std::thread::Builder::new().name(name).stack_size(STACK_BYTES);
                threads.push(builder.spawn(|| worker.run())?);
                Ok(())
            })
            .build();
        match pool {
            Ok(pool) => Ok(Self { pool: Mutex::new(Some(Arc::new(pool))), threads: Mutex::new(threads), size }),
            Err(error) => {
                // The threads that did start end with the half-built pool; nothing of them stays behind.
                for thread in threads {
                    let _ = thread.join();
                }
                let message = format!("cannot start {size} CPU threads: {error}");
                Err(Error::new(Status::NoMemory, message))
            }
        }
    }

    /// How many threads work.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Runs `work` on the pool some time; drops it if the pool was shut down.
    pub fn spawn(&self, work: impl FnOnce() + Send + 'static) {
        if let Some(pool) = self.get() {
            pool.spawn(work);
        }
    }

    /// Runs `work` on the pool and waits for it; after shutdown on the calling thread.
    pub fn install<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        match self.get() {
            Some(pool) => pool.install(work),
            None => work(),
        }
    }

    /// Ends the threads once they have nothing to do, and joins them. Not from one of them.
    pub fn shut_down(&self) {
        drop(self.pool.lock().take());
        let threads = std::mem::take(&mut *self.threads.lock());
        for thread in threads {
            // A worker that panicked outside a job has nothing left to tell.
            let _ = thread.join();
        }
    }

    fn get(&self) -> Option<Arc<rayon::ThreadPool>> {
        self.pool.lock().clone()
    }
}
