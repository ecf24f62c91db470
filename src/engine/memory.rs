//! How much memory the machine has left for this process, on Linux.

use std::fs;
use std::path::{Path, PathBuf};

/// Bytes that the process can still take before the kernel must swap, or a control group's limit or that of its address space
/// is met; `None` where nothing is told. Control groups of version 2 and 1; a limit of a parent counts, too.
pub fn available_bytes() -> Option<u64> {
    available_under(Path::new("/"))
}

/// The same for a tree of files that stands for the root directory.
fn available_under(root: &Path) -> Option<u64> {
    let machine = mem_available(root);
    let groups = fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    groups.lines().filter_map(|line| group_available(root, line)).chain(machine).chain(address_space(root)).min()
}

/// The line `MemAvailable:   12345 kB`.
fn mem_available(root: &Path) -> Option<u64> {
    kibibytes(&fs::read_to_string(root.join("proc/meminfo")).ok()?, "MemAvailable:")
}

/// The value in bytes of a line like `VmSize:   12345 kB`.
fn kibibytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// What `ulimit -v` leaves: the soft limit, in bytes or the word "unlimited", less the address space that is taken.
fn address_space(root: &Path) -> Option<u64> {
    let limits = fs::read_to_string(root.join("proc/self/limits")).ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    let limit: u64 = line.split_whitespace().next()?.parse().ok()?;
    let taken = kibibytes(&fs::read_to_string(root.join("proc/self/status")).ok()?, "VmSize:")?;
    Some(limit.saturating_sub(taken))
}

/// What is left in the group that a line `id:controllers:path` names, and in its parents.
fn group_available(root: &Path, line: &str) -> Option<u64> {
    let mut parts = line.splitn(3, ':');
    let (id, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
    let (mount, limit, usage) = if id == "0" && controllers.is_empty() {
        ("sys/fs/cgroup", "memory.max", "memory.current")
    } else if controllers.split(',').any(|name| name == "memory") {
        ("sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes")
    } else {
        return None;
    };
    let mount = root.join(mount);
    // In a container the path may be that outside: then the group is the mount itself.
    let mut directory: PathBuf = mount.join(path.trim_start_matches('/'));
    let mut least = None;
    loop {
        let read = |name: &str| fs::read_to_string(directory.join(name)).ok()?.trim().parse::<u64>().ok();
        // "max" is no number: no limit.
        if let (Some(limit), Some(usage)) = (read(limit), read(usage)) {
            let reclaimable = inactive_file_bytes(&directory);
            let left = limit.saturating_sub(usage.saturating_sub(reclaimable));
            least = Some(least.map_or(left, |least: u64| least.min(left)));
        }
        if directory == mount || !directory.pop() {
            return least;
        }
    }
}

/// Cached pages that the group gives up first.
fn inactive_file_bytes(directory: &Path) -> u64 {
    let text = fs::read_to_string(directory.join("memory.stat")).unwrap_or_default();
    let value = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
    value("total_inactive_file ").or_else(|| value("inactive_file ")).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// A directory with these files; text of a file by its path.
    fn root(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    const MEMINFO: (&str, &str) = ("proc/meminfo", "MemTotal: 100 kB\nMemAvailable:      50 kB\n");

    #[test]
    fn without_a_group_it_is_what_the_machine_has() {
        assert_eq!(available_under(root(&[MEMINFO]).path()), Some(50 << 10));
        assert_eq!(available_under(root(&[]).path()), None);
        assert_eq!(available_under(root(&[("proc/meminfo", "MemAvailable: junk")]).path()), None);
    }

    #[test]
    fn the_tightest_group_counts() {
        let files = |inner: &'static str| {
            root(&[
                MEMINFO,
                ("proc/self/cgroup", "0::/a/b\n"),
                ("sys/fs/cgroup/a/b/memory.max", inner),
                ("sys/fs/cgroup/a/b/memory.current", "4000\n"),
                ("sys/fs/cgroup/a/memory.max", "20000\n"),
                ("sys/fs/cgroup/a/memory.current", "5000\n"),
                ("sys/fs/cgroup/a/memory.stat", "anon 1\ninactive_file 1000\n"),
            ])
        };
        assert_eq!(available_under(files("max\n").path()), Some(16_000));
        assert_eq!(available_under(files("9000\n").path()), Some(5000));
        assert_eq!(available_under(files("100\n").path()), Some(0), "more is in use than is allowed");
    }

    #[test]
    fn a_limit_of_the_address_space_counts() {
        let under = |limit: &str| {
            let limits =
                format!("Limit  Soft Limit  Hard Limit  Units\nMax address space   {limit}   unlimited   bytes\n");
            let status = ("proc/self/status", "Name:\tx\nVmSize:\t      10 kB\n");
            available_under(root(&[MEMINFO, ("proc/self/limits", &limits), status]).path())
        };
        assert_eq!(under("unlimited"), Some(50 << 10));
        assert_eq!(under("30720"), Some(20 << 10));
        assert_eq!(under("5000"), Some(0));
    }

    #[test]
    fn groups_of_version_1_count_too() {
        let root = root(&[
            MEMINFO,
            ("proc/self/cgroup", "4:cpu,memory:/outside\n1:name=systemd:/x\nno group\n"),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "7000"),
            ("sys/fs/cgroup/memory/memory.usage_in_bytes", "2000"),
        ]);
        assert_eq!(available_under(root.path()), Some(5000));
    }
}
