//! `mpps man` and `mpps completions`: pages that render, completions that the shells take.

use crate::program::{Scratch, mpps, run};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Programs that render man pages, and how they are made to complain.
const RENDERERS: [(&str, &[&str]); 2] = [
    ("groff", &["-man", "-Tutf8", "-ww", "-z", "-rLL=80n"]),
    ("mandoc", &["-T", "lint", "-W", "error"]),
];

/// Those that are installed; says which are not.
fn renderers() -> Vec<(&'static str, &'static [&'static str])> {
    let there = |(program, _): &(&str, &[&str])| {
        let found = Command::new("sh")
            .args(["-c", &format!("command -v {program}")])
            .output();
        let found = found.expect("sh").status.success();
        if !found {
            println!("SKIP: no {program} here");
        }
        found
    };
    RENDERERS.into_iter().filter(there).collect()
}

/// What it has to say about this page.
fn complaints(program: &str, words: &[&str], page: &Path) -> String {
    let input = std::fs::File::open(page).expect("the page");
    let ended = Command::new(program)
        .args(words)
        .stdin(input)
        .output()
        .expect("starts");
    let said = [ended.stdout, ended.stderr].concat();
    String::from_utf8_lossy(&said).into_owned()
}

#[test]
fn every_verb_has_a_man_page_without_warnings() {
    let scratch = Scratch::new("man");
    let folder = scratch.path("deep/man1");
    let ended = run(mpps(&["man"]).arg(&folder));
    assert_eq!(
        (ended.code, ended.stdout.as_str(), ended.stderr.as_str()),
        (Some(0), "", "")
    );
    let help = run(&mut mpps(&["--help"])).stdout;
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let verbs: Vec<&str> = listed
        .take_while(|line| !line.is_empty() && *line != "Options:")
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next())
        .filter(|verb| !verb.is_empty() && *verb != "help")
        .collect();
    assert!(
        verbs.contains(&"throughput") && verbs.len() > 5,
        "{verbs:?}"
    );
    let mut pages: Vec<String> = verbs.iter().map(|verb| format!("mpps-{verb}.1")).collect();
    pages.extend(["mpps.1", "mpps-bed-up.1"].map(str::to_owned));
    let renderers = renderers();
    for page in &pages {
        let path = folder.join(page);
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{page}: {error}"));
        assert!(
            text.contains(".TH ") && text.contains(".SH SYNOPSIS"),
            "{page}"
        );
        for (program, words) in &renderers {
            assert_eq!(complaints(program, words, &path), "", "{program} of {page}");
        }
    }
    let mut names = std::fs::read_dir(&folder).expect("the folder").flatten();
    assert!(
        !names.any(|file| file.file_name().to_string_lossy().contains("-help")),
        "no page of the verb help"
    );
    let throughput = std::fs::read_to_string(folder.join("mpps-throughput.1")).expect("a page");
    assert!(
        throughput.contains("RFC 2544 section 9"),
        "the help stands in it"
    );
    assert!(
        throughput.contains(".SH SYNOPSIS\n\\fBmpps throughput\\fR [OPTIONS]\n"),
        "no flag without its value: {throughput}"
    );
}

#[test]
fn a_folder_that_cannot_be_is_said() {
    let ended = run(&mut mpps(&["man", "/proc/nowhere"]));
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.error().contains("/proc/nowhere"), "{ended:?}");
}

#[test]
fn every_shell_takes_its_completions() {
    for (shell, syntax) in [
        ("bash", "-n"),
        ("zsh", "-n"),
        ("fish", "--no-execute"),
        ("elvish", ""),
        ("powershell", ""),
    ] {
        let ended = run(&mut mpps(&["completions", shell]));
        assert_eq!(
            (ended.code, ended.stderr.as_str()),
            (Some(0), ""),
            "{shell}"
        );
        for word in ["throughput", "doctor", "limits", "recover", "rx-ring"] {
            assert!(ended.stdout.contains(word), "{shell}: {word}");
        }
        if syntax.is_empty() {
            continue;
        }
        let child = Command::new(shell)
            .arg(syntax)
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let Ok(mut child) = child else {
            println!("SKIP: no {shell} here");
            continue;
        };
        let mut input = child.stdin.take().expect("its input");
        input.write_all(ended.stdout.as_bytes()).expect("written");
        drop(input);
        let checked = child.wait_with_output().expect("its end");
        let said = String::from_utf8_lossy(&checked.stderr);
        assert!(
            checked.status.success() && said.is_empty(),
            "{shell}: {said}"
        );
    }
}

#[test]
fn bash_completes_a_verb_and_a_flag() {
    let completions = run(&mut mpps(&["completions", "bash"])).stdout;
    let scratch = Scratch::new("completions");
    let file = scratch.path("mpps.bash");
    std::fs::write(&file, completions).expect("write");
    let complete = |words: &[&str]| {
        let line = words.join(" ");
        let script = format!(
            "source {}; COMP_WORDS=({line}); COMP_CWORD={}; _mpps mpps '{}' '{}'; echo \"${{COMPREPLY[@]}}\"",
            file.display(),
            words.len() - 1,
            words[words.len() - 1],
            words[words.len() - 2],
        );
        let ended = Command::new("bash").args(["-c", &script]).output().ok()?;
        Some(String::from_utf8_lossy(&ended.stdout).trim().to_owned())
    };
    match complete(&["mpps", "thr"]) {
        Some(found) => assert_eq!(found, "throughput"),
        None => return println!("SKIP: no bash here"),
    }
    assert_eq!(
        complete(&["mpps", "throughput", "--rx-r"]).as_deref(),
        Some("--rx-ring")
    );
}
