//! The kinds of lines, where a run keeps them, and what every line has.

use crate::answer::{Answer, Answers, Doubted};
use crate::result::Doubt;
use crate::words::ReceiverPlace;
use crate::{
    BurstLine, CalibrationLine, CampaignLine, CellLine, ComparisonLine, CurveLine, EffectsLine,
    EndLine, LatencyLine, LoadLine, OverloadLine, PointLine, ProfileLine, RecoveryLine, ResetLine,
    ResultLine, RunBed, RunLine, SCHEMA, SweepLine, TrialLine,
};
use serde::{Deserialize, Serialize};

/// The members of one kind of line.
pub trait Body: Serialize + Into<Line> {
    /// The word for the kind.
    const KIND: &'static str;
}

/// The lines of a row that has a job.
#[doc(hidden)]
#[macro_export]
macro_rules! of_job {
    ($job:literal, $lines:expr) => {
        $lines
    };
}

/// How doubts are added to a line: in the row's own way, or to its list of them.
macro_rules! add_doubts {
    ($line:ident, $doubts:ident) => {
        $line.doubts.extend_from_slice($doubts)
    };
    ($line:ident, $doubts:ident, $add:expr) => {{
        let add: fn(&mut Self, &[Doubt]) = $add;
        add($line, $doubts)
    }};
}

