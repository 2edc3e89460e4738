//! The kinds of lines, and what every line has.

use crate::{
    BurstLine, CalibrationLine, ComparisonLine, CurveLine, EndLine, LatencyLine, LoadLine,
    OverloadLine, PointLine, ProfileLine, RecoveryLine, ResetLine, ResultLine, RunLine, SCHEMA,
    SweepLine, TrialLine,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Members of a line that this version does not know: those of another schema, or those that a bench put in front.
pub type Other = Map<String, Value>;

/// A line by its kind. Those of other kinds are no lines of a record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Line {
    /// First.
    Run(Box<RunLine>),
    /// After each trial.
    Trial(Box<TrialLine>),
    /// After each frame size, one a goal.
    Result(Box<ResultLine>),
    /// `mpps fib-scale`: after each point and frame size.
    Point(Box<PointLine>),
    /// `mpps loss`: after each frame size.
    Curve(Box<CurveLine>),
    /// `mpps loss --overload`: after each frame size.
    Overload(Box<OverloadLine>),
    /// `mpps latency`: after each frame size.
    Latency(Box<LatencyLine>),
    /// `mpps back-to-back`: after each frame size.
    Burst(Box<BurstLine>),
    /// `mpps recovery`: after each frame size.
    Recovery(Box<RecoveryLine>),
    /// `mpps reset`: after each frame size, one a part.
    Reset(Box<ResetLine>),
    /// `mpps explain`: after each frame size.
    Profile(Box<ProfileLine>),
    /// `mpps explain --sweep`: one, after all points.
    Sweep(Box<SweepLine>),
    /// `mpps trial`: one a load and frame size.
    Load(LoadLine),
    /// `mpps compare`: after each frame size.
    Comparison(Box<ComparisonLine>),
    /// `mpps calibrate`: one a planted fault.
    Calibration(CalibrationLine),
    /// Last.
    End(EndLine),
}

impl Line {
    /// Every kind, as lines have it.
    pub const KINDS: [&str; 16] = [
        RunLine::KIND,
        TrialLine::KIND,
        ResultLine::KIND,
        PointLine::KIND,
        CurveLine::KIND,
        OverloadLine::KIND,
        LatencyLine::KIND,
        BurstLine::KIND,
        RecoveryLine::KIND,
        ResetLine::KIND,
        ProfileLine::KIND,
        SweepLine::KIND,
        LoadLine::KIND,
        ComparisonLine::KIND,
        CalibrationLine::KIND,
        EndLine::KIND,
    ];
}

/// The members of one kind of line.
pub trait Body: Serialize + Into<Line> {
    /// The word for the kind.
    const KIND: &'static str;
}

/// Each kind: its line, its variant, its word.
macro_rules! kinds {
    ($($line:ident $variant:ident $word:literal,)*) => {$(
        impl Body for $line {
            const KIND: &'static str = $word;
        }

        impl From<$line> for Line {
            fn from(line: $line) -> Self {
                Self::$variant(line.into())
            }
        }
    )*};
}

kinds! {
    RunLine Run "run",
    TrialLine Trial "trial",
    ResultLine Result "result",
    PointLine Point "point",
    CurveLine Curve "curve",
    OverloadLine Overload "overload",
    LatencyLine Latency "latency",
    BurstLine Burst "burst",
    RecoveryLine Recovery "recovery",
    ResetLine Reset "reset",
    ProfileLine Profile "profile",
    SweepLine Sweep "sweep",
    LoadLine Load "load",
    ComparisonLine Comparison "comparison",
    CalibrationLine Calibration "calibration",
    EndLine End "end",
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
