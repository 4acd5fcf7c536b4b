"""Run as a program: save a release where no file may grow beyond a limit, as on a full disk; print what is said."""

import json
import os
import resource
import sys
from pathlib import Path

import numpy as np

import sparsedp as sdp

if __name__ == "__main__":
    target = Path(sys.argv[1])
    release = sdp.Laplace().release(np.arange(5000), epsilon=1)
    heard = []
    for size in (0, 100, 5000, 20_000):
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
        try:
            release.save(target)
            heard.append("")
        except sdp.BadFile as error:
            heard.append(str(error))
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    print(json.dumps({"heard": heard, "left": sorted(os.listdir(target.parent))}))
