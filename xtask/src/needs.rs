//! What building and testing need from the machine, and what of it is missing. Asks the file system, never the
//! package manager: a machine that has everything is not held up, and one without Debian's tools is served too.
use std::path::{Path, PathBuf};

/// One thing needed and the Debian package that brings it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    /// Debian's name of the package.
    pub package: &'static str,
    /// How to see that it is there: a C header by its `.h`, else a program.
    pub sign: &'static str,
    /// What it is for, shown when it is installed.
    pub why: &'static str,
}

/// To compile: the eBPF programs (clang), and libbpf, which the build compiles from its own sources. Of each need the
/// package, the sign of it, and what it is for.
pub const BUILD: &str = "\
    clang           clang        compiles the eBPF programs
    libelf-dev      libelf.h     libbpf reads object files with it
    zlib1g-dev      zlib.h       libelf unpacks sections with it
    pkg-config      pkg-config   finds both of them
    make            make         builds libbpf
    gcc             cc           builds libbpf and links
    linux-libc-dev  linux/bpf.h  the kernel's own definitions";

/// To test: other people's tools that the privileged tests hold us against or use as --dut-setup.
pub const TEST: &str = "\
    nftables  nft       firewall rules that make a router slow in tests
    iptables  iptables  hands frames to a program in a test
    iproute2  ip        a second opinion on namespaces, links and routes
    procps    sysctl    a second opinion on settings";

/// To test the report's page. Not every system has them under these names: without them these tests are skipped.
pub const PAGE: &str = "\
    chromium       chromium   opens the report's page in tests
    poppler-utils  pdftotext  reads the printed page in a test";

/// To boot another kernel: `cargo xtask kernel`.
pub const EMULATION: &str = "\
    qemu-system-x86  qemu-system-x86_64  emulates a machine for another kernel
    busybox-static   busybox             everything that machine has besides our programs
    xz-utils         xz                  unpacks kernel modules";

/// To make a Debian package of it: `cargo xtask dist`.
pub const PACKING: &str = "\
    dpkg-dev  dpkg-shlibdeps  finds the packages that a program depends on
    git       git             exports the commit";

/// Reads such a table.
fn needs(table: &'static str) -> impl Iterator<Item = Need> {
    table.lines().filter_map(|line| {
        let (package, rest) = line.trim().split_once("  ")?;
        let (sign, why) = rest.trim().split_once("  ")?;
        let why = why.trim();
        Some(Need { package, sign, why })
    })
}

/// Where programs and headers are looked for.
pub struct Places {
    /// Folders of programs.
    pub programs: Vec<PathBuf>,
    /// Folders of C headers.
    pub headers: Vec<PathBuf>,
}

impl Places {
    /// This machine's. The system folders are added to PATH, where an ordinary Debian user does not have them.
    pub fn here() -> Places {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut programs: Vec<PathBuf> = std::env::split_paths(&path).collect();
        programs.extend(["/usr/sbin", "/sbin", "/usr/bin", "/bin"].map(PathBuf::from));
        let multiarch = format!("/usr/include/{}-linux-gnu", std::env::consts::ARCH);
        let headers = ["/usr/include", "/usr/local/include", &multiarch].map(PathBuf::from);
        Places {
            programs,
            headers: headers.to_vec(),
        }
    }

    fn has(&self, sign: &str) -> bool {
        let folders = match sign.ends_with(".h") {
            true => &self.headers,
            false => &self.programs,
        };
        folders.iter().any(|folder| folder.join(sign).is_file())
    }

    /// Those of a table that are not here, in their order.
    pub fn missing(&self, table: &'static str) -> Vec<Need> {
        needs(table).filter(|need| !self.has(need.sign)).collect()
    }
}

/// The path of a program on PATH or in the system folders.
pub fn find_program(name: &str) -> Option<PathBuf> {
    let places = Places::here();
    let paths = places.programs.iter().map(|folder| folder.join(name));
    paths.into_iter().find(|path| Path::is_file(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a machine with only these files lacks.
    fn missing_with(test: &str, files: &[&str], table: &'static str) -> Vec<&'static str> {
        let base = std::env::temp_dir().join(format!("xtask-needs-{}-{test}", std::process::id()));
        for file in files {
            let path = base.join(file);
            std::fs::create_dir_all(path.parent().expect("below the base")).expect("a folder");
            std::fs::write(path, "").expect("a file");
        }
        let programs = vec![base.join("bin"), base.join("sbin")];
        let places = Places {
            programs,
            headers: vec![base.join("include")],
        };
        let missing = places.missing(table);
        let _ = std::fs::remove_dir_all(&base);
        missing.iter().map(|need| need.package).collect()
    }

    #[test]
    fn a_bare_machine_lacks_everything() {
        for (place, table) in [BUILD, TEST, PAGE, EMULATION, PACKING]
            .into_iter()
            .enumerate()
        {
            let all: Vec<&str> = needs(table).map(|need| need.package).collect();
            assert_eq!(all.len(), table.lines().count(), "{table}");
            assert_eq!(missing_with(&format!("bare-{place}"), &[], table), all);
        }
    }

    #[test]
    fn only_what_is_absent_is_named() {
        let files = [
            "bin/clang",
            "bin/make",
            "bin/cc",
            "bin/pkg-config",
            "include/zlib.h",
            "include/linux/bpf.h",
        ];
        assert_eq!(missing_with("some", &files, BUILD), ["libelf-dev"]);
    }

    #[test]
    fn a_program_in_a_system_folder_counts() {
        let files = ["sbin/nft", "sbin/iptables", "sbin/ip", "sbin/sysctl"];
        assert!(missing_with("sbin", &files, TEST).is_empty());
    }
}
