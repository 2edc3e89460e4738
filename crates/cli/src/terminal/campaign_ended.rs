//! What is said of a campaign when it has just ended.

use super::columns::columns;
use super::wrap::prose;
use mpps_report::campaign::CampaignRun;
use mpps_report::cell::State;
use mpps_report::verdict::Judged;

/// What a campaign that has just ended came to; the rest is in its record.
pub fn campaign_ended(campaign: &CampaignRun<'_>) -> String {
    let failed = campaign.cells.iter().filter_map(|cell| {
        let why = cell.failure()?;
        let word = match cell.state() {
            State::NotRun => "not run",
            State::Undecided => "undecided",
            State::Measured | State::Failed => "failed",
        };
        Some([word.to_owned(), format!("{}: {why}", cell.line.cell)])
    });
    let told = |judged: &Judged<'_>| {
        let (verdict, id) = (judged.verdict.to_string(), &judged.claim.id);
        [verdict, format!("{id}: {}", judged.reason())]
    };
    let counted = campaign.counted_claims();
    let counted = counted.map(|counted| format!("\n{counted}\n"));
    let text = format!(
        "{}\n{}{}{}",
        campaign.counted(),
        columns(failed, &[0, 1]),
        counted.unwrap_or_default(),
        columns(campaign.claims().iter().map(told), &[0, 1])
    );
    prose(&text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_record::{Run, read_file};
    use std::path::Path;

    #[test]
    fn what_ended_fits_a_terminal_and_names_each_claim() {
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../record/tests/golden");
        let records = read_file(&golden.join("campaign.jsonl")).expect("a record");
        assert_eq!(records.problems, []);
        let all: Vec<&Run> = records.runs.iter().collect();
        let campaigns = CampaignRun::each(&all);
        let [campaign] = &campaigns[..] else {
            panic!("one campaign");
        };
        let text = campaign_ended(campaign);
        for line in text.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
        for wanted in [
            "5 of 9 cells measured, 1 undecided, 2 not run, 1 not reached\n",
            "not run    6.1.5: needs two sockets\n",
            "undecided  6.1.4: nothing was measured: all trials were void\n",
            "\nholds here                 rate-not-bandwidth: 93.1 % of the greatest",
            "\ndoes not hold here         nat: -45.9 % frames/s",
            "\ncannot tell                irq-piled: nothing was measured",
            "\ntrue by construction here  overload-free: ",
        ] {
            assert!(text.contains(wanted), "{wanted}: {text}");
        }
    }
}
