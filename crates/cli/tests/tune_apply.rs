//! `mpps tune apply`, `confirm` and `revert`, as typed, in namespaces of their own.

use crate::program::{Ended, Scratch, mpps, privileged, run, wait_for};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Settings of a namespace alone: nothing of the machine itself can change.
const ONLY: &str = "ip_forward,ip_early_demux";

/// A namespace, removed at the end even when the test panics.
struct Netns(String);

impl Netns {
    fn new(test: &str) -> Self {
        let name = format!("tune-{test}-{}", std::process::id());
        let added = Command::new("ip").args(["netns", "add", &name]).status();
        assert!(added.expect("iproute2").success());
        Self(name)
    }

    /// Runs mpps within it, as its own.
    fn inside(&self, words: &[&str]) -> Ended {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.0]);
        run(command.arg(env!("CARGO_BIN_EXE_mpps")).args(words))
    }

    fn values(&self) -> String {
        let mut cat = Command::new("ip");
        cat.args(["netns", "exec", &self.0, "cat"]);
        let files = ["ip_forward", "ip_early_demux", "conf/lo/forwarding"];
        cat.args(files.map(|file| format!("/proc/sys/net/ipv4/{file}")));
        let output = cat.output().expect("iproute2").stdout;
        String::from_utf8(output).expect("text").replace('\n', " ")
    }

    /// Folders of settings applied in it.
    fn journal(&self) -> Option<String> {
        let inside = ["netns", "exec", &self.0, "readlink", "/proc/self/ns/net"];
        let output = Command::new("ip").args(inside).output().expect("iproute2");
        let text = String::from_utf8(output.stdout).expect("text");
        let number = text
            .trim()
            .trim_start_matches("net:[")
            .trim_end_matches(']');
        let name = format!("tune_{number}");
        Path::new("/run/mpps").join(&name).exists().then_some(name)
    }

    /// Number of the process that waits for a confirmation: the second that the journal names.
    fn helper(&self) -> i64 {
        let name = self.journal().expect("a journal");
        let text = std::fs::read_to_string(format!("/run/mpps/{name}/journal.jsonl"));
        let text = text.expect("a journal");
        let mut runs = text
            .lines()
            .filter(|line| line.contains("\"entry\":\"run\""));
        let run = runs.nth(1).expect("a helper");
        let run: serde_json::Value = serde_json::from_str(run).expect("JSON");
        run["pid"].as_i64().expect("a number")
    }
}

/// Whether a process runs: one that has ended and that nobody has asked for has no command line.
fn works(process: i64) -> bool {
    std::fs::read(format!("/proc/{process}/cmdline")).is_ok_and(|line| !line.is_empty())
}

impl Drop for Netns {
    fn drop(&mut self) {
        let _reverted = run(&mut mpps(&["tune", "revert", "--netns", &self.0]));
        let _removed = Command::new("ip").args(["netns", "del", &self.0]).status();
    }
}

const BEFORE: &str = "0 1 0 ";
const APPLIED: &str = "1 0 1 ";

fn ok(ended: &Ended) {
    assert_eq!(ended.code, Some(0), "{ended:?}");
}

#[test]
fn without_permission_nothing_is_changed() {
    for words in [
        ["tune", "apply", "--profile", "router"].as_slice(),
        &[
            "tune",
            "apply",
            "--profile",
            "router",
            "--only",
            "ip_forward",
        ],
    ] {
        let refused = run(&mut mpps(words));
        assert_eq!(refused.code, Some(2), "{refused:?}");
        assert!(
            refused.error().contains("--allow-system-changes"),
            "{refused:?}"
        );
        assert_eq!(refused.stderr.lines().count(), 1, "{refused:?}");
    }
    let words = ["tune", "apply", "--profile", "router", "--only", "rpfilter"];
    let unknown = run(&mut mpps(&words));
    assert_eq!(unknown.code, Some(2), "{unknown:?}");
    assert!(unknown.error().contains("near: rp_filter"), "{unknown:?}");
}

/// Nothing that stays is as advised for that alone.
#[test]
fn what_cannot_change_is_not_called_as_advised() {
    if !privileged() {
        return;
    }
    let netns = Netns::new("stays");
    let words = "tune apply --profile router --dry-run --only lro --netns";
    let words: Vec<&str> = words.split(' ').chain([netns.0.as_str()]).collect();
    let dry = run(&mut mpps(&words));
    ok(&dry);
    assert!(dry.stdout.contains("Not changed (1)"), "{dry:?}");
    let end = "\nThere is nothing to change here.\n";
    assert!(dry.stdout.ends_with(end), "{dry:?}");
}

