//! Who runs where: tester and DUT on CPUs of their own where there are enough.

use super::BedError;
use crate::facts::{self, Root};
use mpps_linux::cpu::CpuSet;
use serde::{Deserialize, Serialize};

/// CPUs of the DUT and of the tester; they overlap only where there is no other way or the user says so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuSplit {
    /// The DUT's CPUs, at least one.
    pub dut: Vec<usize>,
    /// The tester's CPUs, at least one: the first sends, all receive.
    pub tester: Vec<usize>,
}

impl CpuSplit {
    /// Shares the CPUs this process may use, as [`CpuSplit::choose`].
    ///
    /// # Errors
    /// A list that is no list, or names a CPU that is not available.
    pub fn on_this_machine(dut: Option<&str>, tester: Option<&str>) -> Result<Self, BedError> {
        Self::choose(&mpps_linux::cpu::available()?, dut, tester)
    }

    /// Chooses from the CPUs this process may use; the user's lists ("0-3,5") win.
    ///
    /// Without them: one CPU is shared; of two the first tests and the second is the DUT; of more, two
    /// test and one is the DUT, for the result of one core is what compares. Two threads of a core slow each other, so one
    /// thread of each core is chosen from, where there are two cores alike.
    ///
    /// # Errors
    /// A list that is no list, or names a CPU that is not available.
    pub fn choose(
        available: &CpuSet,
        dut: Option<&str>,
        tester: Option<&str>,
    ) -> Result<Self, BedError> {
        let cores = facts::cores_alike(&Root::here(), available);
        Self::among(available, &cores, dut, tester)
    }

    fn among(
        available: &CpuSet,
        cores: &[usize],
        dut: Option<&str>,
        tester: Option<&str>,
    ) -> Result<Self, BedError> {
        let all: Vec<usize> = available.iter().collect();
        let given = |flag: &'static str, text: Option<&str>| {
            text.map(|text| parse(flag, text, available)).transpose()
        };
        let (dut, tester) = (given("--dut-cpus", dut)?, given("--tester-cpus", tester)?);
        let rest = |taken: &Vec<usize>| -> Vec<usize> {
            let free_of = |cpus: &[usize]| -> Vec<usize> {
                let free = cpus.iter().filter(|cpu| !taken.contains(cpu));
                free.copied().collect()
            };
            let choices = [free_of(cores), free_of(&all), taken.clone()];
            let mut choices = choices.into_iter();
            choices.find(|cpus| !cpus.is_empty()).unwrap_or_default()
        };
        let (dut, tester) = match (dut, tester) {
            (Some(dut), Some(tester)) => (dut, tester),
            (Some(dut), None) => (dut.clone(), rest(&dut).into_iter().take(2).collect()),
            (None, Some(tester)) => (rest(&tester).into_iter().take(1).collect(), tester),
            (None, None) if cores.len() > 1 => by_count(cores),
            (None, None) => by_count(&all),
        };
        Ok(Self { dut, tester })
    }

    /// All CPUs of the bed, each once.
    #[must_use]
    pub fn all(&self) -> Vec<usize> {
        let mut all: Vec<usize> = self.dut.iter().chain(&self.tester).copied().collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Whether tester and DUT share a CPU.
    #[must_use]
    pub fn shared(&self) -> bool {
        self.dut.iter().any(|cpu| self.tester.contains(cpu))
    }

    /// The sender's CPU.
    #[must_use]
    pub fn sender(&self) -> usize {
        self.tester.first().copied().unwrap_or(0)
    }

    /// The CPUs between which frames go: the sender's, and the first of the DUT's. `None`: they are one, or the DUT has none
    /// here.
    #[must_use]
    pub fn ends(&self) -> Option<(usize, usize)> {
        let dut = self.dut.first().filter(|_| !self.shared());
        dut.map(|&dut| (self.sender(), dut))
    }

    /// The receivers' CPUs: not the sender's, where the tester has more than one.
    #[must_use]
    pub fn receivers(&self) -> CpuSet {
        let skip = usize::from(self.tester.len() > 1);
        self.tester.iter().copied().skip(skip).collect()
    }

    /// The tester's CPUs.
    #[must_use]
    pub fn tester_set(&self) -> CpuSet {
        self.tester.iter().copied().collect()
    }

    /// The DUT's CPUs.
    #[must_use]
    pub fn dut_set(&self) -> CpuSet {
        self.dut.iter().copied().collect()
    }
}

