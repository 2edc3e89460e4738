#!/usr/bin/env bash
# The machine a run was made on, for its machine.txt.
set -euo pipefail
uname -srvm
grep -m1 'model name' /proc/cpuinfo
echo "CPUs: $(nproc)"
grep -h . /sys/devices/system/cpu/vulnerabilities/* | sort -u
