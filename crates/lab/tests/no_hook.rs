//! A kernel without tcx and without filters for traffic control: it is measured all the same, at the tester's port, and
//! what it cannot tell is said in one line.

use crate::support;
use crate::support::printed::Printed;
use mpps_lab::bed::{Bed, BedPlan, CpuSplit, Interfaces};
use mpps_lab::jobs::calibrate::{FaultKind, calibrate};
use mpps_lab::jobs::explain::{self, ExplainPlan};
use mpps_lab::jobs::fixed_load::{self, FixedLoadPlan, Load};
use mpps_lab::jobs::{JobError, UnderTest, throughput};
use mpps_lab::tester::{NoExit, PortKind, ReceiverMode, ReceiverPlace, Tester, TesterError};
use mpps_lab::traffic::Traffic;
use mpps_method::{Rate, Span};
use mpps_record::{CalibrationLine, LoadLine, ProfileLine, ResultLine};

const FRAMES: u64 = 1 << 16;
const LACKS: &str = "this kernel has neither tcx links (Linux 6.6) nor clsact with eBPF";

/// A bed of one CPU each, whose receiver would be at the exit.
fn bed() -> Bed {
    let usual = support::plan();
    let CpuSplit { dut, tester } = &usual.cpus;
    let cpus = CpuSplit {
        dut: vec![dut[0]],
        tester: vec![tester[0]],
    };
    let plan = BedPlan {
        cpus,
        interfaces: Interfaces::Fewest,
        ..usual
    };
    Bed::raise(&plan).unwrap_or_else(|error| panic!("{error}"))
}

fn load(loads: Vec<Load>, wire: bool) -> FixedLoadPlan {
    FixedLoadPlan {
        sizes: vec![support::trials::frames("64")],
        traffic: support::traffic(),
        port: None,
        loads,
        time: Span::from_millis(100),
        trials: 1,
        wire,
        receiver: None,
    }
}

#[test]
fn a_kernel_without_hooks_receives_at_the_port() {
    if !support::can_run() {
        return;
    }
    let bed = bed();
    // As asked for: one line says why, and what to do.
    let refused = |traffic| {
        let raised = Tester::raise(&bed, &traffic, FRAMES, ReceiverMode::Polled);
        let error = raised.map(drop).expect_err("no hook");
        let line = error.to_string();
        assert!(line.contains(LACKS) && !line.contains('\n'), "{line}");
        (error, line)
    };
    let (error, line) = refused(Traffic {
        receiver: ReceiverPlace::Exit,
        ..support::traffic()
    });
    assert!(
        matches!(error, TesterError::NoExit(NoExit::Kernel)),
        "{line}"
    );
    assert!(line.ends_with("give --receiver port"), "{line}");
    let (_, line) = refused(Traffic {
        port: PortKind::AfPacket,
        ..support::traffic()
    });
    assert!(line.ends_with("take a newer kernel"), "{line}");
    // Where nobody asked: the port.
    let mut found = Printed::<ResultLine>::new();
    let plan = support::measurement(2_000);
    let (error, _) = throughput::measure(UnderTest::Bed(&bed), &plan, &mut found);
    assert!(error.is_none(), "{error:?}");
    let line = &found.0[0];
    assert_eq!(line.receiver, Some(ReceiverPlace::Port.into()));
    let told = line.doubts.iter().find(|doubt| doubt.name == "no-wire");
    assert!(
        told.is_some_and(|doubt| doubt.seen.contains(LACKS)),
        "{line:?}"
    );
    let mut found = Printed::<LoadLine>::new();
    let plan = load(vec![Load::At(Rate::from_fps(2_000.0))], true);
    let error = fixed_load::measure(UnderTest::Bed(&bed), &plan, &mut found);
    assert!(error.is_none(), "{error:?}");
    let line = &found.0[0];
    assert_eq!(line.receiver, Some(ReceiverPlace::Port.into()));
    assert!(line.trials[0].forwarded_frames > 0);
    assert!(line.wire.is_none());
}

#[test]
fn what_needs_a_hook_says_that_it_lacks() {
    if !support::can_run() {
        return;
    }
    let bed = bed();
    // No other place of the receiver helps: a fault is a program in the path too.
    for receiver in [ReceiverPlace::Exit, ReceiverPlace::Port] {
        let traffic = Traffic {
            receiver,
            ..support::traffic()
        };
        let mut rows = Printed::<CalibrationLine>::new();
        let error = calibrate(&bed, &traffic, &[FaultKind::Loss], &mut rows);
        let line = error.expect("no hook").to_string();
        assert!(
            line.contains(LACKS) && line.ends_with("take a newer kernel"),
            "{line}"
        );
    }
    // What limits is told without a wire.
    let mut found = Printed::<ProfileLine>::new();
    let plan = ExplainPlan {
        offer: load(vec![Load::Max], false),
        burn_ns: None,
    };
    match explain::measure(&bed, &plan, &mut found) {
        // Of a machine that left too little time.
        Some(error) => assert!(matches!(error, JobError::NoSamples { .. }), "{error}"),
        None => {
            let why = found.0[0].no_wire.as_ref();
            assert!(why.is_some_and(|why| why.contains(LACKS)), "{why:?}");
        }
    }
}
