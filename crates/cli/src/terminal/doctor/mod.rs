//! What this machine has and lacks, for each job.

mod document;
mod nics;

pub use document::doctor_json;

use super::columns;
use mpps_lab::doctor::{Check, Examination, JobState, Outlook, State, Subject};
use mpps_record::facts::{Facts, Reading};
use std::fmt::Write;

/// The machine, the jobs, every check, then what each lack costs and what to do.
pub fn doctor(examination: &Examination) -> String {
    let mut text = machine(&examination.facts);
    text += &jobs(&examination.outlooks());
    text += &checks(&examination.checks);
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

fn jobs(outlooks: &[Outlook]) -> String {
    let row = |outlook: &Outlook| {
        let (lacks, costs) = (names(&outlook.lacks), names(&outlook.costs));
        let (state, why) = match outlook.state {
            JobState::CanRun if costs.is_empty() => ("can run", String::new()),
            JobState::CanRun => ("can run", format!("at a cost: {costs}")),
            JobState::Cannot => ("cannot", format!("without {lacks}")),
            JobState::Unknown => ("not known", format!("until these are: {lacks}")),
        };
        [format!("  {}", outlook.job.command), state.to_owned(), why]
    };
    format!("\nJobs\n{}", columns(outlooks.iter().map(row), &[0, 1, 2]))
}

fn names(subjects: &[Subject]) -> String {
    let names: Vec<&str> = subjects.iter().map(|subject| subject.name).collect();
    names.join(", ")
}

fn checks(checks: &[Check]) -> String {
    let row = |check: &Check| {
        let (state, name) = (check.state.name(), check.subject.name);
        [format!("  {state}"), name.to_owned(), check.seen.clone()]
    };
    format!("\nChecks\n{}", columns(checks.iter().map(row), &[0, 1, 2]))
}

/// Only of what some job wants: nobody has to have everything.
fn advice(text: &mut String, examination: &Examination) {
    let outlooks = examination.outlooks();
    let is_wanted = |check: &&Check| {
        let subject = &check.subject;
        let wants = |one: &Outlook| one.lacks.contains(subject) || one.costs.contains(subject);
        matches!(check.state, State::Costs | State::Lacks) && outlooks.iter().any(wants)
    };
    for (place, check) in examination.checks.iter().filter(is_wanted).enumerate() {
        if place == 0 {
            text.push_str("\nCosts and remedies\n");
        }
        let subject = check.subject;
        let _ = writeln!(
            text,
            "- {}: {}\n    cost: {}\n    do:   {}",
            subject.name, check.seen, subject.cost, subject.remedy
        );
    }
}
