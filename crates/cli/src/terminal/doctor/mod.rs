//! What this machine has and lacks, for each job.

mod document;
mod nics;

pub use document::doctor_json;

use mpps_lab::doctor::{Check, Examination, JobState, Outlook, State, Subject};
use mpps_record::facts::{Facts, Reading};
use std::fmt::Write;

/// The machine, the jobs, every check, then what each lack costs and what to do.
#[must_use]
pub fn doctor(examination: &Examination) -> String {
    let mut text = machine(&examination.facts);
    jobs(&mut text, &examination.outlooks());
    checks(&mut text, &examination.checks);
    if examination
        .check(Subject::RIGHTS)
        .is_some_and(|rights| rights.state == State::Lacks)
    {
        text.push_str("  (run it as root to try the rest)\n");
    }
    text.push_str(&nics::nics(&examination.nics));
    advice(&mut text, examination);
    text
}

fn machine(facts: &Facts) -> String {
    let or_why = |reading: &Reading<String>| match reading {
        Reading::Known(text) => text.clone(),
        Reading::Unreadable { unreadable } => format!("({unreadable})"),
    };
    let mut text = or_why(&facts.cpu_model);
    if let Some(cpus) = facts.cpus_online.known() {
        let _ = write!(text, ", {cpus} CPUs");
    }
    if let Some(octets) = facts.memory.total_octets.known() {
        let _ = write!(text, ", {:.1} GiB", *octets as f64 / f64::from(1 << 30));
    }
    let _ = write!(text, ", Linux {}", or_why(&facts.kernel_release));
    if let Some(name) = facts.platform.hypervisor.known() {
        let _ = write!(text, ", a guest of {}", hypervisor(name));
    }
    text.push('\n');
    text
}

/// What the signatures that hypervisors give themselves (CPUID leaf 0x40000000) stand for.
fn hypervisor(signature: &str) -> &str {
    match signature.trim() {
        "KVMKVMKVM" => "KVM",
        "TCGTCGTCGTCG" => "QEMU without KVM",
        "Microsoft Hv" => "Hyper-V",
        "VMwareVMware" => "VMware",
        "XenVMMXenVMM" => "Xen",
        other => other,
    }
}

fn jobs(text: &mut String, outlooks: &[Outlook]) {
    text.push_str("\nJobs\n");
    let width = outlooks
        .iter()
        .map(|one| one.job.command.len())
        .max()
        .unwrap_or(0);
    for outlook in outlooks {
        let state = match outlook.state {
            JobState::CanRun => "can run",
            JobState::Cannot => "cannot",
            JobState::Unknown => "not known",
        };
        let mut line = format!("  {:<width$}  {state:<9}", outlook.job.command);
        let why = match outlook.state {
            JobState::CanRun if outlook.costs.is_empty() => String::new(),
            JobState::CanRun => format!("  at a cost: {}", names(&outlook.costs)),
            JobState::Cannot => format!("  without {}", names(&outlook.lacks)),
            JobState::Unknown => format!("  until these are: {}", names(&outlook.lacks)),
        };
        line.push_str(&why);
        let _ = writeln!(text, "{}", line.trim_end());
    }
}

fn names(subjects: &[Subject]) -> String {
    let names: Vec<&str> = subjects.iter().map(|subject| subject.name).collect();
    names.join(", ")
}

fn checks(text: &mut String, checks: &[Check]) {
    text.push_str("\nChecks\n");
    let width = checks
        .iter()
        .map(|check| check.subject.name.len())
        .max()
        .unwrap_or(0);
    for check in checks {
        let (state, name) = (check.state.name(), check.subject.name);
        let _ = writeln!(text, "  {state:<7}  {name:<width$}  {}", check.seen);
    }
}

/// Only of what some job wants: nobody has to have everything.
fn advice(text: &mut String, examination: &Examination) {
    let wanting = |subject: Subject| -> Vec<&str> {
        let outlooks = examination.outlooks();
        outlooks
            .iter()
            .filter(|one| one.lacks.contains(&subject) || one.costs.contains(&subject))
            .map(|one| one.job.command)
            .collect()
    };
    let poor = examination
        .checks
        .iter()
        .filter(|check| matches!(check.state, State::Costs | State::Lacks));
    let mut head = "\nCosts and remedies\n";
    for check in poor {
        let jobs = wanting(check.subject);
        if jobs.is_empty() {
            continue;
        }
        text.push_str(std::mem::take(&mut head));
        let subject = check.subject;
        let _ = writeln!(
            text,
            "- {}: {}\n    cost: {}\n    do:   {}",
            subject.name, check.seen, subject.cost, subject.remedy
        );
    }
}
