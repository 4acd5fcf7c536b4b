"""Run as a program: how many megabytes a count of a file takes beyond what a count of next to nothing takes."""

import resource
import sys
from pathlib import Path

import sparsedp as sdp


def peak() -> int:
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1000
    return int(next(line.split()[1] for line in status.read_text().splitlines() if line.startswith("VmHWM"))) // 1000


if __name__ == "__main__":
    few, many = sys.argv[1:]
    domain = sdp.Domain.parse(["age:0..99"])
    sdp.count(few, domain, privacy_unit="who", max_contributions=3)
    before = peak()
    sdp.count(many, domain, privacy_unit="who", max_contributions=3)
    print(peak() - before)
