#!/usr/bin/env bash
# From MRT to prefixes: `mpps table read` against parsers' bare loops on the same files, one right after the other:
# libbgpdump (libbgpdump_loop.c), bgpkit-parser and mrt-rs (rust-peer), and against the whole of Debian's `bgpdump -m`.
# Each file is read twice: packed as it came, and unpacked, where parsing is all there is.
# usage: bench/mrt/run.sh OUT_FOLDER FILE_FOLDER [PAIRS]   (FILE_FOLDER holds dumps: *.bz2, *.gz; root for the packages)
# before: cargo build --release -p mpps-cli
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
out=${1:?"usage: bench/mrt/run.sh OUT_FOLDER FILE_FOLDER [PAIRS]"}
files=${2:?"usage: bench/mrt/run.sh OUT_FOLDER FILE_FOLDER [PAIRS]"}
pairs=${3:-7}
mpps=target/release/mpps
build=target/bench-mrt
loop=$build/libbgpdump_loop
peer=$build/release/rust-peer
mkdir -p "$out" "$build"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
if ! command -v bgpdump > /dev/null; then
	apt-get update > /dev/null
	apt-get install -y --no-install-recommends bgpdump > /dev/null
fi
# Debian packs the program bgpdump and not its library: the library is built from the source of that package, with
# Debian's own optimisation. The machine's own package sources say where it lies.
library_source() {
	local apt=(-o APT::Sandbox::User=root -o "Dir::Etc::sourcelist=$tmp/apt/sources.list" -o "Dir::Etc::sourceparts=$tmp/apt/parts" -o "Dir::State::lists=$tmp/apt/lists")
	mkdir -p "$tmp/apt/parts" "$tmp/apt/lists/partial"
	touch "$tmp/apt/sources.list"
	[ ! -e /etc/apt/sources.list ] || sed -n 's/^deb /deb-src /p' /etc/apt/sources.list > "$tmp/apt/sources.list"
	[ ! -e /etc/apt/sources.list.d/debian.sources ] ||
		sed 's/^Types:.*/Types: deb-src/' /etc/apt/sources.list.d/debian.sources > "$tmp/apt/parts/debian.sources"
	apt-get "${apt[@]}" update > /dev/null
	(cd "$tmp" && apt-get "${apt[@]}" source --download-only --tar-only bgpdump > /dev/null && tar xf bgpdump_*.orig.tar.*)
}
if [ ! -x "$loop" ]; then
	for header in zlib bzlib; do
		[ -e "/usr/include/$header.h" ] || { echo "bench/mrt: needs zlib1g-dev and libbz2-dev" >&2; exit 2; }
	done
	library_source
	library=$(echo "$tmp"/bgpdump-*/)
	# What its configure script would find here.
	printf '#define PACKAGE_VERSION "%s"\n' "$(basename "$library" | cut -d- -f2)" > "$library/bgpdump-config.h"
	cc -O2 -w -I "$library" -o "$loop" bench/mrt/libbgpdump_loop.c \
		"$library"/{bgpdump_lib,bgpdump_mstream,cfile_tools,util,inet_ntop}.c -lz -lbz2
	basename "$library" > "$build/library"
fi
CARGO_TARGET_DIR=$PWD/$build cargo build --release --locked --quiet --manifest-path bench/mrt/rust-peer/Cargo.toml
{
	echo "ours:           mpps table read --json FILE"
	echo "libbgpdump:     libbgpdump_loop FILE    (bench/mrt/libbgpdump_loop.c, cc -O2, $(cat "$build/library"))"
	echo "bgpkit-records: rust-peer bgpkit-records FILE    (bench/mrt/rust-peer, release)"
	echo "bgpkit-routes:  rust-peer bgpkit-routes FILE"
	echo "mrt-rs:         rust-peer mrt-rs FILE"
	echo "bgpdump:        bgpdump -m FILE > /dev/null"
	dpkg-query -W -f '${Package} ${Version}\n' bgpdump
	awk -F '"' '/^name = "(bgpkit-parser|mrt-rs)"/ { name = $2 } /^version/ && name { print name, $2; name = "" }' bench/mrt/rust-peer/Cargo.lock
} > "$out/command.txt"
bench/machine.sh > "$out/machine.txt"
for file in "$files"/*.bz2 "$files"/*bview*.gz "$files"/*mrt.gz; do
	name=$(basename "$file")
	case $name in
		*.bz2) bzip2 -dc "$file" > "$tmp/${name%.bz2}" ;;
		*) gzip -dc "$file" > "$tmp/${name%.gz}" ;;
	esac
	packed+=("$file")
	plain+=("$tmp/${name%.*}")
done
# Pairs are added to those that are there.
touch "$out/raw.jsonl"
first=$(python3 -c 'import json, sys; print(max((json.loads(l).get("pair", -1) for l in open(sys.argv[1])), default=-1) + 1)' "$out/raw.jsonl")
python3 bench/mrt/pairs.py "$mpps" "$loop" "$peer" "$first" "$pairs" "${packed[@]}" "${plain[@]}" >> "$out/raw.jsonl"
python3 bench/mrt/summarise.py "$out/raw.jsonl" | tee "$out/summary.md"
