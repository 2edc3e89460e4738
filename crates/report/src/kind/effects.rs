//! Effects of `mpps tune measure`.

use super::{Shown, dash};
use crate::chart::Chart;
use crate::gauges::{Gauges, Labels, NS, framed, with};
use crate::plots;
use crate::profile_change::of_setting;
use crate::table::Table;
use mpps_record::{
    EffectsLine, Finding, Interaction, Interval, Plan, Run, SettingEffect, Together,
};

impl Shown for Vec<EffectsLine> {
    fn purpose(&self, _: &Plan) -> Option<String> {
        Some("By how much each setting changes what a frame costs.".to_owned())
    }

    fn sentences(&self) -> Vec<String> {
        let each = self.iter().flat_map(|line| {
            let found = line.effects.iter().filter(|effect| line.is_found(effect));
            let found = found.map(|effect| format!("{}: {}", effect.title(), line.finding(effect)));
            let pairs = line.interactions().map(Interaction::sentence);
            let found: Vec<String> = found
                .chain(line.together.as_ref().map(Together::sentence))
                .chain(pairs)
                .collect();
            match found.is_empty() {
                true => vec![none_found(line)],
                false => found,
            }
        });
        each.collect()
    }

    fn table(&self) -> Table {
        let columns = "setting;from;to;with;ns more a frame;low;high;pairs;finding;by stage";
        Table::new(columns, self.iter().flat_map(rows))
    }

    fn charts(&self, _: &Run) -> Vec<Option<Chart>> {
        self.iter().map(plots::effects).collect()
    }

    fn gauges(&self, gauges: &mut Gauges, labels: &Labels<'_>, _: &Run) {
        let change = (
            "mpps_setting_cost_change_seconds",
            "CPU time that a frame takes more at the second level of a setting than at the first.",
        );
        for line in self {
            let labels = &framed(labels, &line.frame);
            for effect in &line.effects {
                let more: Labels<'_> = vec![
                    ("setting", &effect.setting),
                    ("from", &effect.from),
                    ("to", &effect.to),
                ];
                let difference = effect.difference.as_ref();
                let cost = difference.and_then(|difference| difference.cost_ns);
                gauges.add_interval(change, &with(labels, &more), cost, NS);
            }
        }
    }
}

/// `no setting was found to act: 1 without a difference, 2 that nobody can tell`.
fn none_found(line: &EffectsLine) -> String {
    let measured = || (line.effects.iter()).filter(|one| !one.placebo && one.difference.is_some());
    let is_alike = |one: &&SettingEffect| {
        let finding = one.difference.as_ref().map(|found| &found.finding);
        finding == Some(&Finding::NoDifference) && line.can_tell(one)
    };
    let (all, alike) = (measured().count(), measured().filter(is_alike).count());
    let unknown = all - alike;
    format!(
        "no setting was found to act: {alike} without a difference, {unknown} that nobody can tell"
    )
}

fn rows(line: &EffectsLine) -> impl Iterator<Item = Vec<String>> {
    line.effects.iter().map(|effect| {
        let difference = effect.difference.as_ref();
        let cost = difference.and_then(|difference| difference.cost_ns);
        let ns = |end: fn(Interval<f64>) -> f64| {
            cost.map_or_else(dash, |cost| format!("{:.0}", end(cost)))
        };
        let pairs = difference.and_then(|difference| difference.pairs);
        vec![
            effect.setting.clone(),
            effect.from.clone(),
            effect.to.clone(),
            effect.with.clone().unwrap_or_else(dash),
            ns(|cost| cost.median),
            ns(|cost| cost.low),
            ns(|cost| cost.high),
            pairs.map_or_else(dash, |pairs| pairs.counted.to_string()),
            line.finding(effect),
            of_setting(effect).unwrap_or_else(dash),
        ]
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_record::Difference;

    #[test]
    fn a_run_that_finds_no_effect_has_an_answer() {
        let interval = Interval {
            low: -0.01,
            median: 0.0,
            high: 0.01,
        };
        let effect = |setting: &str, finding| SettingEffect {
            setting: setting.to_owned(),
            placebo: setting == "placebo",
            difference: Some(Difference {
                finding,
                rate_change: Some(interval),
                ..Difference::default()
            }),
            ..SettingEffect::default()
        };
        let line = EffectsLine {
            effects: vec![
                effect("gro", Finding::NoDifference),
                effect("netdev_budget", Finding::NotDecided),
                effect("placebo", Finding::NoDifference),
            ],
            ..EffectsLine::default()
        };
        let told = "no setting was found to act: 1 without a difference, 1 that nobody can tell";
        assert_eq!(vec![line].sentences(), [told]);
    }
}
