"""Makes seeds for the fuzz targets from real dumps: a few records, lines and packed files each, a few kB.

usage: python3 fuzz/seeds.py FILE...    (MRT dumps, plain or packed by gzip or bzip2, and lists packed by xz)

They go to fuzz/corpus/TARGET/, where cargo fuzz looks first. bgpdump and zstd are used where they are installed.
"""
import bz2
import gzip
import lzma
import pathlib
import shutil
import struct
import subprocess
import sys

CORPUS = pathlib.Path(__file__).resolve().parent / "corpus"
# Small seeds mutate well.
RECORDS, OCTETS = 9, 6000


def records(file):
    """The first MRT records of a file (RFC 6396 section 2): header of 12 octets, length in the last four."""
    found = []
    while len(found) < RECORDS:
        head = file.read(12)
        if len(head) < 12:
            break
        found.append(head + file.read(struct.unpack(">I", head[8:])[0]))
    return found


def seed(target, name, octets):
    folder = CORPUS / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(octets)


def packed(name, octets):
    seed("packed", f"{name}.gz", gzip.compress(octets))
    seed("packed", f"{name}.bz2", bz2.compress(octets))
    seed("packed", f"{name}.xz", lzma.compress(octets))
    if shutil.which("zstd"):
        zstd = subprocess.run(["zstd", "-c"], input=octets, stdout=subprocess.PIPE, check=True)
        seed("packed", f"{name}.zst", zstd.stdout)


def of_dump(path, opened):
    first = records(opened(path))
    for number, record in enumerate(first):
        seed("record", f"{path.name}-{number}", record)
    # The target begins with a peer table of its own.
    seed("mrt", path.name, b"".join(first[1:])[:OCTETS])
    packed(path.name, b"".join(first[:6])[:OCTETS])
    if shutil.which("bgpdump"):
        words = ["bgpdump", "-m", str(path)]
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as dump:
            seed("bgpdump", path.name, dump.stdout.read(OCTETS // 2))
            dump.kill()


for argument in sys.argv[1:] or sys.exit(__doc__):
    place = pathlib.Path(argument)
    if place.suffix == ".xz":
        target = "changes" if "updates" in place.name else "list"
        seed(target, place.name, lzma.open(place).read(OCTETS // 2))
    elif place.suffix == ".bz2":
        of_dump(place, bz2.open)
    elif place.suffix == ".gz":
        of_dump(place, gzip.open)
    else:
        of_dump(place, lambda path: path.open("rb"))
