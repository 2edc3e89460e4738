#!/bin/sh
# Writes the answers that our MLRsearch is held against, by the PyPI package of its authors over the random trial sets of a
# seed, and runs the differential test. The committed answers are of the usual seed. Debian's Python needs python3-venv.
set -eu
cd "$(dirname "$0")"
venv=../../../../target/mlrsearch-venv
python3 -m venv "$venv"
"$venv/bin/pip" install --quiet MLRsearch==1.2.1
"$venv/bin/python" oracle.py "${1:-9971}" 400 > "$venv/answers.txt"
mv "$venv/answers.txt" answers.txt
cargo test --package mpps-method --test all mlrsearch::
