//! Root's tool harms nobody and loses no result: modes, owners, shared records, lost output, signals.

use crate::program::{Ended, MPPS, Scratch, mpps, privileged, run, staged};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::process::{Command, Stdio};

/// A router that needs no bed, measured in well under a second.
const SIMULATED: &str = "--simulate capacity=1M --frame 64 --time 0.1";

/// A shell's command line in a /run, a network and a home of its own.
fn in_own_run(script: &str) -> Command {
    let stage = "exec unshare --net --mount --propagation private sh -ec '
        mount -t tmpfs tmpfs /run; mount -t tmpfs tmpfs ~root; cd /run; eval \"$SCRIPT\"'";
    let mut command = staged(stage);
    command.env("SCRIPT", script).env("SIMULATED", SIMULATED);
    command
}

fn refused(ended: &Ended, code: i32, wanted: &str) {
    assert_eq!(ended.code, Some(code), "{ended:?}");
    assert!(ended.error().contains(wanted), "{wanted}: {ended:?}");
}

#[test]
fn a_full_standard_output_is_an_error() {
    let scratch = Scratch::new("stdout");
    let list = scratch.path("list");
    std::fs::write(&list, "20.0.0.0/8\n20.1.0.0/16\n").expect("list");
    let list = list.to_str().expect("UTF-8");
    let json = format!("throughput --quiet --json {SIMULATED}");
    for words in [
        format!("table read --list {list}"),
        format!("table read --json {list}"),
        "limits".to_owned(),
        "--help".to_owned(),
        "completions bash".to_owned(),
        json,
    ] {
        let full = std::fs::File::create("/dev/full").expect("/dev/full");
        let words: Vec<&str> = words.split(' ').collect();
        let mut child = mpps(&words);
        let child = child.stdout(full).stderr(Stdio::piped()).spawn();
        let ended = child
            .expect("start")
            .wait_with_output()
            .expect("end")
            .into();
        refused(&ended, 2, "write standard output: No space left");
        assert_eq!(ended.stderr.lines().count(), 1, "{ended:?}");
    }
    // A reader who has enough is no error.
    let script = format!("{{ \"$MPPS\" table read --list {list}; echo $? >&2; }} | true");
    let ended = run(&mut staged(&script));
    assert_eq!(ended.stderr, "0\n");
}

#[test]
fn an_argument_that_is_not_utf8_is_refused() {
    let mut command = Command::new(MPPS);
    command.args(["bed", "up"]).arg(OsStr::from_bytes(b"\xff"));
    refused(&run(&mut command), 2, "invalid UTF-8");
}

#[test]
fn a_record_harms_no_other_file() {
    let scratch = Scratch::new("records");
    let simulate = |name: &str| {
        let words = format!("throughput --quiet {SIMULATED} --record");
        let words: Vec<&str> = words.split(' ').collect();
        run(mpps(&words).arg(scratch.path(name)))
    };
    refused(&simulate("none/x.jsonl"), 2, "make it, or name");
    assert!(!scratch.path("none").exists());
    std::fs::write(scratch.path("notes"), "important").expect("a file");
    refused(&simulate("notes"), 2, "begins with `{`");
    let notes = std::fs::read_to_string(scratch.path("notes"));
    assert_eq!(notes.expect("there"), "important");
    let fifo = Command::new("mkfifo").arg(scratch.path("fifo")).status();
    assert!(fifo.expect("coreutils").success());
    refused(&simulate("fifo"), 2, "it is a FIFO");
    std::fs::write(scratch.path("torn"), "{\"schema\":1").expect("a torn record");
    assert_eq!(simulate("torn").code, Some(0));
    let torn = std::fs::read_to_string(scratch.path("torn")).expect("there");
    let mut lines = torn.lines();
    assert_eq!(lines.next(), Some("{\"schema\":1"));
    for line in lines {
        let line: serde_json::Value = serde_json::from_str(line).expect("a whole line");
        assert_eq!(line["schema"], mpps_record::SCHEMA);
    }
}

