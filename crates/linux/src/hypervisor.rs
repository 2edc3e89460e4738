//! Which hypervisor runs below, as the CPU itself says.

/// The hypervisor's twelve letters (CPUID leaf 0x4000_0000: `KVMKVMKVM`, `VMwareVMware`, `Microsoft Hv`,
/// `XenVMMXenVMM`); `None` where there is none, or the architecture has no such register.
#[must_use]
pub fn signature() -> Option<String> {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::__cpuid;
        const FEATURES: u32 = 1;
        const HYPERVISOR: u32 = 0x4000_0000;
        const HYPERVISOR_BIT: u32 = 31;
        #[allow(unused_unsafe, reason = "safe to call from Rust 1.94 on")]
        // SAFETY: every x86-64 CPU has the instruction; it changes registers only.
        let ask = |leaf| unsafe { __cpuid(leaf) };
        if ask(FEATURES).ecx >> HYPERVISOR_BIT & 1 == 0 {
            return None;
        }
        let said = ask(HYPERVISOR);
        let letters = [said.ebx, said.ecx, said.edx].map(u32::to_le_bytes);
        printable(&letters.concat())
    }
    #[cfg(not(target_arch = "x86_64"))]
    None
}

#[cfg(any(target_arch = "x86_64", test))]
fn printable(octets: &[u8]) -> Option<String> {
    let text: String = octets
        .iter()
        .map(|&octet| char::from(octet))
        .take_while(|letter| *letter == ' ' || letter.is_ascii_graphic())
        .collect();
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_letters_count() {
        assert_eq!(printable(b"KVMKVMKVM\0\0\0").as_deref(), Some("KVMKVMKVM"));
        assert_eq!(printable(b"Microsoft Hv").as_deref(), Some("Microsoft Hv"));
        assert_eq!(printable(&[0; 12]), None);
        assert_eq!(printable(&[0xff; 12]), None);
    }

    #[test]
    fn it_agrees_with_the_kernel() {
        let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap();
        let flag = cpuinfo
            .lines()
            .find(|line| line.starts_with("flags"))
            .is_some_and(|line| line.split(' ').any(|flag| flag == "hypervisor"));
        // A hypervisor may hide its name, but nobody has one without being there.
        assert!(flag || signature().is_none(), "{:?}", signature());
    }
}
