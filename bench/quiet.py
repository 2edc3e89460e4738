"""How much CPU time the whole machine used, and waiting until nobody uses it; for the benches of programs."""
import os
import time

TICKS = os.sysconf("SC_CLK_TCK")
# A machine is quiet when others use less than this of a CPU for a second.
QUIET_SHARE = 0.1


def machine():
    """CPU time of the whole machine, s: used by programs and the kernel, taken by the hypervisor."""
    user, nice, system, _, _, irq, softirq, steal, *_ = map(int, open("/proc/stat", encoding="ascii").readline().split()[1:])
    return (user + nice + system + irq + softirq) / TICKS, steal / TICKS


def wait_until_quiet(most_s):
    """Seconds waited; goes on when the machine never is."""
    begun = time.monotonic()
    while time.monotonic() - begun < most_s:
        before = machine()[0]
        time.sleep(1)
        if machine()[0] - before < QUIET_SHARE:
            break
    return time.monotonic() - begun
