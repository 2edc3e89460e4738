#!/usr/bin/env bash
# The ledger and the tester over the whole range of loads: one trial at each, in changing order, many rounds.
# usage: bench/sweep/run.sh OUT_FOLDER [ROUNDS] [SECONDS] [SETUP_SCRIPT]     (as root)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
out=${1:?"usage: bench/sweep/run.sh OUT_FOLDER [ROUNDS] [SECONDS] [SETUP_SCRIPT]"}
command=(target/release/examples/sweep "${2:-10}" "${3:-1}" ${4:+"$4"})
cargo build --quiet --release -p mpps-lab --example sweep
mkdir -p "$out"
printf '%s\n' "${command[*]}" > "$out/command.txt"
bench/machine.sh > "$out/machine.txt"
"${command[@]}" > "$out/raw.csv"
python3 bench/sweep/summarise.py "$out/raw.csv" | tee "$out/summary.md"
