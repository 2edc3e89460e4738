//! Namespaces: making, entering, looking into, removing. Needs root.

use std::fs;
use std::process::{Command, Stdio};

use crate::scratch::{self, Scratch, privileged, skip, unique_name, wait_for};
use mpps_linux::netns::{self, DIRECTORY, NetNs};
use mpps_linux::{links, setting::Setting};
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};

#[test]
fn a_namespace_comes_and_goes_by_its_name() {
    if !privileged() {
        return;
    }
    let scratch = Scratch::new();
    let name = scratch.0.name().to_owned();
    assert!(NetNs::exists(&name));
    assert!(NetNs::list().unwrap().contains(&name));
    let again = NetNs::open(&name).unwrap();
    assert_eq!(again.inode(), scratch.0.inode());
    let host = fs::read_link("/proc/self/ns/net").unwrap();
    assert_ne!(
        host.to_str().unwrap(),
        format!("net:[{}]", scratch.0.inode())
    );
    let taken = NetNs::create(&name).unwrap_err();
    assert!(
        taken.to_string().contains("EEXIST (choose another name"),
        "{taken}"
    );
    // The failed creation has not damaged the name's owner.
    assert_eq!(NetNs::open(&name).unwrap().inode(), again.inode());
    drop(scratch);
    assert!(!NetNs::exists(&name));
    assert!(!NetNs::list().unwrap().contains(&name));
    assert!(NetNs::open(&name).unwrap_err().is_missing());
}

/// Runs in a thread with mounts of its own and an empty /run, as on a machine just started.
fn with_own_run<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            unshare(CloneFlags::CLONE_NEWNS).unwrap();
            let private = MsFlags::MS_PRIVATE | MsFlags::MS_REC;
            mount(None::<&str>, "/", None::<&str>, private, None::<&str>).unwrap();
            let none = MsFlags::empty();
            mount(Some("tmpfs"), "/run", Some("tmpfs"), none, None::<&str>).unwrap();
            work()
        });
        thread
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

#[test]
fn iproute2_sees_our_namespaces_and_we_see_its() {
    if !privileged() {
        return;
    }
    with_own_run(|| {
        let (ours, theirs) = (unique_name(), unique_name());
        let made = NetNs::create(&ours).unwrap();
        let Ok(listed) = Command::new("ip").args(["netns", "list"]).output() else {
            return skip("iproute2");
        };
        assert!(String::from_utf8_lossy(&listed.stdout).contains(&ours));
        let added = Command::new("ip").args(["netns", "add", &theirs]).status();
        assert!(added.unwrap().success());
        assert!(NetNs::open(&theirs).unwrap().inode() > 0);
        assert_eq!(NetNs::open(&ours).unwrap().inode(), made.inode());
        // By its first `add` iproute2 has mounted the directory onto itself, over our mount.
        for name in [&ours, &theirs] {
            NetNs::delete(name).unwrap();
            assert!(!NetNs::exists(name));
        }
        let mounts = fs::read_to_string("/proc/thread-self/mountinfo").unwrap();
        assert!(
            !mounts.contains(&ours) && !mounts.contains(&theirs),
            "{mounts}"
        );
        assert!(
            mounts.contains(" /run/netns "),
            "iproute2's own mount is not ours to remove"
        );
    });
}

#[test]
fn a_covered_name_is_deleted_under_all_its_covers() {
    if !privileged() {
        return;
    }
    with_own_run(|| {
        let (deep, other) = (unique_name(), unique_name());
        NetNs::create(&deep).unwrap();
        NetNs::create(&other).unwrap();
        for _ in 0..2 {
            let onto_itself = MsFlags::MS_BIND | MsFlags::MS_REC;
            mount(
                Some(DIRECTORY),
                DIRECTORY,
                None::<&str>,
                onto_itself,
                None::<&str>,
            )
            .unwrap();
        }
        NetNs::delete(&deep).unwrap();
        assert_eq!(NetNs::list().unwrap(), std::slice::from_ref(&other));
        let mounts = fs::read_to_string("/proc/thread-self/mountinfo").unwrap();
        assert!(!mounts.contains(&deep), "{mounts}");
        NetNs::open(&other).unwrap();
        NetNs::delete(&other).unwrap();
        assert_eq!(NetNs::list().unwrap(), Vec::<String>::new());
    });
}

#[test]
fn a_stale_name_is_no_namespace_and_can_be_deleted() {
    if !privileged() {
        return;
    }
    let name = unique_name();
    fs::create_dir_all(DIRECTORY).unwrap();
    // What a process leaves that is killed between making the file and mounting on it.
    fs::write(format!("{DIRECTORY}/{name}"), "").unwrap();
    let opened = NetNs::open(&name);
    let (existed, deleted) = (NetNs::exists(&name), NetNs::delete(&name));
    assert!(existed);
    let error = opened.unwrap_err().to_string();
    assert!(
        error.contains("holds no namespace (a stale name; remove "),
        "{error}"
    );
    deleted.unwrap();
    assert!(!NetNs::exists(&name));
}

