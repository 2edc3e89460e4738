//! The program as a person meets it: words in; exit code, stdout and stderr out.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// The program under test.
pub const MPPS: &str = env!("CARGO_BIN_EXE_mpps");

/// How a run ended.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Ended {
    /// The error: the last line of stderr, which has to begin as ours do.
    pub fn error(&self) -> &str {
        let line = self.stderr.lines().last().unwrap_or_default();
        assert!(line.starts_with("mpps: "), "no error line: {self:?}");
        line
    }

    /// Name of the bed the run raised, from its progress.
    pub fn bed(&self) -> &str {
        let line = self
            .stderr
            .lines()
            .find_map(|line| line.strip_prefix("bed: "));
        let bed = line.and_then(|line| line.split(',').next());
        bed.unwrap_or_else(|| panic!("no bed was raised: {self:?}"))
    }
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        let text = |octets: Vec<u8>| String::from_utf8(octets).expect("UTF-8");
        Self {
            code: output.status.code(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }
}

/// The program with these words, wide enough for no line to be cut, nothing on its input.
pub fn mpps(words: &[&str]) -> Command {
    let mut command = Command::new(MPPS);
    command.args(words);
    bare(&mut command);
    command
}

/// The program, hearing Ctrl-C even where the tests run as a background job, whose SIGINT is ignored from the start.
pub fn hearing_ctrl_c(words: &[&str]) -> Command {
    let mut command = Command::new("env");
    command.args(["--default-signal=INT", MPPS]).args(words);
    bare(&mut command);
    command
}

/// A program with the words of a shell's command line, to set the stage before `exec "$MPPS"`.
pub fn staged(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-ec", script]).env("MPPS", MPPS);
    bare(&mut command);
    command
}

fn bare(command: &mut Command) {
    command
        .stdin(Stdio::null())
        .env_remove("COLUMNS")
        .env("XDG_STATE_HOME", state_home());
}

/// Where records go that a test does not name. The build folder may be another user's, where root makes none.
pub fn state_home() -> PathBuf {
    let own = std::fs::metadata("/proc/self").expect("/proc");
    let user = std::os::unix::fs::MetadataExt::uid(&own);
    std::env::temp_dir().join(format!("mpps-cli-state-{user}"))
}

/// Runs to the end.
pub fn run(command: &mut Command) -> Ended {
    command.output().expect("the program starts").into()
}

/// Whether tests that raise beds can run here; says what is needed if not.
pub fn privileged() -> bool {
    let root = std::fs::metadata("/proc/self")
        .is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0);
    if !root {
        println!("SKIP: needs root");
    }
    root
}

/// Whether this program is in PATH; says that it is needed if not.
pub fn has(program: &str) -> bool {
    let looked = ["-c", &format!("command -v {program}")];
    let is_there = run(Command::new("sh").args(looked)).code == Some(0);
    if !is_there {
        println!("SKIP: needs {program}");
    }
    is_there
}

/// Asserts that nothing of a bed is left: no namespace, no journal.
pub fn assert_gone(bed: &str) {
    for end in ["out", "dut", "in"] {
        let netns = format!("/run/netns/mpps-{bed}-{end}");
        assert!(!Path::new(&netns).exists(), "{netns} was left behind");
    }
    let journal = Path::new("/run/mpps").join(bed);
    assert!(!journal.exists(), "{} was left behind", journal.display());
}

/// A folder for one test, removed at its end even when it panics.
pub struct Scratch(PathBuf);

impl Scratch {
    /// A folder that everybody may enter.
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("mpps-cli-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).expect("make folder");
        for_everybody(&path);
        Self(path)
    }

    /// The program in it, as anybody may run it. The build folder need not be open to others.
    pub fn program(&self) -> PathBuf {
        let copy = self.path("mpps");
        std::fs::copy(MPPS, &copy).expect("copy the program");
        for_everybody(&copy);
        copy
    }

    /// A script in it that may be run.
    pub fn script(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, text).expect("write");
        for_everybody(&path);
        path
    }

    /// A set-up script that gives every frame that the router forwards to a rule of nft.
    pub fn forward_rule(&self, rule: &str) -> PathBuf {
        let text = format!(
            "#!/bin/sh\nset -e\nnft add table ip planted\n\
             nft 'add chain ip planted forward {{ type filter hook forward priority 0; }}'\n\
             nft add rule ip planted forward {rule}\n"
        );
        self.script("set-up.sh", &text)
    }

    /// A file or folder in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

/// Whatever the umask.
fn for_everybody(path: &Path) {
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(path, open).expect("set permissions");
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let removed = std::fs::remove_dir_all(&self.0);
        if !std::thread::panicking() {
            removed.expect("remove folder");
        }
    }
}

/// Asks again and again until there is an answer; fails the test after 30 seconds.
pub fn wait_for<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(Instant::now() < deadline, "waited 30 s for {what}");
        std::thread::yield_now();
    }
}
