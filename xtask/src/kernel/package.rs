//! A Debian release's kernel, fetched by apt-get with lists of its own: the machine's sources and its
//! packages stay as they are.
use super::{make_folder, quietly};
use crate::failure::Failure;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";
/// What apt is asked of each of this machine's package lists.
const INDEX: &str = "$(ORIGIN) $(CODENAME) $(REPO_URI)";
/// One step of apt's may take so long, seconds.
const LIMIT_S: &str = "300";

/// An unpacked kernel.
pub struct Kernel {
    /// What boots.
    pub image: PathBuf,
    /// Its modules: `lib/modules/RELEASE`.
    pub modules: PathBuf,
    /// As `uname -r`.
    pub release: String,
}

/// Fetches and unpacks it below `folder`, unless it is there.
pub fn fetch(suite: &str, meta_package: &str, folder: &Path) -> Result<Kernel, Failure> {
    let unpacked = folder.join("unpacked");
    if let Ok(kernel) = found(&unpacked) {
        return Ok(kernel);
    }
    let apt = Apt::with_lists_of(suite, folder)?;
    let depends = apt.cache(&["depends", meta_package])?;
    let package = first_image(&depends)
        .ok_or_else(|| Failure::new(format!("{meta_package} of {suite} names no kernel")))?;
    eprintln!("xtask: fetching {package} of {suite}");
    apt.download(&package)?;
    let archive = std::fs::read_dir(folder)
        .ok()
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .find(|path| path.extension().is_some_and(|end| end == "deb"))
        .ok_or_else(|| Failure::new(format!("apt-get download {package} left no file")))?;
    quietly(
        Command::new("dpkg-deb")
            .arg("-x")
            .args([&archive, &unpacked]),
        "unpack the kernel",
    )?;
    found(&unpacked)
}

/// The kernel below a folder.
fn found(unpacked: &Path) -> Result<Kernel, Failure> {
    // Debian 13 keeps /lib in /usr.
    let places = ["lib/modules", "usr/lib/modules"].map(|place| unpacked.join(place));
    let modules = places
        .iter()
        .filter_map(|place| std::fs::read_dir(place).ok())
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .next()
        .ok_or_else(|| Failure::new("the kernel's package has no modules"))?;
    let release = modules
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let image = unpacked.join("boot").join(format!("vmlinuz-{release}"));
    if !image.is_file() {
        return Err(Failure::new("the kernel's package has no image"));
    }
    Ok(Kernel {
        image,
        modules,
        release,
    })
}

/// The first `Depends: linux-image-...` of what apt-cache says.
fn first_image(depends: &str) -> Option<String> {
    depends
        .lines()
        .filter_map(|line| line.trim().strip_prefix("Depends: "))
        .find(|name| name.starts_with("linux-image-"))
        .map(str::to_owned)
}

/// apt with sources, lists and cache of its own.
struct Apt<'a> {
    folder: &'a Path,
    options: Vec<String>,
}

impl<'a> Apt<'a> {
    fn with_lists_of(suite: &str, folder: &'a Path) -> Result<Apt<'a>, Failure> {
        let own = folder.join("apt");
        for part in ["lists/partial", "cache/archives/partial"] {
            make_folder(&own.join(part))?;
        }
        let places = quietly(
            Command::new("apt-get").args([
                "indextargets",
                "--format",
                INDEX,
                "Created-By: Packages",
            ]),
            "ask apt-get for this machine's sources",
        )?;
        let sources = own.join("sources.list");
        let text = sources_of(suite, &places);
        if text.is_empty() {
            return Err(Failure::new(
                "kernel: apt's sources here name no Debian archive; run this on a Debian machine",
            ));
        }
        std::fs::write(&sources, text)
            .map_err(|error| Failure::new(format!("write {}: {error}", sources.display())))?;
        let option =
            |name: &str, path: &Path| ["-o".to_owned(), format!("{name}={}", path.display())];
        let options = [
            option("Dir::Etc::sourcelist", &sources),
            option("Dir::Etc::sourceparts", Path::new("-")),
            option("Dir::State::lists", &own.join("lists")),
            option("Dir::Cache", &own.join("cache")),
            // The sandbox's user cannot write below everybody's checkout.
            ["-o".to_owned(), "APT::Sandbox::User=root".to_owned()],
        ]
        .concat();
        let apt = Apt { folder, options };
        apt.run("apt-get", &["-qq", "update"])?;
        Ok(apt)
    }

    fn cache(&self, arguments: &[&str]) -> Result<String, Failure> {
        self.run("apt-cache", arguments)
    }

    fn download(&self, package: &str) -> Result<(), Failure> {
        self.run("apt-get", &["-qq", "download", package]).map(drop)
    }

    fn run(&self, program: &str, arguments: &[&str]) -> Result<String, Failure> {
        let mut command = Command::new("timeout");
        command
            .args([LIMIT_S, program])
            .args(&self.options)
            .args(arguments)
            .current_dir(self.folder);
        quietly(&mut command, &format!("{program} {}", arguments.join(" ")))
    }
}

/// Sources of `suite` at the archives that this machine's own sources name: its mirror, its proxy, no other.
/// `places` has a line "ORIGIN CODENAME URI" for each list; a suite's updates keep their word behind its name.
fn sources_of(suite: &str, places: &str) -> String {
    let archives = places.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let (origin, codename, uri) = (words.next()?, words.next()?, words.next()?);
        let part = codename.find('-').map_or("", |at| &codename[at..]);
        let wanted = origin == "Debian" && matches!(part, "" | "-updates" | "-security");
        wanted.then(|| format!("deb [signed-by={KEYRING}] {uri} {suite}{part} main\n"))
    });
    let distinct: BTreeSet<String> = archives.collect();
    distinct.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_is_what_the_meta_package_depends_on() {
        let said = "linux-image-cloud-amd64\n  Depends: linux-image-6.1.0-56-cloud-amd64\n";
        let name = Some("linux-image-6.1.0-56-cloud-amd64".to_owned());
        assert_eq!(first_image(said), name);
        assert_eq!(first_image("x\n  Depends: libc6\n"), None);
    }

    #[test]
    fn another_suite_comes_from_this_machines_archives() {
        let places = "Debian bookworm http://mirror/debian/\nDebian bookworm http://mirror/debian/\n\
                      Debian bookworm-security http://safe/\nElse any http://other/\n\
                      Debian bookworm-backports http://mirror/debian/\n";
        let head = format!("deb [signed-by={KEYRING}]");
        assert_eq!(
            sources_of("trixie", places),
            format!(
                "{head} http://mirror/debian/ trixie main\n{head} http://safe/ trixie-security main\n"
            )
        );
        assert_eq!(sources_of("trixie", "Ubuntu noble http://u/\n"), "");
    }
}