#[test]
fn commands_and_script_do_what_apply_does() {
    if !privileged() {
        return;
    }
    let netns = Netns::new("script");
    let words = [
        "tune",
        "apply",
        "--profile",
        "router",
        "--netns",
        &netns.0,
        "--only",
        ONLY,
    ];
    let with = |flag: &str| run(&mut mpps(&[&words[..], &[flag]].concat()));
    let dry = with("--dry-run");
    ok(&dry);
    let commands: Vec<&str> = dry.stdout.lines().take(2).collect();
    let prefix = format!("ip netns exec {} sysctl -w net.ipv4", netns.0);
    let wanted = [
        format!("{prefix}.ip_forward=1"),
        format!("{prefix}.ip_early_demux=0"),
    ];
    assert_eq!(commands, wanted);
    let script = with("--script");
    ok(&script);
    assert_eq!(netns.values(), BEFORE);
    let scratch = Scratch::new("tune-script");
    let file = scratch.path("settings.sh");
    std::fs::write(&file, &script.stdout).expect("a file");
    let sh = |word: &str| run(Command::new("sh").arg(&file).arg(word));
    ok(&sh("apply"));
    assert_eq!(netns.values(), APPLIED);
    ok(&sh("revert"));
    assert_eq!(netns.values(), BEFORE);
    assert_eq!(sh("again").code, Some(2));

    ok(&run(&mut mpps(&words)));
    assert_eq!(netns.values(), APPLIED);
    let second = run(&mut mpps(&words));
    assert_eq!(second.code, Some(2), "{second:?}");
    let wanted = format!("mpps tune revert --netns {}", netns.0);
    assert!(second.error().contains(&wanted), "{second:?}");
    let reverted = run(&mut mpps(&["tune", "revert", "--netns", &netns.0]));
    ok(&reverted);
    assert_eq!(reverted.stdout, "2 settings put back\n");
    assert_eq!((netns.values().as_str(), netns.journal()), (BEFORE, None));
}

/// One of two at once finds the journal of the other, or finds all as advised already.
#[test]
fn of_two_at_once_one_is_refused() {
    if !privileged() {
        return;
    }
    let netns = Netns::new("two");
    let words = ["tune", "apply", "--profile", "router", "--only", ONLY];
    for _ in 0..5 {
        let start = || {
            let mut command = mpps(&[&words[..], &["--netns", &netns.0]].concat());
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
            command.spawn().expect("the program starts")
        };
        let ended =
            [start(), start()].map(|one| Ended::from(one.wait_with_output().expect("ends")));
        let has_changed = |one: &&Ended| one.code == Some(0) && one.stdout.contains("Changed (2)");
        let is_late = |one: &&Ended| one.code == Some(2) || one.stdout.contains("Changed (0)");
        let counts = (
            ended.iter().filter(has_changed).count(),
            ended.iter().filter(is_late).count(),
        );
        assert_eq!(counts, (1, 1), "{ended:?}");
        assert_eq!(netns.values(), APPLIED);
        ok(&run(&mut mpps(&["tune", "revert", "--netns", &netns.0])));
        assert_eq!((netns.values().as_str(), netns.journal()), (BEFORE, None));
    }
}

#[test]
fn what_nobody_confirms_is_put_back() {
    if !privileged() {
        return;
    }
    let netns = Netns::new("confirm");
    let apply = |within: &str| {
        let words = ["tune", "apply", "--profile", "router", "--only", ONLY];
        let allowed = ["--allow-system-changes", "--confirm-within", within];
        netns.inside(&[&words[..], &allowed].concat())
    };
    let gone = || netns.journal().is_none().then_some(());
    ok(&apply("1"));
    wait_for("the helper", gone);
    assert_eq!(netns.values(), BEFORE);

    // Killed after the first of two changes, it is put back by the helper.
    let mut killed = Command::new("ip");
    killed.args(["netns", "exec", &netns.0, env!("CARGO_BIN_EXE_mpps")]);
    killed.args(["tune", "apply", "--profile", "router", "--only", ONLY]);
    killed.args(["--allow-system-changes", "--confirm-within", "600"]);
    let killed = run(killed.env("MPPS_FAULT_KILL_AT_JOURNAL", "3"));
    assert_eq!(killed.code, None, "{killed:?}");
    wait_for("the helper", gone);
    assert_eq!(netns.values(), BEFORE);

    // Confirmed, it stays: nobody is left who would put it back.
    ok(&apply("600"));
    let helper = netns.helper();
    assert!(works(helper));
    ok(&netns.inside(&["tune", "confirm"]));
    assert!(!works(helper));
    assert_eq!(netns.values(), APPLIED);
    ok(&netns.inside(&["tune", "revert"]));
    assert_eq!(netns.values(), BEFORE);

    // While the helper waits, revert does not.
    ok(&apply("600"));
    assert_eq!(netns.values(), APPLIED);
    ok(&netns.inside(&["tune", "revert"]));
    assert_eq!((netns.values().as_str(), netns.journal()), (BEFORE, None));

    // The helper killed, recovery puts it back.
    ok(&apply("600"));
    let name = netns.journal().expect("a journal");
    let helper = netns.helper().to_string();
    ok(&run(Command::new("kill").args(["-9", &helper])));
    let recovered = wait_for("recovery", || {
        let ended = run(&mut mpps(&["recover"]));
        netns.journal().is_none().then_some(ended)
    });
    assert!(recovered.stdout.contains(&name), "{recovered:?}");
    assert_eq!(netns.values(), BEFORE);
    assert_eq!(netns.inside(&["tune", "confirm"]).code, Some(2));
}

