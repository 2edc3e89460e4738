//! Compiles every `NAME.bpf.c` below src/ and generates its skeleton into OUT_DIR.
use libbpf_cargo::SkeletonBuilder;
use std::path::{Path, PathBuf};

fn main() {
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    println!("cargo:rerun-if-changed=src");
    for folder in ["src/instruments"] {
        for entry in std::fs::read_dir(folder).expect("the crate's own source folder") {
            let source = entry.expect("a readable folder").path();
            if let Some(name) = program_name(&source) {
                build(&source, &out.join(format!("{name}.skel.rs")));
            }
        }
    }
}

fn program_name(source: &Path) -> Option<String> {
    let file = source.file_name()?.to_str()?;
    file.strip_suffix(".bpf.c").map(str::to_owned)
}

/// A failure names the two usual causes: the build stops here on a machine without clang.
fn build(source: &Path, skeleton: &Path) {
    // linux/bpf.h pulls in asm/types.h, which Debian keeps in the architecture's own folder.
    let multiarch = format!("-I/usr/include/{}-linux-gnu", std::env::consts::ARCH);
    // The kernel is told the lines of the source. Their file must not depend on where it lies.
    let folder = std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
    let renamed = format!("-ffile-prefix-map={folder}=crates/ebpf");
    let built = SkeletonBuilder::new()
        .source(source)
        .clang_args([
            "-O2",
            "-mcpu=v3",
            "-Wall",
            "-Wno-unused-function",
            &multiarch,
            &renamed,
        ])
        .build_and_generate(skeleton);
    if let Err(error) = built {
        panic!(
            "compile {}: {error:#}\n(needs clang and linux-libc-dev; `cargo xtask setup` installs them)",
            source.display()
        );
    }
}
