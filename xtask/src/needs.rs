//! What building and testing need from the machine, and what of it is missing. Asks the file system, never the
//! package manager: a machine that has everything is not held up, and one without Debian's tools is served too.
use std::path::{Path, PathBuf};

/// How presence is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// A program of this name.
    Program(&'static str),
    /// A C header of this name.
    Header(&'static str),
}

/// One thing needed and the Debian package that brings it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    /// Debian's name of the package.
    pub package: &'static str,
    /// How to see that it is there.
    pub sign: Sign,
    /// What it is for, shown when it is installed.
    pub why: &'static str,
}

const fn need(package: &'static str, sign: Sign, why: &'static str) -> Need {
    Need { package, sign, why }
}

/// To compile: the eBPF programs (clang), and libbpf, which the build compiles from its own sources.
pub const BUILD: [Need; 7] = [
    need(
        "clang",
        Sign::Program("clang"),
        "compiles the eBPF programs",
    ),
    need(
        "libelf-dev",
        Sign::Header("libelf.h"),
        "libbpf reads object files with it",
    ),
    need(
        "zlib1g-dev",
        Sign::Header("zlib.h"),
        "libelf unpacks sections with it",
    ),
    need(
        "pkg-config",
        Sign::Program("pkg-config"),
        "finds both of them",
    ),
    need("make", Sign::Program("make"), "builds libbpf"),
    need("gcc", Sign::Program("cc"), "builds libbpf and links"),
    need(
        "linux-libc-dev",
        Sign::Header("linux/bpf.h"),
        "the kernel's own definitions",
    ),
];

/// To test: other people's tools that the privileged tests hold us against or use as --dut-setup.
pub const TEST: [Need; 4] = [
    need(
        "nftables",
        Sign::Program("nft"),
        "firewall rules that make a router slow in tests",
    ),
    need(
        "iptables",
        Sign::Program("iptables"),
        "hands frames to a program in a test",
    ),
    need(
        "iproute2",
        Sign::Program("ip"),
        "a second opinion on namespaces, links and routes",
    ),
    need(
        "procps",
        Sign::Program("sysctl"),
        "a second opinion on settings",
    ),
];

/// To test the report's page. Not every system has them under these names: without them these tests are skipped.
pub const PAGE: [Need; 2] = [
    need(
        "chromium",
        Sign::Program("chromium"),
        "opens the report's page in tests",
    ),
    need(
        "poppler-utils",
        Sign::Program("pdftotext"),
        "reads the printed page in a test",
    ),
];

/// To boot another kernel: `cargo xtask kernel`.
pub const EMULATION: [Need; 3] = [
    need(
        "qemu-system-x86",
        Sign::Program("qemu-system-x86_64"),
        "emulates a machine for another kernel",
    ),
    need(
        "busybox-static",
        Sign::Program("busybox"),
        "everything that machine has besides our programs",
    ),
    need("xz-utils", Sign::Program("xz"), "unpacks kernel modules"),
];

/// To make a Debian package of it: `cargo xtask dist`.
pub const PACKING: [Need; 2] = [
    need(
        "dpkg-dev",
        Sign::Program("dpkg-shlibdeps"),
        "finds the packages that a program depends on",
    ),
    need("git", Sign::Program("git"), "exports the commit"),
];

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

    fn has(&self, sign: Sign) -> bool {
        let (folders, name) = match sign {
            Sign::Program(name) => (&self.programs, name),
            Sign::Header(name) => (&self.headers, name),
        };
        folders.iter().any(|folder| folder.join(name).is_file())
    }

    /// Those of `needs` that are not here, in their order.
    pub fn missing(&self, needs: &[Need]) -> Vec<Need> {
        needs
            .iter()
            .copied()
            .filter(|need| !self.has(need.sign))
            .collect()
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
    fn missing_with(test: &str, files: &[&str], needs: &[Need]) -> Vec<&'static str> {
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
        let missing = places.missing(needs);
        let _ = std::fs::remove_dir_all(&base);
        missing.iter().map(|need| need.package).collect()
    }

    #[test]
    fn a_bare_machine_lacks_everything() {
        let all = BUILD.map(|need| need.package);
        assert_eq!(missing_with("bare", &[], &BUILD), all);
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
        assert_eq!(missing_with("some", &files, &BUILD), ["libelf-dev"]);
    }

    #[test]
    fn a_program_in_a_system_folder_counts() {
        let files = ["sbin/nft", "sbin/iptables", "sbin/ip", "sbin/sysctl"];
        assert!(missing_with("sbin", &files, &TEST).is_empty());
    }
}
