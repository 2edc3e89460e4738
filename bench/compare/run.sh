#!/usr/bin/env bash
# Comparisons of two set-ups, each on new beds, one after the other; then what an idle second bed costs the first.
# usage: bench/compare/run.sh OUT_FOLDER [RUNS] [SECONDS] [WITHIN] [SETUP_A] [SETUP_B]     (as root; - is no set-up script)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
out=${1:?"usage: bench/compare/run.sh OUT_FOLDER [RUNS] [SECONDS] [WITHIN] [SETUP_A] [SETUP_B]"}
command=(target/release/examples/compare "${2:-100}" "${3:-120}" "${4:-0.02}" "${5:--}" "${6:--}")
idle=(target/release/examples/idle_bed "${3:-120}")
cargo build --quiet --release -p mpps-lab --example compare --example idle_bed
mkdir -p "$out"
printf '%s\n' "${command[*]}" "${idle[*]}" > "$out/command.txt"
bench/machine.sh > "$out/machine.txt"
"${command[@]}" > "$out/raw.json"
"${idle[@]}" > "$out/idle.txt"
python3 bench/compare/summarise.py "$out/raw.json" | tee "$out/summary.md"
