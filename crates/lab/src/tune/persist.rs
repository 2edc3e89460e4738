//! Files that keep settings across boots: drop-in files for sysctls, a service with a script for the rest.
//!
//! The first line of each says that it is ours, with a checksum of what follows. A file that somebody changed has another
//! checksum: it is neither replaced nor removed.

use super::TuneError;
use crate::journal::Reverted;
use mpps_linux::error::Error;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::{self, Write};
use std::path::{self, Path, PathBuf};

/// Read by `sysctl --system` and systemd at each boot.
pub const SYSCTLS: &str = "etc/sysctl.d/90-mpps.conf";
/// Commands for all other settings.
pub const SCRIPT: &str = "etc/mpps/tune.sh";
/// The service that runs them.
pub const UNIT: &str = "etc/systemd/system/mpps-tune.service";
/// It has the service started. A file can be marked as ours, and a link cannot.
pub const STARTER: &str = "etc/systemd/system/multi-user.target.d/90-mpps.conf";

const MARK: &str = "# Written by `mpps tune apply --persist`; `mpps tune revert --persisted` removes it. Checksum ";

/// One of these files, as it is to be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct File {
    /// Where.
    pub path: PathBuf,
    /// All of its text.
    pub text: String,
    /// Its text before, where there was one.
    before: Option<String>,
}

impl File {
    /// The file of this name below `root`, marked as ours. Nothing is written yet.
    ///
    /// # Errors
    /// There is one that somebody else wrote or changed.
    pub fn new(root: &Path, name: &str, body: &str) -> Result<Self, TuneError> {
        let path = path::absolute(root.join(name)).map_err(refused("name", root))?;
        let before = read(&path)?;
        if before.as_deref().is_some_and(|text| !is_ours(text)) {
            return Err(TuneError::NotOurs(path));
        }
        let text = format!("{MARK}{:016x}.\n{body}", checksum(body));
        Ok(Self { path, text, before })
    }

    pub(super) fn write(&self) -> Result<(), TuneError> {
        if read(&self.path)? != self.before {
            return Err(TuneError::NotOurs(self.path.clone()));
        }
        Ok(put(&self.path, &self.text)?)
    }

    /// Makes it as it was before, unless somebody else changed it.
    pub(super) fn put_back(&self, reverted: &mut Reverted) -> Result<(), Error> {
        let _never_renamed = fs::remove_file(unnamed(&self.path));
        match read(&self.path)? {
            Some(text) if text == self.text => {
                reverted.files += 1;
                match &self.before {
                    Some(before) => put(&self.path, before),
                    None => remove(&self.path),
                }
            }
            now => {
                if now.is_some() && now != self.before {
                    reverted.foreign.push(changed(&self.path));
                }
                Ok(())
            }
        }
    }
}

/// Text of all files of ours below `root`.
///
/// # Errors
/// One could not be read.
pub fn written(root: &Path) -> Result<String, TuneError> {
    let mut all = String::new();
    for name in [SYSCTLS, SCRIPT] {
        all += &read(&root.join(name))?
            .filter(|text| is_ours(text))
            .unwrap_or_default();
    }
    Ok(all)
}

/// Removes all files of ours below `root`, but those that somebody changed.
///
/// # Errors
/// One could not be read or removed. A second call removes the rest.
pub fn uninstall(root: &Path) -> Result<Reverted, TuneError> {
    let mut reverted = Reverted::default();
    for path in [STARTER, UNIT, SCRIPT, SYSCTLS].map(|name| root.join(name)) {
        match read(&path)? {
            None => {}
            Some(text) if is_ours(&text) => {
                remove(&path)?;
                reverted.files += 1;
            }
            Some(_) => reverted.foreign.push(changed(&path)),
        }
    }
    Ok(reverted)
}

fn changed(path: &Path) -> String {
    let path = path.display();
    format!("{path} stays, because another program wrote or changed it")
}

fn is_ours(text: &str) -> bool {
    let marked = text
        .strip_prefix(MARK)
        .and_then(|rest| rest.split_once(".\n"));
    marked.is_some_and(|(sum, body)| sum == format!("{:016x}", checksum(body)))
}