/// A control group of version 2, as a service manager makes for each login. Its processes end with it.
struct Login(PathBuf);

impl Login {
    /// `None` where the kernel has no such groups, or cannot end one at once (before Linux 5.14).
    fn new() -> Option<Self> {
        let roots = ["/sys/fs/cgroup/unified", "/sys/fs/cgroup"];
        let root = roots
            .map(Path::new)
            .into_iter()
            .find(|root| root.join("cgroup.controllers").exists())?;
        let group = root.join(format!("mpps-login-{}", std::process::id()));
        std::fs::create_dir(&group).ok()?;
        let group = Self(group);
        group.0.join("cgroup.kill").exists().then_some(group)
    }

    /// Ends it; nothing of it lives any more.
    fn end(&self) {
        std::fs::write(self.0.join("cgroup.kill"), "1").expect("the group ends");
        let processes = || std::fs::read_to_string(self.0.join("cgroup.procs"));
        wait_for("its processes' end", || {
            processes().expect("processes").is_empty().then_some(())
        });
    }
}

impl Drop for Login {
    fn drop(&mut self) {
        let _ended = std::fs::write(self.0.join("cgroup.kill"), "1");
        wait_for("its end", || std::fs::remove_dir(&self.0).ok());
    }
}

#[test]
fn the_helper_outlives_the_login() {
    if !privileged() {
        return;
    }
    let Some(login) = Login::new() else {
        println!("SKIP: needs control groups of version 2 and Linux 5.14");
        return;
    };
    let netns = Netns::new("login");
    let apply = "tune apply --profile router --allow-system-changes --confirm-within 600 --only";
    let (netns_name, program, group) = (&netns.0, env!("CARGO_BIN_EXE_mpps"), login.0.display());
    // The shell stays in the group until that is ended. `ip netns exec` would hide the control groups.
    let script = format!(
        "echo 0 > {group}/cgroup.procs; nsenter --net=/run/netns/{netns_name} {program} {apply} {ONLY}; exec sleep 600"
    );
    let mut shell = Command::new("sh")
        .stdout(Stdio::null())
        .args(["-c", &script])
        .spawn()
        .expect("sh");
    // Killed before its end, the apply would be put back at once.
    let name = format!("/proc/{}/comm", shell.id());
    let sleeps = || std::fs::read(&name).is_ok_and(|name| name == b"sleep\n");
    wait_for("the end of the apply", || sleeps().then_some(()));
    assert_eq!(netns.values(), APPLIED);
    let helper = netns.helper();
    login.end();
    let ended = shell.wait().expect("it ends");
    assert!(!ended.success() && works(helper), "{ended:?}");
    assert_eq!(netns.values(), APPLIED);
    ok(&netns.inside(&["tune", "revert"]));
    assert_eq!((netns.values().as_str(), works(helper)), (BEFORE, false));
}

/// Files below a folder, by their path there.
fn files(root: &Path) -> Vec<String> {
    let mut find = Command::new("find");
    find.arg(root).args(["-type", "f", "-printf", "%P "]);
    let output = find.output().expect("findutils").stdout;
    let text = String::from_utf8(output).expect("text");
    let mut all: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
    all.sort();
    all
}

