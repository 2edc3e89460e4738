"""Overload as both receivers saw it, in pairs: maximum forwarding rate, and the router's part of a frame's cost."""
import json
import statistics
import sys

PLACES = ("exit", "port")
# More than this makes another machine of one of a pair: a CPU's stolen share of all the trials' time, and the distance.
STEAL_MOST = 0.02
EXCHANGE_MOST = 1.5
WORK_MOST = 1.05
# Less, and something else than the DUT's CPU limited one of them.
BUSY_LEAST = 0.95


def main(path):
    pairs = {}
    for line in open(path, encoding="utf-8"):
        entry = json.loads(line)
        half = pairs.setdefault(entry["pair"], {}).setdefault(entry["place"], {"trials": [], "result": None})
        if entry["kind"] == "trial" and entry["phase"] in ("overload", "wire"):
            half["trials"].append(entry)
        elif entry["kind"] == "result":
            half["result"] = entry
    print(
        "| pair | maximum forwarding rate, frames/s (exit / port) | apart, % | DUT busy, % | router's part, ns a frame | apart, ns "
        "| bed's part, ns | CPUs apart, ns | steal, % | like |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    rates, costs, alike_rates, alike_costs, beds, alike_beds = [], [], [], [], [], []
    for number, halves in sorted(pairs.items()):
        both = [halves.get(place) or {"trials": [], "result": None} for place in PLACES]
        rate = [median_of(half, "max_forwarding_fps") for half in both]
        router = [cost_of(half, "router_ns") for half in both]
        apart = 100 * (rate[0] / rate[1] - 1) if all(rate) else None
        cost = router[0] - router[1] if None not in router else None
        steal = [share(half["trials"]) for half in both]
        away = [distance(half) for half in both]
        bed = [cost_of(half, "bed_ns") for half in both]
        busy = [(half["result"] or {}).get("max_forwarding_busy_share") for half in both]
        work = [(half["result"] or {}).get("max_forwarding_work_ns") for half in both]
        alike = max(steal) <= STEAL_MOST and within(away, EXCHANGE_MOST) and within(work, WORK_MOST)
        alike = alike and None not in busy and min(busy) >= BUSY_LEAST
        if apart is not None:
            rates.append(apart)
            alike_rates += [apart] if alike else []
        if cost is not None:
            costs.append(100 * cost / router[1])
            alike_costs += [costs[-1]] if alike else []
            # What the rates differ by when the routers are alike: the place is part of each frame's cost.
            beds.append(100 * (bed[0] - bed[1]) / (router[1] + bed[1]))
            alike_beds += [beds[-1]] if alike else []
        print(
            f"| {number} | {show(rate)} | {one(apart, '+.1f')} | {show([b and 100 * b for b in busy])} | {show(router)} "
            f"| {one(cost, '+.0f')} | {show(bed)} | {show(away)} "
            f"| {show([100 * s for s in steal], '.1f')} | {'yes' if alike else 'no'} |"
        )
    print(
        f"\nLike: steal of at most {STEAL_MOST:.0%} of a CPU in both, and a cache line's round trip between the CPUs alike within "
        f"{EXCHANGE_MOST - 1:.0%}, and a fixed piece of work within {WORK_MOST - 1:.0%}, and the DUT's busiest CPU at least {BUSY_LEAST:.0%} busy in both. The others are shown, and in the second column of medians only."
    )
    print("\n| exit against port, median (range), % | like pairs | all pairs |\n|---|---|---|")
    print(f"| maximum forwarding rate | {spread(alike_rates)} | {spread(rates)} |")
    print(f"| router's part of a frame's cost | {spread(alike_costs)} | {spread(costs)} |")
    print(f"| bed's part, of the port's whole cost | {spread(alike_beds)} | {spread(beds)} |")


def median_of(half, name):
    found = (half["result"] or {}).get(name)
    return found and found["median"]


def cost_of(half, name):
    cost = (half["result"] or {}).get("cost")
    return cost and cost[name]["median"]


def share(trials):
    """Over all trials at once: the kernel counts in ticks of 10 ms, and a tick alone is 3 % of one trial."""
    stolen = {}
    for trial in trials:
        for cpu in trial["steal"]:
            stolen[cpu["cpu"]] = stolen.get(cpu["cpu"], 0) + cpu["steal_ns"]
    return max(stolen.values(), default=0) / max(sum(trial["duration_ns"] or 0 for trial in trials), 1)


def within(values, times):
    return None in values or max(values) <= times * min(values)


def distance(half):
    of_state = (half["result"] or {}).get("max_forwarding_cpu_distance_ns")
    if of_state:
        return of_state
    names = ("exchange_before_ns", "exchange_after_ns")
    known = [trial[name] for trial in half["trials"] for name in names if trial.get(name)]
    return statistics.median(known) if known else None


def show(both, form=".0f"):
    return " / ".join(one(value, form) for value in both)


def one(value, form):
    return "-" if value is None else format(value, form)


def spread(values):
    if not values:
        return "-"
    return f"{statistics.median(values):+.1f} ({min(values):+.1f} to {max(values):+.1f}), {len(values)} pairs"


main(sys.argv[1])