/// The write fails then, and the run says so: it is not ended in the middle of a line.
#[test]
fn a_limit_for_files_is_told() {
    let scratch = Scratch::new("limit");
    let record = scratch.path("record.jsonl");
    let script =
        format!("ulimit -f 20; exec \"$MPPS\" throughput {SIMULATED} --record \"$RECORD\"");
    let ended = run(staged(&script).env("RECORD", &record));
    refused(&ended, 2, "File too large");
    let text = std::fs::read_to_string(&record).expect("a record");
    assert!(
        text.ends_with('\n') && text.contains("\"kind\":\"trial\""),
        "{text}"
    );
}

/// A run that fails removes no record that another run has finished meanwhile.
#[test]
fn a_failing_run_removes_no_other_runs_record() {
    if !privileged() {
        return;
    }
    let ended = run(&mut in_own_run(
        "mkfifo begun go
        printf \"echo >/run/begun; read go </run/go; exit 1\\n\" >slow.sh; chmod +x slow.sh
        \"$MPPS\" throughput --quiet --record s.jsonl --dut-setup slow.sh & run=$!
        read begun <begun
        \"$MPPS\" throughput --quiet $SIMULATED --record s.jsonl >/dev/null
        lines=$(wc -l <s.jsonl); echo >go
        wait $run || echo ended $?
        [ $(wc -l <s.jsonl) = $lines ] && tail -1 s.jsonl | grep -o kind...end",
    ));
    assert_eq!(ended.stdout, "ended 2\nkind\":\"end\n", "{ended:?}");
}

#[test]
fn modes_do_not_follow_a_lax_umask() {
    if !privileged() {
        return;
    }
    let ended = run(&mut in_own_run(
        "echo : >setup.sh; chmod +x setup.sh
        for mask in 000 077; do
            umask $mask
            \"$MPPS\" bed up um --dut-setup setup.sh >&2
            stat -c \"%a %n\" mpps mpps/um mpps/um/* netns
            \"$MPPS\" bed down um
        done
        umask 000; unset XDG_STATE_HOME; export HOME=~root
        \"$MPPS\" throughput --quiet $SIMULATED >/dev/null
        \"$MPPS\" throughput --quiet $SIMULATED --record r.jsonl >/dev/null
        stat -c \"%a\" r.jsonl ~/.local/state/mpps ~/.local/state/mpps/records/*",
    ));
    let files = "600 mpps/um/dut-setup.err\n600 mpps/um/dut-setup.json\n\
                 600 mpps/um/dut-setup.out\n600 mpps/um/journal.jsonl\n\
                 600 mpps/um/plan.json\n";
    let beds = format!("755 mpps\n755 mpps/um\n{files}");
    assert_eq!(
        ended.stdout,
        format!("{beds}755 netns\n{beds}700 netns\n644\n755\n644\n"),
        "{ended:?}"
    );
}

