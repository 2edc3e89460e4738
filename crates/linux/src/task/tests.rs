use super::*;

#[test]
fn schedstat_is_three_numbers() {
    assert_eq!(
        parse_schedstat("1234 56 7\n"),
        Some(SchedStat {
            run_ns: 1234,
            wait_ns: 56,
            slices: 7
        })
    );
    assert_eq!(parse_schedstat("1234 56\n"), None);
    assert_eq!(parse_schedstat("a b c"), None);
}

#[test]
fn a_panic_of_a_thread_is_an_error() {
    let ended = |fails: bool| {
        let work = move || {
            assert!(!fails, "planted");
            7
        };
        joined(std::thread::spawn(work).join(), "the planted thread")
    };
    assert_eq!(ended(false), Ok(7));
    let error = ended(true).unwrap_err().to_string();
    assert_eq!(
        error,
        "join the planted thread: it ended by a fault of mpps itself (please report the message above)"
    );
}

#[test]
fn our_own_run_time_grows_while_we_run() {
    let tid = current_tid();
    let before = schedstat(tid).unwrap();
    let deadline = crate::clock::monotonic_ns() + 10_000_000_000;
    // Spinning is the work here: the run time must grow by it.
    while schedstat(tid).unwrap().run_ns <= before.run_ns {
        assert!(
            crate::clock::monotonic_ns() < deadline,
            "run time stands still"
        );
    }
    assert!(before.slices > 0);
}

#[test]
fn blanks_and_parentheses_in_a_name_shift_no_field() {
    let text = "42 (tricky) name (x) S 1 42 42 0 -1 4194560 rest";
    assert_eq!(field_of(text, 3), Some("S"));
    assert_eq!(field_of(text, 9), Some("4194560"));
    assert_eq!(field_of(text, 99), None);
    assert_eq!(field_of(text, 2), None);
}

#[test]
fn we_are_alive_and_started_once() {
    let (pid, started) = (current_pid(), start_time(current_pid()).unwrap());
    assert!(exists(pid) && lives(pid, started));
    assert!(!lives(pid, started + 1));
    assert!(!lives(-1, started) && !exists(0) && !exists(-1));
    assert!(!is_kthread(pid));
}

#[test]
fn no_user_task_passes_for_a_kernel_thread() {
    let me = current_pid();
    let all = find_kthreads(|_| true).unwrap();
    assert!(all.iter().all(|(pid, _)| *pid != me));
    assert!(find_kthreads(|_| false).unwrap().is_empty());
}

#[test]
fn kill_exact_spares_a_process_that_reuses_the_id() {
    let mut child = std::process::Command::new("cat")
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let pid = i32::try_from(child.id()).unwrap();
    let started = start_time(pid).unwrap();
    assert!(!kill_exact(pid, started + 1, Signal::SIGKILL).unwrap());
    assert!(lives(pid, started));
    assert!(kill_exact(pid, started, Signal::SIGKILL).unwrap());
    child.wait().unwrap();
    assert!(!kill_exact(pid, started, Signal::SIGKILL).unwrap());
}

#[test]
fn a_signal_ends_a_blocking_call_of_one_thread() {
    use std::io::Read;
    use std::os::unix::net::UnixStream;

    on_signal_do_nothing(Signal::SIGUSR2).unwrap();
    let (mut reader, _writer) = UnixStream::pair().unwrap();
    let (tell, hear) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(move || {
        tell.send(current_tid()).unwrap();
        // Nobody ever writes: only the signal ends this call.
        reader.read(&mut [0]).map_err(|e| e.kind())
    });
    let tid = hear.recv().unwrap();
    // The first signals may come before the thread blocks.
    while !thread.is_finished() {
        let _ = tgkill(tid, Signal::SIGUSR2);
        std::thread::yield_now();
    }
    assert_eq!(thread.join().unwrap(), Err(std::io::ErrorKind::Interrupted));
}
