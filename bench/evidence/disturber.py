"""Takes a CPU for 5 ms ten times a second, above every fair task: `disturber.py CPU`. Ends with the program that began it."""
import os
import sys
import time

os.sched_setaffinity(0, {int(sys.argv[1])})
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
while os.getppid() != 1:
    time.sleep(0.095)
    end = time.monotonic() + 0.005
    while time.monotonic() < end:
        pass
