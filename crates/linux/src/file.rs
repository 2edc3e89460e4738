//! Files that another process keeps writing to.

use std::os::fd::AsFd;

use nix::fcntl::{FallocateFlags, fallocate};

use crate::error::{Error, Result};

/// Frees what the first `octets` of a file occupy; they read as zeros from then on. Length of the file and
/// places of those who write to it stay as they are (`FALLOC_FL_PUNCH_HOLE`, `fallocate(2)`).
///
/// # Errors
/// The file system cannot do it (EOPNOTSUPP), or the file is not open for writing (EBADF).
pub fn free_head(file: impl AsFd, octets: u64) -> Result<()> {
    let flags = FallocateFlags::FALLOC_FL_PUNCH_HOLE | FallocateFlags::FALLOC_FL_KEEP_SIZE;
    let length = libc::off_t::try_from(octets).unwrap_or(libc::off_t::MAX);
    fallocate(file, flags, 0, length)
        .map_err(|e| Error::from_errno("free the head of", "a file", e as i32))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::Write;
    use std::os::unix::fs::{FileExt, MetadataExt};

    #[test]
    fn a_freed_head_occupies_nothing() {
        let path = std::env::temp_dir().join(format!("mpps-head-{}", std::process::id()));
        let mut new = File::options();
        let new = new.read(true).write(true).create_new(true);
        let mut file = new.open(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        file.write_all(&vec![b'x'; 1 << 20]).unwrap();
        // Not every file system has it; the caller has another way then.
        if free_head(&file, (1 << 20) - 4096).is_err() {
            println!("SKIP: no holes in files of the temporary folder");
            return;
        }
        let about = file.metadata().unwrap();
        assert_eq!(about.len(), 1 << 20);
        assert!(about.blocks() * 512 <= 64 << 10, "{}", about.blocks());
        let mut last = [0; 4096];
        file.read_exact_at(&mut last, (1 << 20) - 4096).unwrap();
        assert_eq!(last, [b'x'; 4096]);
    }
}