#[test]
fn only_the_closures_thread_moves() {
    if !privileged() {
        return;
    }
    let scratch = Scratch::new();
    let here = || fs::read_link("/proc/thread-self/ns/net").unwrap();
    let before = here();
    let inside = scratch.run(here);
    assert_eq!(
        inside.to_str().unwrap(),
        format!("net:[{}]", scratch.0.inode())
    );
    assert_eq!(here(), before);
    // A new namespace holds a loopback link, down, and nothing else.
    let links = scratch.run(|| links::list().unwrap());
    assert_eq!(links.len(), 1);
    assert_eq!((links[0].name.as_str(), links[0].up), ("lo", false));
}

#[test]
#[should_panic(expected = "from inside the namespace")]
fn a_panic_in_a_namespace_reaches_the_caller() {
    if !privileged() {
        panic!("from inside the namespace: not run");
    }
    let scratch = Scratch::new();
    scratch.run(|| panic!("from inside the namespace"));
}

#[test]
fn sysctls_are_those_of_the_threads_namespace() {
    if !privileged() {
        return;
    }
    let scratch = Scratch::new();
    let name = "net.ipv4.ip_forward";
    let host = Setting::sysctl(name).read().unwrap();
    let other = if host == "0" { "1" } else { "0" };
    scratch.run(|| {
        Setting::sysctl(name).write(other).unwrap();
        assert_eq!(Setting::sysctl(name).read().unwrap(), other);
        let error = Setting::sysctl("net.ipv4.conf.mB.forwarding")
            .read()
            .unwrap_err();
        assert!(
            error.to_string().contains(" in netns mpps-linux-"),
            "{error}"
        );
    });
    assert_eq!(Setting::sysctl(name).read().unwrap(), host);
}

#[test]
fn processes_living_in_a_namespace_are_found() {
    if !privileged() {
        return;
    }
    let scratch = Scratch::new();
    assert!(scratch.0.pids().unwrap().is_empty());
    let mut command = Command::new("cat");
    command.stdin(Stdio::piped()).stdout(Stdio::null());
    let mut child = scratch.run(move || command.spawn().unwrap());
    let found = scratch.0.pids();
    // A thread of ours inside does not make us one of its processes.
    let ourselves = scratch.run(|| {
        scratch
            .0
            .pids()
            .unwrap()
            .contains(&(std::process::id() as i32))
    });
    drop(child.stdin.take());
    child.wait().unwrap();
    assert_eq!(found.unwrap(), [i32::try_from(child.id()).unwrap()]);
    assert!(!ourselves);
    assert!(scratch.0.pids().unwrap().is_empty());
}

#[test]
fn a_sysfs_of_a_namespace_changes_no_mount() {
    if !privileged() {
        return;
    }
    let (_c, d) = scratch::joined(1);
    let mounts = || fs::read_to_string("/proc/thread-self/mountinfo").unwrap();
    let before = mounts();
    let (seen, during, address) =
        d.0.with_sysfs(|sys| {
            let mut seen: Vec<_> = fs::read_dir(sys.join("class/net"))
                .unwrap()
                .map(|e| e.unwrap().file_name().into_string().unwrap())
                .collect();
            seen.sort();
            let address = fs::read_to_string(sys.join("class/net/mD/address")).unwrap();
            (seen, mounts(), address)
        })
        .unwrap();
    assert_eq!(seen, ["lo", "mD"]);
    assert_eq!(address.trim(), "02:6d:70:70:00:0d");
    // Other tests make namespaces meanwhile: their names are mounts, ours would be a sysfs.
    let sysfs_mounts = |text: &str| text.matches(" - sysfs ").count();
    assert_eq!(sysfs_mounts(&during), sysfs_mounts(&before));
    assert!(!std::path::Path::new("/sys/class/net/mD").exists());
}

#[test]
fn a_deleted_namespace_frees_its_links() {
    if !privileged() {
        return;
    }
    let (c, d) = scratch::joined(1);
    // The other end goes when the kernel gets to freeing the namespace.
    drop(d);
    wait_for("mC to go with its peer", || {
        c.run(|| !links::exists("mC").unwrap()).then_some(())
    });
}

#[test]
fn a_namespace_is_found_by_its_number() {
    if !privileged() {
        return;
    }
    let scratch = Scratch::new();
    let inode = scratch.0.inode();
    let found = NetNs::find(inode).unwrap().expect("it is there");
    assert_eq!(found.inode(), inode);
    assert_eq!(found.run(|| netns::own_inode().unwrap()).unwrap(), inode);
    assert_ne!(netns::own_inode().unwrap(), inode);
    let own = netns::own_inode().unwrap();
    assert_eq!(NetNs::find(own).unwrap().expect("our own").inode(), own);
    assert!(NetNs::find(1).unwrap().is_none());
    // Its number may be another one's later, its cookie not.
    let cookie = found.run(netns::own_cookie).unwrap();
    let exact = |cookie| NetNs::find_exact(inode, cookie).unwrap().is_some();
    assert!(exact(cookie) && exact(None));
    let others = netns::own_cookie();
    assert_eq!(exact(others), others.is_none());
}

#[test]
fn a_namespace_without_a_name_goes_with_its_handle() {
    if !privileged() {
        return;
    }
    let unnamed = NetNs::anonymous().unwrap();
    let links = unnamed.run(links::list).unwrap().unwrap();
    let names: Vec<&str> = links.iter().map(|link| link.name.as_str()).collect();
    assert_eq!(names, ["lo"]);
    assert_ne!(unnamed.inode(), netns::own_inode().unwrap());
    assert!(!NetNs::exists(unnamed.name()));
}
