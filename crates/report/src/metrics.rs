//! Results as gauges in OpenMetrics' text format, in base units. Prometheus' older format reads it too.

use crate::campaign::CampaignRun;
use crate::gauges::{Gauges, Labels, reads, with};
use crate::kind::kinds;
use crate::source::Gathered;
use mpps_record::Run;
use std::collections::BTreeMap;

/// The results of all runs.
#[must_use]
pub fn openmetrics(all: &Gathered) -> String {
    let mut gauges = Gauges::default();
    for (file, run) in &all.runs {
        let labels = vec![("record", file.as_str()), ("run", run.name.as_str())];
        run_itself(&mut gauges, &labels, run);
        for lines in kinds(run) {
            lines.gauges(&mut gauges, &labels, run);
        }
    }
    let runs: Vec<&Run> = all.runs.iter().map(|(_, run)| run).collect();
    for campaign in CampaignRun::each(&runs) {
        campaign_gauges(&mut gauges, &campaign);
    }
    gauges.text()
}

/// Verdicts of its claims, and its rates beside the published ones.
fn campaign_gauges(gauges: &mut Gauges, campaign: &CampaignRun<'_>) {
    for judged in campaign.claims() {
        let verdict = judged.verdict.to_string();
        let labels: Labels<'_> = vec![
            ("run", &campaign.run.name),
            ("cell", judged.cell),
            ("claim", &judged.claim.id),
            ("verdict", &verdict),
        ];
        gauges.add(
            "mpps_claim",
            "A published claim; always 1.",
            &labels,
            Some(1.0),
        );
    }
    let ratio = (
        "mpps_rate_by_published_ratio",
        "Maximum forwarding rate here by the published rate; the label reads says whether it is a bound.",
    );
    for cell in &campaign.cells {
        for rate in cell.rates() {
            let labels: Labels<'_> = vec![
                ("run", &campaign.run.name),
                ("cell", &cell.line.cell),
                ("frame", rate.size),
                ("reads", reads(rate.is_bound)),
            ];
            gauges.add_interval(ratio, &labels, rate.by_published(), 1.0);
        }
    }
}

fn run_itself(gauges: &mut Gauges, labels: &Labels<'_>, run: &Run) {
    if let Some(begin) = &run.begin {
        let kernel = begin
            .facts
            .kernel_release
            .known()
            .map_or("", String::as_str);
        let about: Labels<'_> = vec![
            ("job", &begin.job),
            ("version", &begin.tool_version),
            ("begun", &begin.begun_utc),
            ("kernel", kernel),
            ("comparable_with", &begin.comparability.key),
        ];
        gauges.add(
            "mpps_run",
            "A run; always 1.",
            &with(labels, &about),
            Some(1.0),
        );
    }
    let exit = run.end.as_ref().map(|end| f64::from(end.exit_code));
    gauges.add(
        "mpps_run_exit_code",
        "Exit code; none where the run did not end.",
        labels,
        exit,
    );
    let mut verdicts: BTreeMap<&str, f64> = BTreeMap::new();
    for trial in &run.trials {
        *verdicts.entry(trial.verdict.as_str()).or_default() += 1.0;
    }
    for (verdict, count) in verdicts {
        let labels = with(labels, &[("verdict", verdict)]);
        gauges.add("mpps_trials", "Trials by verdict.", &labels, Some(count));
    }
}