/// Declares each kind, a row each: its variant and type, its word in files, and the member of a run that keeps it. A
/// line that answers what a job asks has the job too, what it is about with its doubts, and how it gets more of them. The
/// first token is a dollar, for the macro within.
macro_rules! kinds {
    ($d:tt $(
        $(#[$about:meta])*
        $variant:ident($line:ident) $word:literal $kept:ident: $keeper:ident
        $(answers $job:literal $doubted:expr $(, adds $add:expr)?)?;
    )*) => {
        /// The lines of each kind that answers, of this run, as references in an array.
        #[macro_export]
        macro_rules! answers {
            ($d run:expr) => {
                [$($($crate::of_job!($job, &$d run.$kept),)?)*]
            };
        }

        /// A line by its kind. Those of other kinds are no lines of a record.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(tag = "kind")]
        pub enum Line {$(
            $(#[$about])*
            #[serde(rename = $word)]
            $variant(Box<$line>),
        )*}

        impl Line {
            /// Every kind, as lines have it.
            pub const KINDS: &[&str] = &[$($word),*];
        }

        $(
            impl Body for $line {
                const KIND: &'static str = $word;
            }

            impl From<$line> for Line {
                fn from(line: $line) -> Self {
                    Self::$variant(line.into())
                }
            }

            $(impl Answer for $line {
                const JOB: &'static str = $job;

                fn doubted(&self) -> Doubted<'_> {
                    let doubted: fn(&Self) -> Doubted<'_> = $doubted;
                    doubted(self)
                }

                fn add_doubts(&mut self, doubts: &[Doubt]) {
                    add_doubts!(self, doubts $(, $add)?);
                }
            })?
        )*

        /// The lines of one run.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct Run {
            /// Its name.
            pub name: String,
            /// Highest schema of its lines.
            pub schema: u32,
            $($(#[$about])* pub $kept: $keeper<$line>,)*
        }

        impl Run {
            /// Adds a line to those of its kind.
            pub fn add(&mut self, line: impl Into<Line>) {
                match line.into() {
                    $(Line::$variant(line) => self.$kept.keep(*line),)*
                }
                self.add_achieved();
            }

            /// The lines of each kind that answers.
            #[must_use]
            pub fn answers(&self) -> Vec<&dyn Answers> {
                vec![$($($crate::of_job!($job, &self.$kept),)?)*]
            }

            /// The same, to change them.
            pub fn answers_mut(&mut self) -> Vec<&mut dyn Answers> {
                vec![$($($crate::of_job!($job, &mut self.$kept),)?)*]
            }
        }
    };
}

kinds! { $
    /// First.
    Run(RunLine) "run" begin: Option;
    /// After each trial.
    Trial(TrialLine) "trial" trials: Vec;
    /// After each frame size, one a goal.
    Result(ResultLine) "result" results: Vec
        answers "throughput" |line| (line.frame.as_str().into(), &line.doubts);
    /// `mpps fib-scale`: after each point and frame size.
    Point(PointLine) "point" points: Vec
        answers "fib-scale" |line| (line.frame.as_deref().unwrap_or("").into(), &line.doubts),
        adds |line, doubts| {
            line.doubts.extend_from_slice(doubts);
            line.results.iter_mut().for_each(|result| result.add_doubts(doubts));
        };
    /// `mpps loss`: after each frame size.
    Curve(CurveLine) "curve" curves: Vec
        answers "loss" |line| (line.frame.as_str().into(), &line.doubts);
    /// `mpps loss --overload`: after each frame size.
    Overload(OverloadLine) "overload" overloads: Vec
        answers "loss" |line| (line.frame.as_str().into(), &line.doubts);
    /// `mpps latency`: after each frame size.
    Latency(LatencyLine) "latency" latencies: Vec
        answers "latency" |line| (line.frame.as_str().into(), &line.doubts);
    /// `mpps back-to-back`: after each frame size.
    Burst(BurstLine) "burst" bursts: Vec
        answers "back-to-back" |line| (line.frame.as_str().into(), &line.doubts);
    /// `mpps recovery`: after each frame size.
    Recovery(RecoveryLine) "recovery" recoveries: Vec
        answers "recovery" |line| (line.frame.as_str().into(), &line.doubts);
    /// `mpps reset`: after each frame size, one a part.
    Reset(ResetLine) "reset" resets: Vec
        answers "reset" |line| (format!("{}, {}", line.frame, line.reset).into(), &line.doubts);
    /// `mpps explain`: after each frame size.
    Profile(ProfileLine) "profile" profiles: Vec
        answers "explain" |line| (line.frame.as_str().into(), &line.doubts);
    /// `mpps explain --sweep`: one, after all points.
    Sweep(SweepLine) "sweep" sweeps: Vec
        answers "explain" |line| (line.axis.as_str().into(), &line.doubts);
    /// `mpps trial`: one a load and frame size.
    Load(LoadLine) "load" loads: Vec
        answers "trial" |line| (line.load.as_str().into(), &line.doubts), adds |_, _| {};
    /// `mpps compare`: after each frame size.
    Comparison(ComparisonLine) "comparison" comparisons: Vec
        answers "compare" |line| (line.frame.as_str().into(), &line.doubts);
    /// `mpps tune measure`: one, after all settings.
    Effects(EffectsLine) "effects" effects: Vec
        answers "tune" |line| (line.frame.as_str().into(), &line.doubts);
    /// `mpps calibrate`: one a planted fault.
    Calibration(CalibrationLine) "calibration" calibrations: Vec
        answers "calibrate" |line| (line.fault.as_str().into(), &[]), adds |_, _| {};
    /// `mpps campaign run`: first, in place of the line of a run.
    Campaign(CampaignLine) "campaign" campaign: Option;
    /// `mpps campaign run`: after each cell.
    Cell(CellLine) "cell" cells: Vec;
    /// Last.
    End(EndLine) "end" end: Option;
}

impl Run {
    /// A run of this program that has no line yet.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            schema: SCHEMA,
            ..Self::default()
        }
    }

    /// Adds to the conditions what only the answers know: whether idle CPUs stayed awake, and whether the tester fell
    /// back to its port.
    fn add_achieved(&mut self) {
        let awake = self.latencies.iter().map(|line| line.cpus_awake);
        let awake = awake.reduce(|all, one| all && one);
        let fell_back = self.received_at(&ReceiverPlace::Port);
        if let Some(begin) = &mut self.begin {
            let conditions = &mut begin.comparability;
            let receiver = match &conditions.receiver {
                Some(_) if fell_back => Some(ReceiverPlace::Port.to_string()),
                begun => begun.clone(),
            };
            if (awake, &receiver) != (conditions.cpus_awake, &conditions.receiver) {
                (conditions.cpus_awake, conditions.receiver) = (awake, receiver);
                *conditions = std::mem::take(conditions).keyed();
            }
        }
    }

    /// Whether an answer says that the tester received there. Those of `tune` are left out: `--resume` holds the conditions
    /// of a run against those with which another began.
    fn received_at(&self, place: &ReceiverPlace) -> bool {
        macro_rules! any_of {
            ($($kept:expr),*) => {
                false $(|| $kept.iter().any(|line| line.receiver.as_ref() == Some(place)))*
            };
        }
        any_of!(
            self.results,
            self.curves,
            self.overloads,
            self.latencies,
            self.bursts,
            self.recoveries,
            self.resets,
            self.profiles,
            self.sweeps,
            self.loads,
            self.comparisons
        ) || self.points.iter().any(|point| any_of!(point.results))
    }

    /// When it began, as its first line says.
    #[must_use]
    pub fn begun_utc(&self) -> Option<&str> {
        let begun = self.begin.as_ref().map(|begin| &begin.begun_utc);
        let campaign = self.campaign.as_ref().map(|line| &line.begun_utc);
        begun.or(campaign).map(String::as_str)
    }

    /// Whether tester and router were simulated: nothing was measured.
    #[must_use]
    pub fn is_simulated(&self) -> bool {
        let begin = self.begin.as_ref();
        begin.is_some_and(|begin| matches!(begin.bed, RunBed::Simulated { .. }))
    }

    /// The verb that made it.
    #[must_use]
    pub fn job(&self) -> Option<&str> {
        let job = self.begin.as_ref().map(|begin| begin.job.as_str());
        job.or(self.campaign.as_ref().map(|_| "campaign"))
    }
}

/// What a run keeps lines of a kind in.
trait Keep<T> {
    fn keep(&mut self, line: T);
}

/// The last of several stays.
impl<T> Keep<T> for Option<T> {
    fn keep(&mut self, line: T) {
        *self = Some(line);
    }
}

impl<T> Keep<T> for Vec<T> {
    fn keep(&mut self, line: T) {
        self.push(line);
    }
}

/// A line with what every line has.
#[derive(Serialize)]
struct Whole<'a, T> {
    schema: u32,
    kind: &'static str,
    /// The runs of one file differ by it.
    run: &'a str,
    #[serde(flatten)]
    body: &'a T,
}

/// A line of the run `run` as the file has it, its newline included.
///
/// # Errors
/// None that can happen: all of it is text and numbers.
pub fn to_line<T: Body>(run: &str, body: &T) -> serde_json::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(&Whole {
        schema: SCHEMA,
        kind: T::KIND,
        run,
        body,
    })?;
    line.push(b'\n');
    Ok(line)
}
