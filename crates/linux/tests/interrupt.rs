//! The wish to stop, in a process of its own because signals are the whole process's.

use mpps_linux::interrupt;
use mpps_linux::task::{self, Signal};

#[test]
fn a_signal_is_remembered_instead_of_ending_us() {
    interrupt::install().unwrap();
    interrupt::install().unwrap();
    interrupt::survive_file_limit().unwrap();
    // To our own thread, so that it is taken before the call returns.
    let send = |which| task::tgkill(task::current_tid(), which).unwrap();
    send(Signal::SIGXFSZ);
    assert!(!interrupt::requested());
    assert_eq!(interrupt::signal(), None);
    // Not SIGINT: where the tests run as a background job it is ignored from the start; so may SIGQUIT be.
    for which in [Signal::SIGTERM, Signal::SIGALRM, Signal::SIGXCPU] {
        send(which);
        assert!(interrupt::requested());
        assert_eq!(interrupt::signal(), Some(which));
    }
}
