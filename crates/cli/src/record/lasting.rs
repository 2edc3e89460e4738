//! A lasting overload of `mpps loss` as its line has it.

use super::result::{doubt, whole_fps};
use super::words;
use mpps_lab::jobs::lasting::{Answers, Lasting, LastingPlan, Managed, Second};
use mpps_lab::jobs::recovery::Recovery;
use mpps_method::{Rate, Span};
use mpps_record::{ManagementPath, Other, OverloadLine, OverloadSecond};

/// The line of a frame size.
#[must_use]
pub fn overload_line(size: &Lasting, plan: &LastingPlan) -> OverloadLine {
    let (judged, managed) = (size.judged.as_ref(), size.managed.as_ref());
    let answers = |at: usize| managed.and_then(|path| path.seconds.get(at));
    let seconds = size.seconds.iter().enumerate();
    OverloadLine {
        frame: size.frames.to_string(),
        receiver: size.receiver.map(Into::into),
        load: plan.overload.to_string(),
        asked_ns: plan.lasts.as_nanos(),
        after_ns: plan.after().as_nanos(),
        max_forwarding_fps: size.maximum.map(whole_fps),
        overload_fps: size.loads.map(|[high, _]| whole_fps(high)),
        after_fps: size.loads.map(|[_, low]| whole_fps(low)),
        seconds: seconds.map(|(at, one)| second(one, answers(at))).collect(),
        management: managed.map(management),
        trial: judged.map(|judged| judged.number),
        verdict: judged.map(|judged| words::verdict(&judged.verdict)),
        verdict_text: judged.map(|judged| judged.verdict.to_string()),
        recovered: size.recovery.name().into(),
        recovery_ns: match size.recovery {
            Recovery::After(time) => Some(time.as_nanos()),
            _ => None,
        },
        max_forwarding_afterwards_fps: size.maximum_after.map(whole_fps),
        watching_ns: size.watching.as_nanos(),
        why: size.why.clone(),
        doubts: size.doubts.iter().map(doubt).collect(),
        other: Other::new(),
    }
}

fn second(second: &Second, answers: Option<&Answers>) -> OverloadSecond {
    let (from_ns, to_ns) = second.between_ns;
    let length_ns = to_ns - from_ns;
    let fps = |frames| {
        let rate = Rate::from_frames(frames, Span::from_nanos(length_ns));
        whole_fps(rate.unwrap_or_default())
    };
    OverloadSecond {
        length_ns,
        offered_fps: fps(second.sent),
        forwarding_fps: fps(second.forwarded),
        disturbed_share: (second.disturbed * 1e4).round() / 1e4,
        asked: answers.map(|answers| answers.asked),
        answered: answers.map(|answers| answers.answered),
    }
}

fn management(path: &Managed) -> ManagementPath {
    ManagementPath {
        before_asked: path.before.asked,
        before_answered: path.before.answered,
        asked: path.during.asked,
        answered: path.during.answered,
        longest_silence_ns: path.during.longest.as_nanos(),
        back_ns: path.back.map(Span::as_nanos),
        answering_ns: path.answering.as_nanos(),
    }
}