#[test]
fn files_are_written_when_settings_are_kept() {
    if !privileged() {
        return;
    }
    let netns = Netns::new("persist");
    let scratch = Scratch::new("tune-persist");
    let root = scratch.path("root");
    std::fs::create_dir(&root).expect("a folder");
    let folder = root.to_str().expect("text");
    let ip = |words: &str| {
        let words = words.split(' ').filter(|word| !word.is_empty());
        ok(&run(Command::new("ip").args(["-n", &netns.0]).args(words)));
    };
    ip("link add p0 numtxqueues 2 type veth peer name p1");
    let only = format!("{ONLY},xps_cpus");
    let words = [
        "tune",
        "apply",
        "--profile",
        "router",
        "--only",
        &only,
        "--interface",
        "p0",
    ];
    let allowed = ["--allow-system-changes", "--persist"];
    let apply = |more: &[&str]| netns.inside(&[&words[..], &allowed, more].concat());
    let below = ["--root", folder];

    // Nothing is written to the machine's own folders for a namespace.
    let refused = apply(&[]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.error().contains("--root DIR"), "{refused:?}");
    let dry = apply(&[&below[..], &["--dry-run"]].concat());
    ok(&dry);
    assert!(
        dry.stdout.contains("\nnet.ipv4.ip_forward = 1\n"),
        "{dry:?}"
    );
    assert!(files(&root).is_empty());

    // Nobody confirms: no file was ever written.
    ok(&apply(&[&below[..], &["--confirm-within", "600"]].concat()));
    assert!(files(&root).is_empty());
    // Killed among the files, all are taken back.
    let mut confirm = Command::new("ip");
    confirm.args([
        "netns",
        "exec",
        &netns.0,
        env!("CARGO_BIN_EXE_mpps"),
        "tune",
        "confirm",
    ]);
    assert_eq!(run(confirm.env("MPPS_FAULT_KILL_AT_FILE", "2")).code, None);
    assert_eq!(files(&root).len(), 2);
    ok(&run(&mut mpps(&["recover"])));
    assert_eq!((files(&root), netns.values().as_str()), (vec![], BEFORE));

    ok(&apply(&[&below[..], &["--no-confirm"]].concat()));
    let all = [
        "etc/mpps/tune.sh",
        "etc/sysctl.d/90-mpps.conf",
        "etc/systemd/system/mpps-tune.service",
        "etc/systemd/system/multi-user.target.d/90-mpps.conf",
    ];
    assert_eq!(files(&root), all);
    let reverted = netns.inside(&["tune", "revert", "--json"]);
    ok(&reverted);
    let json: serde_json::Value = serde_json::from_str(&reverted.stdout).expect("JSON");
    assert_eq!(
        (&json["files"], &json["kept"]),
        (&4.into(), &serde_json::json!([]))
    );
    assert_eq!((files(&root), netns.values().as_str()), (vec![], BEFORE));

    // What a boot does with the files, and their end after it.
    ok(&apply(&[&below[..], &["--no-confirm"]].concat()));
    let journal = netns.journal().expect("a journal");
    let texts = [0, 1].map(|at| std::fs::read_to_string(root.join(all[at])).expect("a file"));
    ok(&netns.inside(&["tune", "revert"]));
    for (name, text) in all.iter().zip(texts) {
        let file = root.join(name);
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        std::fs::write(file, text).expect("a file");
    }
    let mut boot = Command::new("ip");
    boot.args(["netns", "exec", &netns.0, "sh", "-c"]);
    let script = format!("sysctl -qp {folder}/{} && sh {folder}/{}", all[1], all[0]);
    ok(&run(boot.arg(format!(
        "{script} && cat /sys/class/net/p0/queues/tx-0/xps_cpus"
    ))));
    assert_eq!(netns.values(), APPLIED);
    assert!(!Path::new("/run/mpps").join(journal).exists());
    std::fs::write(root.join(all[0]), "mine\n").expect("a file");
    let removed = run(&mut mpps(&[
        "tune",
        "revert",
        "--persisted",
        "--root",
        folder,
    ]));
    ok(&removed);
    assert!(
        removed
            .stdout
            .starts_with("1 file of apply --persist taken back\n"),
        "{removed:?}"
    );
    assert!(
        removed
            .stdout
            .contains("tune.sh stays, because another program"),
        "{removed:?}"
    );
    assert_eq!(
        (files(&root), netns.values().as_str()),
        (vec![all[0].to_owned()], APPLIED)
    );
    std::fs::remove_file(root.join(all[0])).expect("removed");
    let none = run(&mut mpps(&[
        "tune",
        "revert",
        "--persisted",
        "--root",
        folder,
    ]));
    ok(&none);
    let words = "mpps wrote no files for each boot: nothing to remove\n";
    assert_eq!((none.stdout.as_str(), none.stderr.as_str()), (words, ""));
}
