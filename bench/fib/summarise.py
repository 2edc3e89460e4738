"""Rates of each loader by one clock, ratios to mpps with the same next hops round by round, and the time to clear."""
import json
import statistics
import sys

# Same order and same next hops; the last two are no such pair and are shown beside mpps plain.
PEERS = {
    "mpps plain": "mpps plain",
    "ip -batch plain": "mpps plain",
    "BIRD": "mpps plain",
    "mpps object": "mpps object",
    "ip -batch object": "mpps object",
    "ip -batch list's order": "mpps plain",
    "a process a route": "mpps plain",
}


# Others that take more of a CPU than this during a load disturbed it: the whole round is left out.
OTHERS_MOST = 0.2


def spread(values, form=".2f"):
    return f"{statistics.median(values):{form}} ({min(values):{form}} to {max(values):{form}})"


def cpu_of_route(entry):
    return entry["own_cpu_ns"] / entry["asked_routes"]


def main(path):
    loads = {}
    for line in open(path, encoding="utf-8"):
        entry = json.loads(line)
        loads.setdefault(entry["loader"], {})[entry["round"]] = entry
    if any(entry["first_seen_ns"] == entry["in_kernel_ns"] for by_round in loads.values() for entry in by_round.values()):
        sys.exit("a load was over at the first look at it: take a longer list")
    wrong = sum(
        entry["asked_routes"] != entry["counted_routes"] or entry["exit"] != 0 or entry["in_kernel_ns"] is None
        for by_round in loads.values()
        for entry in by_round.values()
    )
    if wrong:
        sys.exit(f"{wrong} loads ended otherwise than with all routes in the kernel: see {path}")

    disturbed = {
        number
        for by_round in loads.values()
        for number, e in by_round.items()
        if (e["other_cpu_ns"] + e["steal_ns"]) / e["in_kernel_ns"] > OTHERS_MOST
    }
    for by_round in loads.values():
        for number in disturbed & by_round.keys():
            del by_round[number]
    if not loads["mpps plain"]:
        sys.exit("others disturbed every round: run it when the machine is quieter")

    def rates(loader):
        return {number: e["asked_routes"] / e["in_kernel_ns"] * 1e9 for number, e in loads[loader].items()}

    def rates_seen(loader):
        """From the first routes that were seen on: without starting, reading a whole list first, or sorting it."""
        return {
            number: (e["asked_routes"] - e["first_seen_routes"]) / (e["in_kernel_ns"] - e["first_seen_ns"]) * 1e9
            for number, e in loads[loader].items()
        }

    print(
        "| loader | routes/s from the process's start, median (range) | beside | so many times as fast, median of rounds (range) "
        "| from its first route on, routes/s | times as fast | own CPU, s | times as much CPU a route | cleared in, s | others' CPU share | steal share |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for loader, by_round in loads.items():
        peer = PEERS[loader]
        both = [
            [ours[number] / theirs[number] for number in theirs]
            for ours, theirs in ((rates(peer), rates(loader)), (rates_seen(peer), rates_seen(loader)))
        ]
        entries = by_round.values()

        def share(name):
            return max(e[name] / e["in_kernel_ns"] for e in entries)

        cells = [
            spread(rates(loader).values(), ".0f"),
            peer,
            spread(both[0]),
            spread(rates_seen(loader).values(), ".0f"),
            spread(both[1]),
            f"{statistics.median(e['own_cpu_ns'] for e in entries) / 1e9:.2f}",
            spread([cpu_of_route(e) / cpu_of_route(loads[peer][number]) for number, e in by_round.items()]),
            f"{statistics.median(e['removing_ns'] for e in entries) / 1e9:.2f}",
            f"at most {share('other_cpu_ns'):.0%}",
            f"at most {share('steal_ns'):.1%}",
        ]
        print(f"| {loader} | {' | '.join(cells)} |")
    rounds = len(next(iter(loads.values())))
    print(
        f"\n{rounds} rounds, and {len(disturbed)} left out in which others took over {OTHERS_MOST:.0%} of a CPU. The clock ends when the kernel counts all routes (fib_triestat), for every loader. It begins with the "
        "process: reading the list or the file is in it, for mpps sorting too. mpps' counting back comes after the end."
    )
    print(
        "All in the same order and with the same next hops, but for the last two rows. Clearing is mpps table clear, and for BIRD "
        "its own end, which takes its routes away. Own CPU of mpps holds its counting back. Others' CPU holds the kernel's own threads and interrupts."
    )


main(sys.argv[1])
