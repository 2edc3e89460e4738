#!/usr/bin/env bash
# From MRT to prefixes: `mpps table read` against Debian's `bgpdump -m` on the same files, in pairs, one right after the other.
# usage: bench/mrt/run.sh OUT_FOLDER FILE_FOLDER [PAIRS]   (no rights needed; FILE_FOLDER holds dumps: *.bz2, *.gz)
# before: apt-get install bgpdump; cargo build --release -p mpps-cli
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
out=${1:?"usage: bench/mrt/run.sh OUT_FOLDER FILE_FOLDER [PAIRS]"}
files=${2:?"usage: bench/mrt/run.sh OUT_FOLDER FILE_FOLDER [PAIRS]"}
pairs=${3:-7}
mpps=target/release/mpps
mkdir -p "$out"
{
	echo "ours:    mpps table read --json FILE > /dev/null"
	echo "bgpdump: bgpdump -m FILE > /dev/null"
	dpkg-query -W -f '${Package} ${Version}\n' bgpdump
} > "$out/command.txt"
bench/machine.sh > "$out/machine.txt"
python3 bench/mrt/pairs.py "$mpps" "$pairs" "$files"/*.bz2 "$files"/*bview*.gz "$files"/*mrt.gz > "$out/raw.jsonl"
python3 bench/mrt/summarise.py "$out/raw.jsonl" | tee "$out/summary.md"
