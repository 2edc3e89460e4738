//! The memory an emulated machine starts with: busybox, our programs and other people's with their libraries, the
//! kernel's modules, and the first process.
use super::package::Kernel;
use super::programs::Program;
use super::{make_folder, quietly};
use crate::failure::Failure;
use crate::needs::find_program;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const INIT: &str = include_str!("init.sh");
/// Modules that a bed or a test may ask the kernel for, and drivers of the machine's NICs (`boot.rs`); all others are
/// drivers of things that are not there.
const MODULES: [&str; 13] = [
    "kernel/net",
    "kernel/lib",
    "kernel/crypto",
    "kernel/arch",
    "kernel/drivers/net/veth.ko*",
    "kernel/drivers/net/dummy.ko*",
    "kernel/drivers/net/macvlan.ko*",
    "kernel/drivers/net/vrf.ko*",
    "kernel/drivers/virtio",
    "kernel/drivers/net/virtio_net.ko*",
    "kernel/drivers/net/net_failover.ko*",
    "kernel/drivers/net/vmxnet3",
    "kernel/drivers/net/ethernet/intel/e1000e",
];
/// Other people's programs that the tests start, beside those that busybox has. Its `unshare` knows no time namespace, its
/// `seq` no format, and its shell takes its own `tc` before any other.
const TOOLS: [&str; 7] = ["ip", "tc", "nft", "ethtool", "unshare", "seq", "dash"];

/// Packs it all, `steps` being lines of the guest's shell; the path of the archive.
pub fn pack(
    kernel: &Kernel,
    programs: &[Program],
    steps: &str,
    folder: &Path,
) -> Result<PathBuf, Failure> {
    let root = folder.join("root");
    let _old = fs::remove_dir_all(&root);
    for place in ["bin", "sbin", "proc", "sys", "dev", "run", "tmp"] {
        make_folder(&root.join(place))?;
    }
    copy(&tool("busybox")?, &root.join("bin/busybox"))?;
    let mut libraries = BTreeSet::new();
    let mut all = programs.to_vec();
    for name in TOOLS {
        let (from, to) = (tool(name)?, format!("sbin/{name}"));
        all.push(Program { from, to });
    }
    for program in &all {
        copy(&program.from, &root.join(&program.to))?;
        let said = quietly(
            Command::new("ldd").arg(&program.from),
            &format!("list the libraries of {}", program.from.display()),
        )?;
        libraries.extend(paths_in(&said));
        // Debug information is nine tenths of them, and each octet is copied by an emulated CPU.
        quietly(
            Command::new("strip").arg(root.join(&program.to)),
            "strip a program",
        )?;
    }
    for library in libraries {
        let place = library.trim_start_matches('/');
        copy(Path::new(&library), &root.join(place))?;
    }
    copy_modules(kernel, &root)?;
    write(&root.join("init"), INIT)?;
    write(&root.join("steps"), steps)?;
    let archive = folder.join("memory.cpio.gz");
    shell(
        "cd \"$1\" && chmod 755 init && find . | busybox cpio -o -H newc 2>/dev/null | gzip -1 > \"$2\"",
        &[&root, &archive],
        "pack the guest's memory",
    )?;
    Ok(archive)
}

fn copy_modules(kernel: &Kernel, root: &Path) -> Result<(), Failure> {
    let to = root.join("lib/modules").join(&kernel.release);
    make_folder(&to)?;
    let lists = ["modules.builtin*", "modules.order"];
    for pattern in MODULES.iter().chain(&lists) {
        // Unquoted: a pattern. Not every kernel has them all; one that a test misses fails that test.
        let script = format!("cd \"$1\" && cp -r --parents {pattern} \"$2\" 2>/dev/null || true");
        shell(&script, &[&kernel.modules, &to], "copy modules")?;
    }
    shell(
        "find \"$1\" -name '*.ko.xz' -exec xz -d {} +",
        &[&to],
        "unpack modules",
    )?;
    let mut depmod = Command::new("busybox");
    depmod.args(["depmod", "-b"]).arg(root).arg(&kernel.release);
    quietly(&mut depmod, "list the modules' dependencies").map(drop)
}

fn shell(script: &str, arguments: &[&Path], what: &str) -> Result<(), Failure> {
    let mut command = Command::new("sh");
    command.args(["-c", script, "sh"]).args(arguments);
    quietly(&mut command, what).map(drop)
}

fn tool(name: &str) -> Result<PathBuf, Failure> {
    find_program(name).ok_or_else(|| {
        Failure::new(format!(
            "{name} is not here, though its package was installed"
        ))
    })
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    fs::write(path, text)
        .map_err(|error| Failure::new(format!("write {}: {error}", path.display())))
}

fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    if let Some(folder) = to.parent() {
        make_folder(folder)?;
    }
    fs::copy(from, to)
        .map(drop)
        .map_err(|error| Failure::new(format!("copy {}: {error}", from.display())))
}

/// The files that ldd names.
fn paths_in(said: &str) -> Vec<String> {
    said.split_whitespace()
        .filter(|word| word.starts_with('/'))
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_the_paths_in_what_ldd_says() {
        let said =
            "\tlinux-vdso.so.1 (0x1)\n\tlibz.so.1 => /lib/libz.so.1 (0x2)\n\t/lib64/ld.so (0x3)\n";
        assert_eq!(paths_in(said), ["/lib/libz.so.1", "/lib64/ld.so"]);
    }
}
