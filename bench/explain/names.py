"""Functions of a kernel's network path that stages.csv does not place.

usage: python3 bench/explain/names.py [--all] UNPACKED_KERNEL_PACKAGE [RESULT ...]

The package (`apt-get download linux-image-...`, `dpkg-deb -x`) has no System.map, so the names come from the image's own
kallsyms, and those of modules from their symbol tables. The network path is each function that a profile of ours saw
(crates/method/src/stage/tests/*.stacks, and the stacks of the results of `mpps explain --json` named), and what
such a function calls directly, without messages; --all lists all of it, which is how
crates/method/src/stage/tests/debian.names was made. Needs objdump, xz, and zstd or lz4 as the image is packed."""
import bisect
import glob
import json
import lzma
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

STAGES = pathlib.Path(__file__).parents[2] / "crates/method/src/stage"
CLONES = re.compile(r"\.(isra|part|constprop|cold|llvm)\b.*")
ALIASES = re.compile(r"^__(pfx|cfi|pi)_")
MODULES = ("nf_", "nft_", "x_tables", "xt_", "ip_tables", "veth", "bridge", "llc", "virtio_net", "virtio_ring")


# Messages and checks, which no frame reaches.
COLD = ("panic", "fortify_panic", "__fortify_panic", "_printk", "__warn_printk", "__stack_chk_fail", "___ratelimit", "net_ratelimit", "netdev_printk",
        "__dynamic_pr_debug", "bpf_warn_", "__traceiter_", "netdev_rx_csum_fault", "slab_out_of_memory", "alloc_debug_processing")


def plain(name):
    return CLONES.sub("", ALIASES.sub("", name))


class Rows:
    def __init__(self):
        rows = [line.split(",") for line in (STAGES / "stages.csv").read_text().splitlines()[1:]]
        self.exact = {name: stage for kind, name, stage, _ in rows if kind in ("exact", "mixed")}
        self.prefixes = {name: stage for kind, name, stage, _ in rows if kind == "prefix"}

    def stage(self, name):
        if name in self.exact:
            return self.exact[name]
        longest = max((prefix for prefix in self.prefixes if name.startswith(prefix)), key=len, default=None)
        return self.prefixes.get(longest)


