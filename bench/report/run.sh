#!/usr/bin/env bash
# Time and memory of each format of `mpps report`, and of `mpps show`, for a record of 2 GB; and how long Chromium takes to show
# a page of 10 000 trials (the test prints it). Needs GNU time, Chromium and 3 GB below OUT_FOLDER's file system.
# usage: bench/report/run.sh OUT_FOLDER [OCTETS]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
out=${1:?"usage: bench/report/run.sh OUT_FOLDER [OCTETS]"}
octets=${2:-2000000000}
cargo build --quiet --release -p mpps-cli
mkdir -p "$out"
folder=$(mktemp -d -p "$out")
trap 'rm -r "$folder"' EXIT
bench/machine.sh > "$out/machine.txt"
echo "bench/report/run.sh OUT_FOLDER $octets" > "$out/command.txt"
{
    python3 bench/report/big.py crates/record/tests/golden/bed.jsonl "$octets" 2>&1 > "$folder/big.jsonl"
    echo
    echo '| output | seconds | most memory, MB | size, octets |'
    echo '|---|---|---|---|'
    for format in html csv md json openmetrics show; do
        case $format in
            show) command=(target/release/mpps show "$folder/big.jsonl") ;;
            html) command=(target/release/mpps report "$folder/big.jsonl" --output "$folder/page.html") ;;
            *) command=(target/release/mpps report --format "$format" "$folder/big.jsonl") ;;
        esac
        /usr/bin/time -f '%e %M' -o "$folder/time" "${command[@]}" > "$folder/page.$format.out" 2> /dev/null
        [ $format != html ] || mv "$folder/page.html" "$folder/page.html.out"
        read -r seconds kilobytes < "$folder/time"
        echo "| $format | $seconds | $((kilobytes / 1000)) | $(stat -c %s "$folder/page.$format.out") |"
    done
    echo
    for _ in 1 2 3; do
        cargo test -q -p mpps-report --test all browser:: -- --nocapture --test-threads 1 2>&1 |
            sed -n 's/.*"shown after ms", "\([0-9]*\)".*/A page of 10 000 trials was shown after \1 ms./p'
    done
} > "$out/summary.md"
cat "$out/summary.md"
