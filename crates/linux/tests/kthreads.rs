//! Kernel threads of NAPI, per-task times. Needs root.

use std::fs;

use crate::scratch::{self, joined, last_cpu, privileged, skip, wait_for};
use mpps_linux::cpu::{self, Class};
use mpps_linux::{ethtool, kernel, napi, procstat, task};

#[test]
fn a_veths_napi_thread_is_pinned_and_real_time() {
    if !privileged() {
        return;
    }
    let (_c, d) = joined(1);
    // A veth has NAPI only with GRO or an XDP program.
    d.run(|| ethtool::set_feature("mD", "rx-gro", true).unwrap());
    let wrote =
        d.0.with_sysfs(|sys| fs::write(sys.join("class/net/mD/threaded"), "1"))
            .unwrap();
    if let Err(error) = wrote {
        skip(&format!("threaded NAPI (Linux 5.12): {error}"));
        return;
    }
    let threads = || match d.run(|| napi::list("mD")) {
        Ok(all) => all
            .iter()
            .filter_map(|napi| napi.thread)
            .collect::<Vec<_>>(),
        // An older kernel: by name, good enough while we are the only ones with this name.
        Err(error) if error.is_missing() && !kernel::release().unwrap().at_least(6, 8) => {
            let named = task::find_kthreads(|name| name.starts_with("napi/mD-")).unwrap();
            named.into_iter().map(|(pid, _)| pid).collect()
        }
        Err(error) => panic!("{error}"),
    };
    let pid = wait_for("the thread of mD", || threads().first().copied());
    let name = task::comm(pid).unwrap();
    let named = task::find_kthreads(|name| name.starts_with("napi/mD-")).unwrap();
    assert!(named.contains(&(pid, name)), "{named:?}");
    let cpus = last_cpu();
    cpu::set_fifo(pid, 60).unwrap();
    cpu::pin_task(pid, &cpus).unwrap();
    assert_eq!(cpu::class(pid).unwrap(), Class::Fifo(60));
    assert_eq!(cpu::affinity(pid).unwrap(), cpus);
    assert!(
        task::schedstat(pid).unwrap().slices > 0,
        "the thread has never run"
    );
}

#[test]
fn napi_instances_are_told_apart_by_namespace() {
    if !privileged() {
        return;
    }
    let (one, two) = (joined(2), joined(1));
    let ids = |side: &scratch::Scratch| {
        side.run(|| {
            ethtool::set_feature("mD", "rx-gro", true).unwrap();
            let all = napi::list("mD")?;
            Ok(all.into_iter().map(|napi| napi.id).collect::<Vec<_>>())
        })
    };
    let (first, second) = match (ids(&one.1), ids(&two.1)) {
        (Ok(first), Ok(second)) => (first, second),
        (Err(error), _) | (_, Err(error)) => {
            let error: mpps_linux::Error = error;
            assert!(
                error.is_missing() && !kernel::release().unwrap().at_least(6, 8),
                "{error}"
            );
            println!("SKIP: needs Linux 6.8: {error}");
            return;
        }
    };
    assert_eq!((first.len(), second.len()), (2, 1), "one a receive queue");
    assert!(second.iter().all(|id| !first.contains(id)));
    // Without GRO and XDP a veth has no NAPI.
    one.1
        .run(|| ethtool::set_feature("mD", "rx-gro", false).unwrap());
    assert_eq!(one.1.run(|| napi::list("mD").unwrap()), []);
    assert!(one.1.run(|| napi::list("mX").unwrap_err()).is_missing());
}

#[test]
fn kernel_threads_are_not_user_tasks_of_the_same_name() {
    if !privileged() {
        return;
    }
    if task::find_kthreads(|_| true).unwrap().is_empty() {
        return skip("the system's own process ids (not a container's)");
    }
    let kthreadd = task::find_kthreads(|name| name == "kthreadd").unwrap();
    assert_eq!(kthreadd, [(2, "kthreadd".to_owned())]);
}

#[test]
fn a_cpu_that_spins_is_busy_in_proc_stat() {
    if !privileged() {
        return;
    }
    let cpus = last_cpu();
    let cpu = cpus.iter().next().unwrap();
    let times = || {
        let all = procstat::cpu_times().unwrap();
        *all.iter().find(|t| t.cpu == cpu).unwrap()
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            cpu::pin_current_thread(&cpus).unwrap();
            let before = times();
            // Asking is the work: this thread spins on its CPU until a tick has noticed.
            wait_for("five ticks of work", || {
                let ticks = times().since(&before).busy_ns() / procstat::tick_ns().unwrap();
                (ticks >= 5).then_some(())
            });
        });
    });
}
