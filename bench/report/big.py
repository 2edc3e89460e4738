#!/usr/bin/env python3
"""Writes a record of so many octets: a record's trials again and again, each with a number of its own.

usage: big.py RECORD_JSONL OCTETS > BIG_JSONL
"""
import re
import sys

lines = open(sys.argv[1], encoding="utf-8").read().splitlines()
trials = [line for line in lines if '"kind":"trial"' in line]
others = [line for line in lines if '"kind":"trial"' not in line]
print(others[0])
number = octets = 0
while octets < int(sys.argv[2]):
    for trial in trials:
        number += 1
        line = re.sub(r'"trial":\d+', f'"trial":{number}', trial, count=1)
        print(line)
        octets += len(line) + 1
print("\n".join(others[1:]))
print(f"{number} trials, {octets} octets", file=sys.stderr)
