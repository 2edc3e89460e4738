#!/usr/bin/env bash
# The cost of looking of `mpps explain --cpus`: the frames/s of a full router with it and without it, in pairs.
# usage: bench/explain/watch-cost.sh OUT_FOLDER MPPS [PAIRS] [DUT_CPU]     (as root; 16 pairs take 3 min, 50 are the most)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
usage="usage: bench/explain/watch-cost.sh OUT_FOLDER MPPS [PAIRS] [DUT_CPU]"
out=${1:?"$usage"}
mpps=${2:?"$usage"}
pairs=${3:-16}
cpu=${4:-1}
load=(trial --frame 64 --rate max --dut-cpus "$cpu" --no-wire --time "$((pairs * 11 + 30))" --quiet)
look=(explain --cpus "$cpu" --for 3 --quiet)
mkdir -p "$out"
bench/machine.sh > "$out/machine.txt"
printf '%s\n' "MPPS ${load[*]} &" "MPPS ${look[*]}   (in one half of each of $pairs pairs, A B B A)" > "$out/command.txt"
"$mpps" "${load[@]}" > "$out/load.txt" & loading=$!
trap 'kill -TERM $loading 2> /dev/null || true; wait $loading || true; rm -f "$out/load.txt"' EXIT
python3 bench/explain/watch_cost.py "$out/raw.jsonl" "$pairs" "$cpu" "$mpps" "${look[@]}" | tee "$out/summary.md"