/// FNV-1a, 64 bits: it tells an accidental change, which is all that is asked of it.
fn checksum(text: &str) -> u64 {
    let step = |sum: u64, octet: u8| (sum ^ u64::from(octet)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

fn refused(verb: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
    move |error| Error::from_io(verb, path.display().to_string(), &error)
}

fn read(path: &Path) -> Result<Option<String>, Error> {
    match fs::read(path) {
        Ok(octets) => Ok(Some(String::from_utf8_lossy(&octets).into_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(refused("read", path)(error)),
    }
}

/// Where it is written before it gets its name.
fn unnamed(path: &Path) -> PathBuf {
    path.with_extension("mpps-new")
}

/// The file has its whole text or is as before, whenever this process is killed.
fn put(path: &Path, text: &str) -> Result<(), Error> {
    let folder = path.parent().unwrap_or(path);
    let new = unnamed(path);
    let write = || {
        fs::create_dir_all(folder)?;
        let mut file = fs::File::create(&new)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&new, path)?;
        fs::File::open(folder)?.sync_all()
    };
    write().map_err(refused("write", path))
}

fn remove(path: &Path) -> Result<(), Error> {
    fs::remove_file(path).map_err(refused("remove", path))?;
    if let Some(folder) = path.parent() {
        // These two are ours where nothing else is in them.
        if folder.ends_with("mpps") || folder.ends_with("multi-user.target.d") {
            let _others = fs::remove_dir(folder);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::tests::planted::Planted;

    /// Names and texts of all files of a tree.
    fn tree(root: &Path) -> Vec<(PathBuf, String)> {
        let mut all = Vec::new();
        for entry in fs::read_dir(root).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                all.extend(tree(&path));
            } else {
                all.push((path.clone(), fs::read_to_string(&path).unwrap()));
            }
        }
        all.sort();
        all
    }

    #[test]
    fn files_come_and_go_and_come_back() {
        let planted = Planted::new("persist", &[("/etc/sysctl.d/99-other.conf", "a = 1\n")]);
        let root = &planted.root().path("/");
        let before = tree(root);
        let all = || {
            [
                (SYSCTLS, "a = 2\n"),
                (SCRIPT, "true\n"),
                (UNIT, ""),
                (STARTER, "x\n"),
            ]
        };
        let files: Vec<File> = all()
            .map(|(name, body)| File::new(root, name, body).unwrap())
            .into();
        for count in 0..=files.len() {
            files[..count].iter().for_each(|file| file.write().unwrap());
            let mut reverted = Reverted::default();
            files
                .iter()
                .for_each(|file| file.put_back(&mut reverted).unwrap());
            assert_eq!((reverted.files, tree(root)), (count, before.clone()));
        }
        files.iter().for_each(|file| file.write().unwrap());
        assert!(written(root).unwrap().contains("\na = 2\n"));
        // Written again, and put back: the text from before.
        let old = tree(root);
        let second = File::new(root, SYSCTLS, "a = 3\n").unwrap();
        second.write().unwrap();
        assert!(second.write().is_err(), "it is another file now");
        fs::write(unnamed(&second.path), "half").unwrap();
        assert_ne!(tree(root), old);
        second.put_back(&mut Reverted::default()).unwrap();
        assert_eq!(tree(root), old);
        let removed = uninstall(root).unwrap();
        assert_eq!((removed.files, removed.foreign), (4, vec![]));
        assert_eq!(tree(root), before);
    }

    #[test]
    fn a_changed_file_is_kept() {
        let planted = Planted::new("persist-changed", &[]);
        let root = &planted.root().path("/");
        let file = File::new(root, SYSCTLS, "a = 2\n").unwrap();
        file.write().unwrap();
        fs::write(&file.path, file.text.replace("= 2", "= 3")).unwrap();
        let mut reverted = Reverted::default();
        file.put_back(&mut reverted).unwrap();
        assert_eq!(
            (reverted.files, reverted.foreign.len()),
            (0, 1),
            "{reverted:?}"
        );
        assert_eq!(uninstall(root).unwrap(), reverted);
        assert!(written(root).unwrap().is_empty());
        let refused = File::new(root, SYSCTLS, "").unwrap_err().to_string();
        assert!(
            refused.contains("90-mpps.conf is not as mpps wrote it"),
            "{refused}"
        );
        // Not even UTF-8.
        fs::write(&file.path, b"\xff\n").unwrap();
        assert_eq!(uninstall(root).unwrap(), reverted);
    }
}
