//! Whether the points of a frame size were measured at one CPU distance: a curve through two of them is none of the router's.

use crate::doubt::{Doubt, Weight};
use mpps_method::distance::is_same_distance;
use mpps_record::PointLine;
use std::collections::BTreeMap;

/// The kinds of cost that a point has. Each makes a curve of its own.
const KINDS: [&str; 2] = ["at overload", "at one load"];

/// The CPU distance, ns, of the first point that knows one, by frame size and kind of cost.
#[derive(Debug, Default)]
pub(super) struct Distances(BTreeMap<(String, &'static str), f64>);

impl Distances {
    /// Doubts a point that was measured at another distance than the first one.
    pub(super) fn doubt(&mut self, line: &PointLine, overload_ns: Option<f64>) -> Option<Doubt> {
        let frame = line.frame.clone().unwrap_or_default();
        let at_load = line.at_load.as_ref().and_then(|at| at.cpu_distance_ns);
        let each = KINDS.into_iter().zip([overload_ns, at_load]);
        let apart = each.filter_map(|(kind, found)| {
            let found = found?;
            let first = *self.0.entry((frame.clone(), kind)).or_insert(found);
            let is_apart = !is_same_distance(first, found);
            is_apart.then(|| format!("{found:.0} ns {kind}, {first:.0} ns at the first point"))
        });
        let apart: Vec<String> = apart.collect();
        (!apart.is_empty()).then(|| Doubt {
            name: "points-apart",
            weight: Weight::Shifted(0),
            seen: format!("the CPU distance was {}", apart.join("; ")),
            why: "A frame costs more where the CPUs are further apart. The points do not make one curve.",
            next: "Compare points of one distance only, or run again on CPUs that keep their place.",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpps_record::AtLoad;

    #[test]
    fn a_point_at_another_distance_is_doubted() {
        let mut distances = Distances::default();
        let mut seen = |frame: &str, overload_ns, at_load_ns| {
            let line = PointLine {
                frame: Some(frame.to_owned()),
                at_load: Some(AtLoad {
                    cpu_distance_ns: at_load_ns,
                    ..AtLoad::default()
                }),
                ..PointLine::default()
            };
            distances.doubt(&line, overload_ns).map(|doubt| doubt.seen)
        };
        assert_eq!(seen("64", Some(60.0), None), None);
        assert_eq!(seen("1518", Some(340.0), Some(60.0)), None, "another size");
        assert_eq!(
            seen("64", Some(80.0), Some(330.0)),
            None,
            "the first at one load"
        );
        assert_eq!(seen("64", None, Some(340.0)), None);
        let overload = "the CPU distance was 340 ns at overload, 60 ns at the first point";
        assert_eq!(seen("64", Some(340.0), None).as_deref(), Some(overload));
        let both = "the CPU distance was 340 ns at overload, 60 ns at the first point; 60 ns at one load, 330 ns at the \
            first point";
        assert_eq!(seen("64", Some(340.0), Some(60.0)).as_deref(), Some(both));
    }
}
