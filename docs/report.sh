#!/bin/sh
# Makes docs/report.png again: the beginning of the report on a record, by default on the run that README.md shows.
# usage: docs/report.sh [RECORD]    (needs chromium and pngquant: apt-get install chromium pngquant)
set -eu
cd "$(dirname "$0")/.."
record=${1:-bench/runs/2026-11-28-xeon-vm-2cpu/readme/raw.jsonl.xz}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
case $record in *.xz) unpack='xz -dc' ;; *) unpack=cat ;; esac
$unpack "$record" > "$work/raw.jsonl"
# The page shows the name as it was given.
manifest=$PWD/Cargo.toml
(cd "$work" && cargo run --quiet --manifest-path "$manifest" --package mpps-cli -- report raw.jsonl --output report.html)
chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --disable-lcd-text \
    --font-render-hinting=none --user-data-dir="$work/profile" --window-size=1000,1690 \
    --screenshot="$work/report.png" "$work/report.html" 2>"$work/log" || { cat "$work/log" >&2; exit 1; }
pngquant --force --speed 1 --strip 128 --output docs/report.png "$work/report.png"
