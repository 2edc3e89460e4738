//! Whether a bed can be raised here at all: what can be known without touching anything.

use mpps_linux::kernel;
use std::path::Path;
use thiserror::Error;

/// The kernel needed (docs/kernels.md): the youngest thing that nothing older can stand in for is the
/// sender's `BPF_PROG_TEST_RUN` with live XDP frames.
pub(crate) const KERNEL_MIN: (u32, u32) = (5, 18);
/// Where the kernel shows its own types.
const BTF: &str = "/sys/kernel/btf/vmlinux";

/// What a machine lacks to raise a bed and send live frames.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Lack {
    /// Not root.
    #[error("needs root for namespaces and eBPF: run it with sudo (see docs/privileges.md)")]
    Root,
    /// A newer kernel; the running one's release.
    #[error(
        "Linux {0} cannot send live XDP frames: run Linux {major}.{minor} or newer (see docs/kernels.md)",
        major = KERNEL_MIN.0,
        minor = KERNEL_MIN.1
    )]
    Kernel(String),
    /// The kernel's types (CONFIG_DEBUG_INFO_BTF).
    #[error(
        "this kernel does not show its types ({BTF} is missing): run one with CONFIG_DEBUG_INFO_BTF, as distributions' \
         are (see docs/kernels.md)"
    )]
    Btf,
}

/// Checks what can be known without touching anything.
///
/// # Errors
/// The first thing that is missing.
pub fn check() -> Result<(), Lack> {
    // A kernel that does not say its release is let through: what it lacks it will say itself.
    let release = kernel::release().ok();
    lacking(
        kernel::effective_uid() == 0,
        release.as_ref(),
        Path::new(BTF).exists(),
    )
    .map_or(Ok(()), Err)
}

fn lacking(root: bool, release: Option<&kernel::Release>, btf: bool) -> Option<Lack> {
    if !root {
        return Some(Lack::Root);
    }
    if let Some(release) = release.filter(|release| !release.at_least(KERNEL_MIN.0, KERNEL_MIN.1)) {
        return Some(Lack::Kernel(release.text.clone()));
    }
    (!btf).then_some(Lack::Btf)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_lack_names_its_remedy() {
        let release = |major, minor| kernel::Release {
            major,
            minor,
            text: format!("{major}.{minor}.0"),
        };
        let (old, new) = (release(5, 15), release(5, 18));
        assert_eq!(lacking(true, Some(&new), true), None);
        assert_eq!(lacking(true, None, true), None);
        for (lack, remedy) in [
            (lacking(false, Some(&new), true), "sudo"),
            (lacking(true, Some(&old), true), "5.18 or newer"),
            (lacking(true, Some(&new), false), "CONFIG_DEBUG_INFO_BTF"),
        ] {
            let line = lack.expect("something lacks").to_string();
            assert!(line.contains(remedy) && !line.contains('\n'), "{line}");
        }
    }
}
