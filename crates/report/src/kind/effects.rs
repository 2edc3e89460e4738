//! Effects of `mpps tune measure`.

use super::{Shown, dash};
use crate::chart::Chart;
use crate::gauges::{Gauges, Labels, NS, framed, with};
use crate::plots;
use crate::profile_change::of_setting;
use crate::table::Table;
use mpps_record::{EffectsLine, Interaction, Interval, Run, Together};

impl Shown for Vec<EffectsLine> {
    fn sentences(&self) -> Vec<String> {
        let each = self.iter().flat_map(|line| {
            let found = line.effects.iter().filter(|effect| line.is_found(effect));
            let found = found.map(|effect| format!("{}: {}", effect.title(), line.finding(effect)));
            let pairs = line.interactions().map(Interaction::sentence);
            found
                .chain(line.together.as_ref().map(Together::sentence))
                .chain(pairs)
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
