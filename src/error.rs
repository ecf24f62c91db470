//! The one error type of the library: a status that callers branch on, and a text that names the place.

use std::fmt;

/// What kind of failure it was. The values are those of `groth16_status` in the C ABI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(i32)]
pub enum Status {
    /// An argument broke its documented contract.
    Invalid = -1,
    /// Well formed, but not in this library or on this machine.
    Unsupported = -2,
    /// Host memory, or a host limit that the caller set.
    NoMemory = -3,
    /// Device memory, after every smaller plan was tried.
    DeviceMemory = -4,
    /// No usable GPU where one was asked for.
    NoDevice = -5,
    /// The GPU or its driver failed, and no retry was left.
    Device = -6,
    /// The operating system refused to open or read a file.
    Io = -7,
    /// Key, circuit or witness bytes are malformed.
    Format = -8,
    /// The witness does not satisfy the circuit.
    Unsatisfied = -9,
    /// The proof does not verify; it is withheld.
    SelfCheck = -10,
    /// The engine holds as many jobs as it may.
    QueueFull = -11,
    /// The time that the caller gave ran out.
    Timeout = -12,
    /// An output buffer is too small; the needed size was written.
    TooSmall = -13,
    /// The caller asked for the work to stop.
    Cancelled = -14,
    /// The engine was freed before the job ran.
    Shutdown = -15,
    /// A handle made before `fork` was used in the child.
    Forked = -16,
    /// A bug in this library; the process is still sound.
    Internal = -17,
}

/// A failed operation: its status and a text for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    status: Status,
    message: String,
}

/// What fallible functions of this library return.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error of kind `status`; `message` names the place (file, section, index, got and wanted).
    pub fn new(status: Status, message: impl Into<String>) -> Self {
        Self { status, message: message.into() }
    }

    /// An argument broke its contract.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(Status::Invalid, message)
    }

    /// Bytes of a key, circuit or witness are malformed.
    pub fn format(message: impl Into<String>) -> Self {
        Self::new(Status::Format, message)
    }

    /// The same of a device in use: one that is gone, or cannot do what it could before, has failed.
    pub fn of_device(self) -> Self {
        match self.status {
            Status::NoDevice | Status::Unsupported => Self { status: Status::Device, ..self },
            _ => self,
        }
    }

    /// A state that this library's own logic rules out.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(Status::Internal, message)
    }

    /// The kind of failure.
    pub fn status(&self) -> Status {
        self.status
    }

    /// The text for a person.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The same error with the place put in front: `place: message`.
    #[must_use]
    pub fn at(self, place: impl fmt::Display) -> Self {
        Self { status: self.status, message: format!("{place}: {}", self.message) }
    }
}

/// Room for `count` more elements of `what`; `Status::NoMemory` where there is none. For sizes that a caller or a file
/// chose: an allocation that fails elsewhere ends the process.
pub fn reserve<T>(vector: &mut Vec<T>, count: usize, what: &str) -> Result<()> {
    vector.try_reserve_exact(count).map_err(|_| {
        let bytes = (count as u128) * (size_of::<T>() as u128);
        Error::new(Status::NoMemory, format!("no memory for {what}: {count} elements, {bytes} bytes"))
    })
}

/// `count` elements of the value `zero`, whose bytes are zeros: where that is known to the compiler, pages come when they are
/// touched, by whatever thread. Fails as `reserve` does, but for the moment between its question and the answer.
pub fn zeroed<T: Copy>(count: usize, zero: T, what: &str) -> Result<Vec<T>> {
    let mut room: Vec<T> = Vec::new();
    reserve(&mut room, count, what)?;
    drop(room);
    Ok(vec![zero; count])
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
