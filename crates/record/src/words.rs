//! Words of a closed list. A word that is not in it, of a newer or an older schema, is kept as it is.

use serde::{Deserialize, Serialize};
use std::fmt;

/// An enum whose variants are words in the record.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(from = "String", into = "String")]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)+
            /// A word of another schema.
            Other(String),
        }

        impl $name {
            /// The word.
            #[must_use]
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $word,)+
                    Self::Other(word) => word,
                }
            }
        }

        impl From<&str> for $name {
            fn from(word: &str) -> Self {
                match word {
                    $($word => Self::$variant,)+
                    other => Self::Other(other.to_owned()),
                }
            }
        }

        impl From<String> for $name {
            fn from(word: String) -> Self {
                Self::from(word.as_str())
            }
        }

        impl From<$name> for String {
            fn from(word: $name) -> Self {
                word.as_str().to_owned()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }

        /// No word.
        impl Default for $name {
            fn default() -> Self {
                Self::Other(String::new())
            }
        }
    };
}

/// Words that the lab makes too: `known` has them as closed enums, which it matches without a rest. Each word is written
/// once.
macro_rules! known {
    ($($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)+ })+) => {
        $(
            words! { $(#[$doc])* $name { $($(#[$variant_doc])* $variant = $word,)+ } }

            impl From<known::$name> for $name {
                fn from(word: known::$name) -> Self {
                    match word {
                        $(known::$name::$variant => Self::$variant,)+
                    }
                }
            }
        )+

        /// The words of this version: what is measured now has no others.
        pub mod known {
            $(
                $(#[$doc])*
                #[derive(Clone, Copy, Debug, PartialEq, Eq)]
                pub enum $name {
                    $($(#[$variant_doc])* $variant,)+
                }

                impl $name {
                    /// The word.
                    #[must_use]
                    pub const fn name(self) -> &'static str {
                        match self {
                            $(Self::$variant => $word,)+
                        }
                    }
                }
            )+
        }
    };
}

known! {
    /// The purpose of a trial.
    Phase {
        /// Through a wire in place of the router.
        Wire = "wire",
        /// Through the router, at the highest load or at the lower overload.
        Overload = "overload",
        /// Far below any load of the search: does the DUT lose frames for no load?
        Gate = "gate",
        /// At a load of the search.
        Search = "search",
        /// At a load that was asked for (`mpps trial`).
        Fixed = "fixed",
        /// At loads that take turns within it (`mpps explain`); its load is their mean.
        InTurns = "in-turns",
        /// Back-to-back: there is no pace.
        Burst = "burst",
        /// At a load of a series that goes down (`mpps loss`).
        Loss = "loss",
        /// Every frame timed (`mpps latency`).
        Latency = "latency",
        /// At overload, then far below (`mpps recovery`).
        Recovery = "recovery",
        /// While the router is reset (`mpps reset`).
        Reset = "reset",
        /// With a planted fault.
        Calibration = "calibration",
    }

    /// How a series of loads ended (`mpps loss`).
    SeriesEnd {
        /// Two loads in a row lost nothing.
        TwoLossless = "two-lossless",
        /// There was no lower load.
        LowestLoad = "lowest-load",
        /// The time was spent.
        Budget = "budget",
        /// An error or an interrupt; `why` says which.
        CutShort = "cut-short",
    }

    /// Where the tester receives.
    ReceiverPlace {
        /// At the egress of the router's outgoing port, where a NIC's driver would take the frame: the tester's CPU only
        /// sends.
        Exit = "exit",
        /// At its own port, behind a cable.
        Port = "port",
    }

    /// What keeps the router from forwarding more at overload.
    ForwardingLimit {
        /// Its CPU: at least 95 % busy.
        RouterCpu = "router CPU",
        /// The CPU that it shares with the tester.
        SharedCpu = "shared CPU",
        /// The router, whose CPU had time left: it lost frames to the end.
        Router = "router",
        /// The tester, which offers no more.
        Tester = "tester",
        /// It is unknown: the router lost frames while its CPU had time left.
        Unknown = "unknown",
    }

    /// What keeps the rate without loss from being higher.
    LimitedBy {
        /// The router.
        Dut = "DUT",
        /// A CPU that tester and router share.
        SharedCpu = "shared CPU",
        /// Loss that came and went while the router had CPU time left.
        Pause = "pause",
        /// The tester's own ceiling.
        Tester = "tester",
        /// The link's line rate.
        Link = "link",
        /// The user's `--max-rate`.
        MaxRate = "max-rate",
        /// Disturbances of the machine kept higher loads from being offered.
        Disturbed = "disturbed",
        /// The trials allowed, or the time for them.
        Trials = "trials",
    }

    /// What was found of a difference (`mpps compare`).
    Finding {
        /// There is one.
        Different = "different",
        /// There is none as large as asked for.
        NoDifference = "no-difference",
        /// The interval holds both.
        NotDecided = "not-decided",
    }

    /// What tells two variants apart.
    ToldBy {
        /// The forwarding rate at overload.
        Rate = "rate",
        /// CPU time of a frame: the tester reached its limit before the router.
        Cost = "cost",
    }
}

/// A series is cut short until it has come to another end.
impl Default for known::SeriesEnd {
    fn default() -> Self {
        Self::CutShort
    }
}

/// Nothing is found before the first look.
impl Default for known::Finding {
    fn default() -> Self {
        Self::NotDecided
    }
}

/// Rates tell, unless the tester reaches its limit first.
impl Default for known::ToldBy {
    fn default() -> Self {
        Self::Rate
    }
}

words! {
    /// The verdict on a trial (docs/method.md).
    Verdict {
        /// All frames came back.
        Lossless = "lossless",
        /// Frames were lost.
        Lossy = "lossy",
        /// The tester did not send its load.
        NotOffered = "not-offered",
        /// The machine disturbed it too much.
        Void = "void",
        /// The counts contradict each other, or frames did not come back as a router sends them.
        Invalid = "invalid",
    }
}

words! {
    /// How a search ended.
    Outcome {
        /// A load passed.
        Found = "found",
        /// Even the lowest load tried lost frames.
        NoneLossless = "none-lossless",
        /// Not measured; `why` says why.
        NotMeasured = "not-measured",
    }
}

words! {
    /// What may be claimed of a rate.
    Claim {
        /// RFC 2544 throughput: zero loss in trials of 60 s or more.
        Throughput = "Throughput",
        /// A goal that allows loss.
        LossRate = "LossRate",
        /// Anything less.
        Estimate = "Estimate",
    }
}

words! {
    /// How a rate is to be read.
    RateIs {
        /// The DUT's rate, within the resolution.
        Equal = "=",
        /// Something else ended first.
        AtLeast = ">=",
        /// Even the lowest load tried, this one, lost frames.
        Below = "<",
        /// It passed in too few trials, because the search ended early. The DUT's rate may be higher or lower.
        Unconfirmed = "unconfirmed",
    }
}

words! {
    /// What a trial of `mpps recovery` says.
    Recovered {
        /// It tells a time.
        Recovered = "recovered",
        /// Frames were lost to its end.
        NotRecovered = "not-recovered",
        /// No frame was lost: there was no overload.
        NotOverloaded = "not-overloaded",
        /// It does not count.
        NotMeasured = "not-measured",
    }
}

words! {
    /// Whether the DUT loses frames for no load.
    Stability {
        /// It does not.
        Stable = "stable",
        /// It loses them because the low load is too much already.
        Overloaded = "overloaded",
        /// It does.
        Unstable = "unstable",
        /// Too few trials say anything.
        Unknown = "unknown",
    }
}

words! {
    /// The basis of a headroom.
    Basis {
        /// One trial was at this busy share.
        Measured = "measured",
        /// Between two trials.
        Interpolated = "interpolated",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_read_back_known_or_not() {
        for word in ["wire", "ceiling", ""] {
            let phase = Phase::from(word);
            assert_eq!(phase.to_string(), word);
            let json = serde_json::to_string(&phase).expect("a word");
            assert_eq!(serde_json::from_str::<Phase>(&json).expect("a word"), phase);
        }
        assert_eq!(Phase::from("wire"), Phase::Wire);
        assert_eq!(Phase::from(known::Phase::Wire), Phase::Wire);
        assert_eq!(known::Phase::Wire.name(), "wire");
        assert_eq!(Phase::from("ceiling"), Phase::Other("ceiling".to_owned()));
    }
}
