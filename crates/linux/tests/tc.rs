//! The qdisc that traffic control programs are attached to. Needs root.

use crate::scratch::{joined, privileged};
use mpps_linux::links;
use mpps_linux::tc::{self, Filters, Hook, Turn};

#[test]
fn a_clsact_qdisc_is_made_once_and_goes_again() {
    if !privileged() {
        return;
    }
    let (_c, d) = joined(1);
    d.run(|| {
        let ifindex = links::index("mD").unwrap();
        for hook in Hook::BOTH {
            assert_eq!(tc::filters(ifindex, hook).unwrap(), Filters::default());
        }
        assert!(tc::add_clsact(ifindex).unwrap(), "made");
        assert!(!tc::add_clsact(ifindex).unwrap(), "was there");
        for hook in Hook::BOTH {
            assert_eq!(tc::filters(ifindex, hook).unwrap(), Filters::default());
            for turn in Turn::BOTH {
                let refused = tc::delete_filter(ifindex, hook, turn).unwrap_err();
                assert!(refused.is_missing());
            }
        }
        tc::delete_clsact(ifindex).unwrap();
        assert!(tc::delete_clsact(ifindex).is_err(), "gone");
        assert!(tc::add_clsact(ifindex).unwrap(), "made again");
        assert!(tc::add_clsact(u32::MAX >> 1).unwrap_err().is_missing());
    });
}

#[test]
fn filters_of_others_are_counted_as_such() {
    if !privileged() {
        return;
    }
    let (_c, d) = joined(1);
    d.run(|| {
        let ifindex = links::index("mD").unwrap();
        tc::add_clsact(ifindex).unwrap();
        let words = "filter add dev mD egress prio 7 bpf bytecode";
        let added = std::process::Command::new("tc")
            .args(words.split(' '))
            // One instruction of classic BPF: return 0.
            .arg("1,6 0 0 0")
            .status()
            .expect("tc of iproute2");
        assert!(added.success());
        let others = Filters {
            others: 1,
            ..Filters::default()
        };
        assert_eq!(tc::filters(ifindex, Hook::Egress).unwrap(), others);
        assert_eq!(
            tc::filters(ifindex, Hook::Ingress).unwrap(),
            Filters::default()
        );
    });
}
