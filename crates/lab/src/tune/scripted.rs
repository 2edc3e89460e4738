//! A setting of the catalogue as a part of a set-up script, for a bed that does not stand yet.

use super::measurable::{Ground, Unmeasured, check};
use super::place::{level_at, places_at};
use super::toggle::{TAP, commands};
use mpps_linux::setting::Setting;
use mpps_method::tune::Row;

/// What stands for the router's ports: the names that they have in the environment of a set-up script.
pub const PORTS: [&str; 2] = ["MPPS_DUT_IN", "MPPS_DUT_OUT"];

/// What a script does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// It runs this command.
    Run(&'static str),
    /// It writes this value. The interface is one of [`PORTS`].
    Write(Setting, String),
}

/// Refuses a value that no bed can have.
///
/// # Errors
/// What to give.
pub fn check_value(row: &'static Row, value: &str) -> Result<(), String> {
    let levels = row.levels();
    let is_number = |text: &&str| text.parse::<i64>().is_ok();
    if commands(row).or(row.beds()).is_some() {
        return match levels.contains(&value) {
            true => Ok(()),
            false => Err(format!("give {}", levels.join(" or "))),
        };
    }
    let values: Vec<&str> = value.split("; ").collect();
    let places = row.places.len();
    if ![1, places].contains(&values.len()) {
        return Err(match places {
            0 | 1 => "give one value".to_owned(),
            _ => format!("give one value, or {places} set apart by \"; \""),
        });
    }
    let numbers = !levels.is_empty() && levels.iter().all(is_number);
    if numbers && !values.iter().all(is_number) {
        return Err("give a number".to_owned());
    }
    Ok(())
}