def unpack(image):
    """The ELF file in a bzImage (Documentation/arch/x86/boot.rst: setup_sects, payload_offset, payload_length)."""
    offset, length = struct.unpack_from("<II", image, 0x248)
    packed = image[(image[0x1F1] + 1) * 512 + offset:][:length]
    if packed[:4] == b"\xfd7zX":
        return lzma.LZMADecompressor().decompress(packed)
    program = {b"\x28\xb5\x2f\xfd": "zstd", b"\x02\x21\x4c\x18": "lz4"}[packed[:4]]
    # The last 4 octets are the length.
    done = subprocess.run([program, "-dcq"], input=packed[:-4], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return done.stdout


def token_table(elf):
    """kallsyms_token_table, where it begins, and where kallsyms_token_index behind it ends (scripts/kallsyms.c)."""
    for digits in re.finditer(re.escape(b"".join(b"%d\0" % digit for digit in range(10))), elf):
        tokens, at = [], digits.start()
        for _ in range(256 - ord("0")):
            end = elf.index(b"\0", at)
            tokens.append(elf[at:end])
            at = end + 1
        before, end = [], digits.start() - 1
        for _ in range(ord("0")):
            start = elf.rfind(b"\0", 0, end)
            before.append(elf[start + 1:end])
            end = start
        tokens = before[::-1] + tokens
        starts = [0]
        for token in tokens[:-1]:
            starts.append(starts[-1] + len(token) + 1)
        if starts[-1] < 1 << 16:
            index = elf.find(struct.pack("<256H", *starts), at, at + 600)
            if index >= 0:
                return tokens, end + 1, index + 512
    sys.exit("no kallsyms_token_table in the image")


def names_before(elf, tokens, end):
    """kallsyms_num_syms and kallsyms_names: kinds and names by rising address, and where they begin."""
    for at in range(end - 6_000_000 & ~7, end, 8):
        number = struct.unpack_from("<I", elf, at)[0]
        if not 20_000 <= number <= 400_000:
            continue
        names, place = [], at + (4 if elf[at + 4] else 8)
        while len(names) < number:
            length, place = elf[place], place + 1
            if length & 0x80:
                length, place = length & 0x7F | elf[place] << 7, place + 1
            name = b"".join(tokens[octet] for octet in elf[place:place + length]).decode("latin1")
            place += length
            if place > end or not re.fullmatch(r"[a-zA-Z][\w.$@:-]+", name):
                break
            names.append(name)
        else:
            # Only kallsyms_markers and the like lie between.
            if end - place <= 4 * number:
                return names, at
    sys.exit("no kallsyms_names in the image")


def segments(elf):
    """The loaded parts: address, offset, octets."""
    start, = struct.unpack_from("<Q", elf, 32)
    number, = struct.unpack_from("<H", elf, 56)
    for at in range(start, start + 56 * number, 56):
        kind, _, offset, address, _, octets = struct.unpack_from("<IIQQQQ", elf, at)
        if kind == 1:
            yield address, offset, octets


def kernel_calls(image):
    """Which functions each function of the kernel calls or jumps to."""
    elf = unpack(image)
    tokens, table, behind = token_table(elf)
    names, number_at = names_before(elf, tokens, table)
    # Offsets lie before the names, and behind the token index from 6.4 on; then comes kallsyms_relative_base.
    for offsets_at in (number_at - 8 - (4 * len(names) + 7 & ~7), behind + 7 & ~7, behind + 3 & ~3):
        base, = struct.unpack_from("<Q", elf, offsets_at + (4 * len(names) + 7 & ~7))
        offsets = struct.unpack_from(f"<{len(names)}i", elf, offsets_at)
        if base >> 32 == 0xFFFFFFFF:
            break
    else:
        sys.exit("no kallsyms_offsets in the image")
    relative = any(offset < 0 for offset in offsets)
    addresses = [(base - 1 - offset if offset < 0 else offset) if relative else base + offset for offset in offsets]
    functions = {}
    for name, address in zip(names, addresses):
        if name[0] in "tTwW":
            functions.setdefault(address, name[1:])
    ordered = sorted(functions)
    calls = {}
    for address, offset, octets in segments(elf):
        for start in ordered[bisect.bisect_left(ordered, address):bisect.bisect_left(ordered, address + octets)]:
            after = bisect.bisect_right(ordered, start)
            end = min(ordered[after] if after < len(ordered) else start, address + octets)
            code = elf[offset + start - address:offset + end - address]
            called = calls.setdefault(plain(functions[start]), set())
            # call rel32, jmp rel32, jcc rel32: what lands on the first instruction of a function.
            for jump in re.finditer(rb"(?=\xe8|\xe9|\x0f[\x80-\x8f])", code):
                skip = jump.start() + (2 if code[jump.start()] == 0x0F else 1)
                if skip + 4 <= len(code):
                    target = start + skip + 4 + struct.unpack_from("<i", code, skip)[0]
                    if target in functions:
                        called.add(plain(functions[target]))
    return calls


def module_calls(path, calls):
    """The same of a module, by its relocations."""
    octets = path.read_bytes()
    with tempfile.NamedTemporaryFile(suffix=".ko") as file:
        file.write(lzma.decompress(octets) if path.suffix == ".xz" else octets)
        file.flush()
        text = subprocess.run(["objdump", "-dr", "--no-show-raw-insn", file.name], capture_output=True, text=True).stdout
    called = set()
    for line in text.splitlines():
        if begins := re.match(r"[0-9a-f]+ <([^>+]+)>:$", line):
            called = calls.setdefault(plain(begins[1]), set())
        elif target := re.search(r"R_X86_64_PLT32\s+([A-Za-z_][\w.]*)-0x4$|\b(?:call|jmp)\s+[0-9a-f]+ <([\w.]+)>$", line):
            called.add(plain(target[1] or target[2]))


def seen(results):
    """Functions in profiles."""
    names = set()
    for file in glob.glob(str(STAGES / "tests/*.stacks")):
        names |= {plain(line.split()[0]) for line in open(file)}

    def walk(value):
        if isinstance(value, dict):
            if isinstance(value.get("frames"), str) and "stages" in value:
                names.update(plain(name) for name in value["frames"].split(";"))
            value = list(value.values())
        for one in value if isinstance(value, list) else []:
            walk(one)

    for result in results:
        walk(json.load(open(result)))
    return names


def main():
    arguments = [word for word in sys.argv[1:] if word != "--all"]
    package, results = pathlib.Path(arguments[0]), arguments[1:]
    calls = kernel_calls(next((package / "boot").glob("vmlinuz-*")).read_bytes())
    for path in package.glob("**/*.ko*"):
        if path.name.startswith(MODULES):
            module_calls(path, calls)
    rows, saw = Rows(), seen(results)
    here = saw & calls.keys()
    callers = {}
    # Interrupts, timers and the scheduler are no part of a frame's way.
    for caller in (name for name in here if rows.stage(name) not in ("other", None)):
        for name in calls[caller]:
            callers.setdefault(name, set()).add(caller)
    path = sorted(name for name in here | callers.keys() if not name.startswith(COLD))
    if "--all" in sys.argv:
        print(*path, sep="\n")
        return
    without = [name for name in path if rows.stage(name) is None]
    print(f"{len(calls)} functions, {len(here)} of {len(saw)} seen ones, {len(path)} in the path, {len(without)} without a row")
    for name in without:
        print(name, "seen" if name in here else "called by", *sorted(callers.get(name, ()))[:4])


main()