fn by_count(all: &[usize]) -> (Vec<usize>, Vec<usize>) {
    match *all {
        [] => (vec![0], vec![0]),
        [only] => (vec![only], vec![only]),
        [first, second] => (vec![second], vec![first]),
        [first, second, third, ..] => (vec![third], vec![first, second]),
    }
}

fn parse(flag: &'static str, text: &str, available: &CpuSet) -> Result<Vec<usize>, BedError> {
    let set: CpuSet = text
        .parse()
        .map_err(|e| BedError::BadPlan(format!("{flag}: {e}")))?;
    if set.is_empty() {
        return Err(BedError::BadPlan(format!("{flag}: no CPU given")));
    }
    match set.iter().find(|cpu| !available.contains(*cpu)) {
        Some(cpu) => Err(BedError::BadPlan(format!(
            "{flag}: CPU {cpu} is not available, these are: {available}"
        ))),
        None => Ok(set.iter().collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From CPUs that are cores of their own.
    fn choose(available: &str, dut: Option<&str>, tester: Option<&str>) -> CpuSplit {
        among(available, available, dut, tester).unwrap()
    }

    fn among(
        available: &str,
        cores: &str,
        dut: Option<&str>,
        tester: Option<&str>,
    ) -> Result<CpuSplit, BedError> {
        let [available, cores]: [CpuSet; 2] = [available, cores].map(|list| list.parse().unwrap());
        let cores: Vec<usize> = cores.iter().collect();
        CpuSplit::among(&available, &cores, dut, tester)
    }

    #[test]
    fn threads_of_one_core_are_not_tester_and_dut() {
        let split = |available, cores| among(available, cores, None, None).unwrap();
        let two = split("0-3", "0,2");
        assert_eq!((two.dut, two.tester), (vec![2], vec![0]));
        let three = split("0-7", "0,2,4,6");
        assert_eq!((three.dut, three.tester), (vec![4], vec![0, 2]));
        // One core is better shared by two threads than by two programs on one.
        let one = split("0-1", "0");
        assert_eq!((one.dut, one.tester), (vec![1], vec![0]));
        let dut = among("0-3", "0,2", Some("2"), None).unwrap();
        assert_eq!(dut.tester, [0]);
        let tester = among("0-1", "0", None, Some("0")).unwrap();
        assert_eq!(tester.dut, [1]);
    }

    #[test]
    fn each_count_of_cpus_has_a_sensible_split() {
        assert!(choose("0", None, None).shared());
        let two = choose("0-1", None, None);
        assert_eq!(
            (two.dut.clone(), two.tester.clone(), two.shared()),
            (vec![1], vec![0], false)
        );
        let many = choose("0-7", None, None);
        assert_eq!(
            (many.dut.clone(), many.tester.clone()),
            (vec![2], vec![0, 1])
        );
        assert_eq!(many.receivers().to_string(), "1");
        assert_eq!(two.receivers().to_string(), "0");
    }

    #[test]
    fn the_users_lists_win() {
        assert_eq!(choose("0-3", Some("0"), None).tester, [1, 2]);
        assert_eq!(choose("0-3", None, Some("0-2")).dut, [3]);
        assert!(choose("0-1", Some("0-1"), None).shared());
        let error = among("0-1", "0-1", Some("7"), None).unwrap_err();
        assert!(
            error.to_string().contains("CPU 7 is not available"),
            "{error}"
        );
        assert!(among("0-1", "0-1", Some("x"), None).is_err());
    }
}
