#!/usr/bin/env bash
# The default answer for one frame size, again and again: is there always one, what limits it, how well does it repeat?
# usage: bench/overload/run.sh OUT_FOLDER MPPS [RUNS] [SECONDS_BETWEEN]     (as root; MPPS is the program)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
usage="usage: bench/overload/run.sh OUT_FOLDER MPPS [RUNS] [SECONDS_BETWEEN]"
out=${1:?$usage} mpps=${2:?$usage} runs=${3:-20} between=${4:-0}
mkdir -p "$out"
echo "bench/overload/run.sh OUT_FOLDER MPPS $runs $between: each run is 'mpps throughput --frame 64 --json'" > "$out/command.txt"
bash bench/machine.sh > "$out/machine.txt"
: > "$out/raw.jsonl"
for run in $(seq "$runs"); do
  code=0
  result=$("$mpps" throughput --frame 64 --json --quiet --record "$out/trials.jsonl" 2> "$out/errors.txt") || code=$?
  # By the trials, because the program may have waited for another run to end.
  took=$(jq -s 'map(select(.kind == "run"))[-1].run as $run | map(select(.kind == "trial" and .run == $run))
    | max_by(.trial) | (.begun_after_ns + .duration_ns) / 1e9 | round' "$out/trials.jsonl")
  jq -c --argjson run "$run" --argjson code "$code" --argjson took "$took" \
    '{run: $run, exit_code: $code, took_s: $took, results: .results}' <<< "${result:-{\}}" >> "$out/raw.jsonl"
  sleep "$between"
done
rm -f "$out/errors.txt"
python3 bench/overload/summarise.py "$out" | tee "$out/summary.md"