/// How the router of such a bed gets a value of a setting, which was checked. Values of several places are set apart by
/// "; ".
///
/// # Errors
/// Why it cannot have it, or why it would not act there.
pub fn steps(row: &'static Row, value: &str, at: &Ground<'_>) -> Result<Vec<Step>, Unmeasured> {
    check(row, at)?;
    if let Some([on, _]) = commands(row) {
        if on == TAP {
            let why = "a script cannot hold a packet socket open: see mpps tune measure";
            return Err(Unmeasured::NotSwitched(why.to_owned()));
        }
        let is_bare = row.levels().first() == Some(&value);
        return Ok(if is_bare {
            Vec::new()
        } else {
            vec![Step::Run(on)]
        });
    }
    let values: Vec<&str> = value.split("; ").collect();
    let places = places_at(row, &PORTS.map(str::to_owned), at.bed);
    let steps = places.iter().map(|place| {
        let value = values.get(place.template).or(values.last());
        Some(Step::Write(place.setting()?, level_at(value?, at.bed)))
    });
    let steps: Option<Vec<Step>> = steps.collect();
    steps.ok_or_else(|| Unmeasured::NotSwitched("is nothing that mpps writes".to_owned()))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::bed::{BedPlan, CpuSplit, DutPlan, Front, Interfaces, RssKey};
    use crate::traffic::{ReceiverPlace, Traffic};
    use mpps_method::tune::named;

    pub(in crate::tune) fn plan() -> BedPlan {
        let cpus = mpps_linux::cpu::available().expect("CPUs");
        BedPlan {
            name: None,
            nic: Front::Cpumap,
            queues: 1,
            rx_ring: 1024,
            rss: RssKey::Default,
            cpus: CpuSplit::choose(&cpus, None, None).expect("CPUs"),
            interfaces: Interfaces::default(),
            filters: None,
            dut_setup: None,
            dut: DutPlan::Kernel,
        }
    }

    fn made_at(id: &str, value: &str, bed: &BedPlan) -> Result<Vec<Step>, Unmeasured> {
        let at = Ground {
            bed,
            traffic: &Traffic::default(),
            receiver: Some(ReceiverPlace::Exit),
            is_named: true,
            allows_machine: false,
        };
        steps(named(id)[0], value, &at)
    }

    fn made(id: &str, value: &str) -> Result<Vec<Step>, Unmeasured> {
        made_at(id, value, &plan())
    }

    #[test]
    fn a_value_goes_to_each_place() {
        let made = made("rp_filter", "1").expect("steps");
        let names = made.iter().map(|step| match step {
            Step::Write(setting, value) => {
                format!("{} {:?} {value}", setting.name, setting.interface)
            }
            Step::Run(command) => (*command).to_owned(),
        });
        let names: Vec<String> = names.collect();
        assert_eq!(names.len(), 4, "{names:?}");
        assert_eq!(
            names[2],
            "net/ipv4/conf/*/rp_filter Some(\"MPPS_DUT_IN\") 1"
        );
    }

    #[test]
    fn what_commands_make_has_two_levels() {
        assert!(made("conntrack", "none").expect("bare").is_empty());
        let [Step::Run(command)] = &made("conntrack", "tracked").expect("made")[..] else {
            panic!("one command");
        };
        assert!(command.starts_with("nft "), "{command}");
        let why = check_value(named("conntrack")[0], "1").expect_err("no level");
        assert_eq!(why, "give none or tracked");
    }

    #[test]
    fn a_value_has_its_count_and_its_kind() {
        let check = |value| check_value(named("rp_filter")[0], value);
        assert_eq!([check("1"), check("0; 1; 2")], [Ok(()), Ok(())]);
        let several = Err("give one value, or 3 set apart by \"; \"".to_owned());
        assert_eq!(check("0; 1; 2; 0"), several);
        assert_eq!(check("strict"), Err("give a number".to_owned()));
    }

    #[test]
    fn cpus_of_the_router_are_a_mask() {
        let mut plan = plan();
        plan.cpus.dut = vec![2, 5];
        let made = made_at("rps_cpus", "{dut}", &plan).expect("steps");
        let mask = plan.cpus.dut_set().mask();
        let is_mask = |step: &Step| matches!(step, Step::Write(_, value) if *value == mask);
        assert!(made.len() >= 2 && made.iter().all(is_mask), "{made:?}");
    }

    #[test]
    fn a_setting_of_cpus_is_at_the_routers() {
        let mut plan = plan();
        plan.cpus.dut = vec![2, 5];
        let files = |id: &str| -> Vec<Option<String>> {
            let places = places_at(named(id)[0], &PORTS.map(str::to_owned), &plan);
            places.iter().map(super::super::Place::file).collect()
        };
        let governor = |cpu| {
            Some(format!(
                "/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor"
            ))
        };
        assert_eq!(files("governor"), [governor(2), governor(5)]);
        assert_eq!((files("smt").len(), files("xps_cpus").len()), (1, 4));
    }

    #[test]
    fn a_setting_of_the_whole_machine_is_refused() {
        let why = made("irq_affinity", "0").expect_err("no NIC");
        assert!(matches!(why, Unmeasured::Inert(_)), "{why:?}");
    }

    /// As of `mpps tune measure --only`.
    #[test]
    fn what_cannot_act_on_such_a_bed_is_refused() {
        for (id, value, said) in [
            ("tcp_early_demux", "1", "needs frames of TCP"),
            ("ip6_proxy_ndp", "1", "needs frames of IPv6"),
            ("root_qdisc", "pfifo_fast", "needs --receiver port"),
            ("ip_forward", "0", "the bed sets it"),
        ] {
            let why = made(id, value).expect_err(id);
            assert_eq!(why, Unmeasured::Inert(said.to_owned()), "{id}");
        }
        let mut plan = plan();
        plan.cpus.dut = vec![2];
        let why = made_at("rps_cpus", "3", &plan).expect_err("one CPU");
        assert!(
            format!("{why:?}").contains("a DUT of several CPUs"),
            "{why:?}"
        );
        let why = made("packet_taps", "one whose filter takes nothing").expect_err("a socket");
        assert!(format!("{why:?}").contains("packet socket"), "{why:?}");
    }
}