/// `sudo -E` keeps a home that is another user's: nothing of root's is made there, and no link followed.
#[test]
fn no_record_goes_into_another_users_home() {
    if !privileged() {
        return;
    }
    let ended = run(&mut in_own_run(
        "mkdir -p home/.local/state/mpps secret; ln -s /run/secret home/.local/state/mpps/records
        chown -hR nobody home; unset XDG_STATE_HOME; export HOME=/run/home
        \"$MPPS\" throughput --quiet $SIMULATED >/dev/null
        ls secret; ls -d ~root/.local/state/mpps/records/*.jsonl | wc -l
        unset HOME; export XDG_STATE_HOME=/run/state; mkdir state
        \"$MPPS\" throughput --quiet $SIMULATED >/dev/null; ls state",
    ));
    assert_eq!(ended.stdout, "1\nmpps\n", "{ended:?}");
    let said =
        "mpps: /run/home/.local/state/mpps/records belongs to another user: the record goes to ";
    assert!(ended.stderr.starts_with(said), "{ended:?}");
    assert_eq!(ended.stderr.lines().count(), 1, "{ended:?}");
}

/// Each line names what helps, and the other beds are listed and put back.
#[test]
fn messages_name_what_helps() {
    if !privileged() {
        return;
    }
    for (script, code, wanted) in [
        (
            "mkdir netns; ip netns add mpps-x-dut 2>/dev/null; \"$MPPS\" bed up x",
            2,
            "and mpps did not make it",
        ),
        (
            "ulimit -n 24; \"$MPPS\" throughput --quiet --record x --frame 64",
            2,
            "(raise `ulimit -n`)",
        ),
        (
            "mount -o remount,ro /run; \"$MPPS\" bed up x",
            2,
            "(mount /run so that it can be written to)",
        ),
        (
            "mkdir mpps; mount -t tmpfs -o nr_inodes=1,mode=755 tmpfs mpps; \"$MPPS\" bed up x",
            2,
            "(free some space in /run)",
        ),
        (
            "mkdir -p mpps/x; echo garbage >mpps/x/journal.jsonl; \"$MPPS\" recover",
            3,
            "see /run/mpps/x/journal.jsonl",
        ),
    ] {
        let script = format!("umask 022; {script}");
        let ended = run(&mut in_own_run(&script));
        refused(&ended, code, wanted);
        for misleading in [
            "run as root",
            "needs root",
            "end what holds it",
            "mpps bed down",
        ] {
            assert!(!ended.stderr.contains(misleading), "{ended:?}");
        }
    }
    let ended = run(&mut in_own_run(
        "\"$MPPS\" bed up x >&2; touch mpps/FILE; \"$MPPS\" bed list; \"$MPPS\" bed down x",
    ));
    assert_eq!(
        (ended.code, ended.stdout.lines().count()),
        (Some(0), 1),
        "{ended:?}"
    );
    assert!(ended.stdout.starts_with("x "), "{ended:?}");
}

/// An error on its way up drops the bed. That the bed could not be put back is told all the same.
#[test]
fn a_bed_left_by_an_early_error_is_exit_code_3() {
    if !privileged() {
        return;
    }
    let ended = run(&mut in_own_run(
        "echo 20.0.0.0/8 >list
        printf \"ip link set mC down\\necho garbage >>/run/mpps/\\$MPPS_BED/journal.jsonl\\n\" >setup.sh; chmod +x setup.sh
        code=0; \"$MPPS\" throughput --quiet --record x --table list --dut-setup setup.sh || code=$?
        for netns in netns/*; do ip netns delete ${netns#netns/}; done; exit $code",
    ));
    refused(&ended, 3, "was not taken down completely");
    assert_eq!(ended.stderr.lines().count(), 2, "{ended:?}");
}

#[test]
fn signals_of_limits_leave_no_bed() {
    if !privileged() {
        return;
    }
    for signal in ["QUIT", "ALRM", "XCPU"] {
        let script = format!(
            "mkfifo begun; printf \"echo >/run/begun; exec tail -f /dev/null\\n\" >slow.sh; chmod +x slow.sh
            env --default-signal=QUIT \"$MPPS\" bed up x --dut-setup slow.sh & run=$!
            read begun <begun; kill -{signal} $run; wait $run || echo ended $?; ls netns mpps"
        );
        let ended = run(&mut in_own_run(&script));
        assert_eq!(ended.stdout, "ended 130\n", "{signal}: {ended:?}");
    }
}

/// Samplers and programs go with the process, and recovery lowers both beds.
#[test]
fn a_profile_that_is_killed_leaves_no_bed() {
    if !privileged() {
        return;
    }
    let ended = run(&mut in_own_run(
        "trap 'kill -9 $run 2>/dev/null' EXIT
        \"$MPPS\" explain --time 0.2 --record r.jsonl --against --burn=250 & run=$!
        until grep -q kind...trial r.jsonl 2>/dev/null; do sleep 0.1; kill -0 $run; done
        kill -9 $run; wait $run || echo ended $?; ls mpps | wc -l
        \"$MPPS\" recover | grep -c 'restored (3 namespaces'; ls netns mpps",
    ));
    // Nothing is listed.
    assert_eq!(ended.stdout, "ended 137\n2\n2\n", "{ended:?}");
}
