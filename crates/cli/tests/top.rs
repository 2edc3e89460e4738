//! `mpps top` on a terminal: however it ends, the terminal is as it was.

use crate::program::{MPPS, wait_for};
use nix::sys::termios::{InputFlags, LocalFlags, Termios, tcgetattr};
use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, Command, ExitStatus};

/// To the second screen, and back.
const SCREENS: [&str; 2] = ["\x1b[?1049h", "\x1b[?1049l"];

/// A terminal of which `mpps top` is the first program, and what that wrote.
struct Terminal {
    master: File,
    before: Termios,
    top: Child,
    text: String,
}

impl Terminal {
    /// Once the first picture is there.
    fn with_top() -> Self {
        let both = nix::pty::openpty(None, None).expect("a pseudo-terminal");
        // The copy is closed in programs started later, or they would keep the terminal open.
        let master = File::from(both.master.try_clone().expect("a file"));
        drop(both.master);
        let before = tcgetattr(&both.slave).expect("its settings");
        let end = || File::from(both.slave.try_clone().expect("a file"));
        // Tests may run as a background job, whose SIGINT is ignored from the start.
        let words = ["--ctty", "env", "--default-signal", MPPS, "top"];
        let top = Command::new("setsid")
            .args(words)
            .stdin(end())
            .stdout(end())
            .stderr(end())
            .spawn();
        let mut terminal = Self {
            master,
            before,
            top: top.expect("util-linux and coreutils"),
            text: String::new(),
        };
        drop(both.slave);
        terminal.read_until("q quit");
        assert!(terminal.text.contains(SCREENS[0]), "{:?}", terminal.text);
        let taken = tcgetattr(&terminal.master).expect("its settings");
        let shows = LocalFlags::ICANON | LocalFlags::ECHO | LocalFlags::ISIG;
        assert!(!taken.local_flags.intersects(shows), "{taken:?}");
        assert!(!taken.input_flags.contains(InputFlags::IXON), "{taken:?}");
        terminal
    }

    /// Or to the end, after which a read fails.
    fn read_until(&mut self, wanted: &str) {
        let mut octets = [0; 4096];
        while !self.text.contains(wanted) {
            match self.master.read(&mut octets) {
                Ok(count) => self.text += &String::from_utf8_lossy(&octets[..count]),
                Err(_) => return,
            }
        }
    }

    fn ended(top: &mut Child) -> ExitStatus {
        wait_for("the end of top", || top.try_wait().expect("a child"))
    }
}

#[test]
fn keys_and_signals_give_the_terminal_back() {
    for stop in ["\x03", "q", "TERM", "INT", "QUIT"] {
        let mut terminal = Terminal::with_top();
        match stop.len() {
            1 => terminal.master.write_all(stop.as_bytes()).expect("a key"),
            _ => {
                let pid = terminal.top.id().to_string();
                let sent = Command::new("kill").args(["-s", stop, &pid]).status();
                assert!(sent.expect("procps").success());
            }
        }
        let status = Terminal::ended(&mut terminal.top);
        assert_eq!(status.code(), Some(0), "{stop:?}: {status}");
        let after = tcgetattr(&terminal.master).expect("its settings");
        assert_eq!(after, terminal.before, "{stop:?}");
        terminal.read_until("more than it wrote");
        let text = terminal.text.trim_end();
        assert!(text.ends_with(SCREENS[1]), "{stop:?}: {text:?}");
    }
}

#[test]
fn a_key_tells_the_keys() {
    for key in [b"?", b"h"] {
        let mut terminal = Terminal::with_top();
        terminal.master.write_all(key).expect("a key");
        terminal.read_until("+ double interval");
        terminal.master.write_all(b"q").expect("a key");
        assert!(Terminal::ended(&mut terminal.top).success());
    }
}

#[test]
fn a_closed_terminal_ends_top() {
    let Terminal {
        master, mut top, ..
    } = Terminal::with_top();
    drop(master);
    let status = Terminal::ended(&mut top);
    assert!(status.code().is_some(), "{status}");
}
