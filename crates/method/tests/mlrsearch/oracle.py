#!/usr/bin/env python3
"""Random trial sets, and what the PyPI package MLRsearch 1.2.1 (FD.io CSIT) says of them.

    oracle.py SEED CASES > answers.txt

One case a line, fields apart by blanks:

    goal FINAL_MS SUM_MS LOSS_RATIO EXCEED_RATIO
    load FPS MS:SENT:LOST,MS:SENT:LOST... CLASS QUANTILE        (any number of times, low to high)
    bounds LOWER_FPS UPPER_FPS CONDITIONAL_THROUGHPUT_FPS

CLASS is L, U or ? (lower bound, upper bound, undecided); QUANTILE the loss ratio Conditional Throughput stands on.
Numbers are written so that reading them gives the same float. Durations are whole multiples of 1/8 s, whose sums a
float holds exactly; where a ratio is none that a float holds exactly, cases that its last bit would decide are drawn again.
"""

import random
import sys

from MLRsearch.discrete_load import DiscreteLoad
from MLRsearch.discrete_result import DiscreteResult
from MLRsearch.discrete_width import DiscreteWidth
from MLRsearch.goal_result import GoalResult
from MLRsearch.load_rounding import LoadRounding
from MLRsearch.measurement_database import MeasurementDatabase
from MLRsearch.target_spec import TargetSpec

DURATIONS_MS = [125, 250, 500, 1000, 1000, 1000, 2000, 7500, 60000]
# A float holds these, and ratio / (1 - ratio), exactly.
EXACT_EXCEED = [0.0, 0.0, 0.5, 0.5, 0.75]
OTHER_EXCEED = [0.1, 0.125, 0.2, 0.25, 0.3, 1 / 3, 0.6, 0.9]
# A change of the exceed ratio that must not change the answer, where the ratio itself is rounded.
NUDGE = 1e-9
ROUNDING = LoadRounding(min_load=1e4, max_load=2e6, float_goals=[0.005])


def target(final_s, sum_s, loss, exceed):
    width = DiscreteWidth(rounding=ROUNDING, float_width=0.005).rounded_down()
    return TargetSpec(
        loss_ratio=loss,
        exceed_ratio=exceed,
        discrete_width=width,
        trial_duration=final_s,
        duration_sum=sum_s,
        expansion_coefficient=2,
        fail_fast=False,
        preceding=None,
    )


def draw(rng):
    """A goal and the trials of some loads: (FPS, [(s, sent, lost)])."""
    final = rng.choice([250, 1000, 1000, 2000, 60000]) / 1000
    total = final * rng.choice([1, 1, 2, 3, 5, 8, 21])
    loss = rng.choice([0.0, 0.0, 0.005, 0.01, 0.1])
    exceed = rng.choice(EXACT_EXCEED if rng.random() < 0.6 else OTHER_EXCEED)
    places = sorted(rng.sample(range(ROUNDING.max_int_load + 1), rng.randint(1, 6)))
    loads = []
    for place in places:
        load = DiscreteLoad(rounding=ROUNDING, int_load=place)
        bad = rng.random()
        trials = []
        for _ in range(rng.randint(1, rng.choice([2, 5, 30]))):
            duration = rng.choice([final, final, rng.choice(DURATIONS_MS) / 1000])
            sent = rng.choice([1000, 4096, 999983])
            lost = 0
            if rng.random() < bad:
                # At the loss ratio itself, beside it, or anywhere.
                edge = round(sent * loss)
                lost = rng.choice([1, edge, edge + 1, rng.randint(0, sent)])
            trials.append((duration, sent, min(lost, sent)))
        loads.append((load, trials))
    return final, total, loss, exceed, loads


def answer(final, total, loss, exceed, loads):
    """What the package says: by load its class and quantile; the bounds and conditional throughput."""
    spec = target(final, total, loss, exceed)
    database = MeasurementDatabase((spec,))
    each = []
    for load, trials in loads:
        for duration, sent, lost in trials:
            result = DiscreteResult(
                intended_duration=duration,
                intended_load=float(load),
                offered_count=sent,
                loss_count=lost,
                discrete_load=load,
            )
            database.add(result)
        stat = database[load].target_to_stat[spec]
        kind = {(True, True): "L", (False, False): "U", (True, False): "?"}[stat.estimates()]
        ratio = stat.pessimistic_loss_ratio
        # Without a full-length trial the package says none; the RFC's code says everything was lost.
        each.append((kind, 1.0 if ratio is None else ratio))
    bounds = database.get_relevant_bounds(spec)
    found = GoalResult.from_bounds(bounds).conditional_throughput
    as_float = lambda load: "-" if load is None else repr(float(load))
    return each, (as_float(bounds.clo), as_float(bounds.chi), as_float(found))


def decided_by_a_last_bit(final, total, loss, exceed, loads):
    if exceed in EXACT_EXCEED:
        return False
    try:
        said = [answer(final, total, loss, exceed + by, loads) for by in (-NUDGE, 0.0, NUDGE)]
    except RuntimeError:
        # A lower bound that the last bit made lose everything.
        return True
    return said[0] != said[1] or said[1] != said[2]


def main():
    rng = random.Random(int(sys.argv[1]))
    left = int(sys.argv[2])
    while left:
        case = draw(rng)
        if decided_by_a_last_bit(*case):
            continue
        final, total, loss, exceed, loads = case
        each, bounds = answer(*case)
        words = ["goal", f"{final * 1000:.0f}", f"{total * 1000:.0f}", repr(loss), repr(exceed)]
        for (load, trials), (kind, ratio) in zip(loads, each):
            listed = ",".join(f"{d * 1000:.0f}:{s}:{l}" for d, s, l in trials)
            words += ["load", repr(float(load)), listed, kind, repr(ratio)]
        print(" ".join(words + ["bounds", *bounds]))
        left -= 1


if __name__ == "__main__":
    main()
