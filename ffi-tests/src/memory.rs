//! Memory whose end is the end of the readable world: one byte too many, read or written, ends the process.
#![allow(clippy::panic)]

use std::ptr::null_mut;

/// Bytes right before a page that may not be touched.
pub struct Guarded {
    map: *mut u8,
    map_len: usize,
    start: *mut u8,
    len: usize,
}

// SAFETY: plain memory, owned.
unsafe impl Send for Guarded {}
// SAFETY: as above.
unsafe impl Sync for Guarded {}

impl Guarded {
    /// A copy of `bytes`.
    pub fn new(bytes: &[u8]) -> Self {
        // SAFETY: sysconf has no preconditions; the mapping is private and new; its last page is taken away, and the
        // bytes fit before that.
        unsafe {
            let page = usize::try_from(libc::sysconf(libc::_SC_PAGESIZE)).unwrap_or(4096);
            let room = bytes.len().div_ceil(page) * page;
            let map_len = room + page;
            let protection = libc::PROT_READ | libc::PROT_WRITE;
            let map = libc::mmap(null_mut(), map_len, protection, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0);
            assert_ne!(map, libc::MAP_FAILED, "mmap");
            let map = map.cast::<u8>();
            assert_eq!(libc::mprotect(map.add(room).cast(), page, libc::PROT_NONE), 0, "mprotect");
            let start = map.add(room - bytes.len());
            bytes.as_ptr().copy_to_nonoverlapping(start, bytes.len());
            Self { map, map_len, start, len: bytes.len() }
        }
    }

    /// The first `len` bytes of a struct.
    pub fn of_struct<T: Copy>(value: &T, len: usize) -> Self {
        let mut bytes = vec![0; len];
        let known = len.min(size_of::<T>());
        // SAFETY: `known` bytes are readable there and fit here. Structs of the ABI have no padding, which a test of
        // their layout shows.
        unsafe { std::ptr::from_ref(value).cast::<u8>().copy_to_nonoverlapping(bytes.as_mut_ptr(), known) };
        Self::new(&bytes)
    }

    /// Where the bytes begin.
    pub fn pointer<T>(&self) -> *mut T {
        self.start.cast()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// A copy of what stands there.
    pub fn bytes(&self) -> Vec<u8> {
        // SAFETY: so many bytes are readable there.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }.to_vec()
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: the whole mapping is this value's.
        unsafe { libc::munmap(self.map.cast(), self.map_len) };
    }
}

/// Ends the process with a message where a test hangs.
pub struct Watchdog(std::sync::mpsc::Sender<()>);

impl Watchdog {
    /// Barks after so many seconds, unless dropped before.
    #[allow(clippy::print_stderr)]
    pub fn new(what: &'static str, seconds: u64) -> Self {
        let (sender, receiver) = std::sync::mpsc::channel::<()>();
        std::thread::spawn(move || {
            let ended = receiver.recv_timeout(std::time::Duration::from_secs(seconds));
            if ended == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                eprintln!("{what}: hangs since {seconds} s");
                std::process::abort();
            }
        });
        Self(sender)
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        let _ = self.0.send(());
    }
}
