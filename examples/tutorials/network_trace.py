"""A week of network flows, and a worm found in the published table: the script of docs/tutorials/network-trace.md.

The data are made up (`synthetic_trace.py`). Run it anywhere; it writes to out/tutorials.
"""

from __future__ import annotations

import argparse
from datetime import datetime
from pathlib import Path

import numpy as np

import sparsedp as sdp
from synthetic_trace import PORTS, flows

OUT = Path(f"out/tutorials/trace-{datetime.now():%Y%m%d-%H%M%S}")  # a new one each time: no ledger is deleted
OUT.mkdir(parents=True)

# ---- the cells, the person, the budget

week = sdp.Domain.parse(
    [
        "hour:2026-03-02..2026-03-08/1h",  # the whole of Sunday, the 8th, is in
        "port:" + ",".join(map(str, PORTS)),  # public services; flows to other ports are left out
    ]
)
books = sdp.open_ledger(OUT / "ledger.db")
books.declare("flows-week-10", epsilon=1)

mechanism = sdp.Adaptive(workload="cells")  # a matrix computation looks at single cells
print(sdp.preview(week, epsilon=1, contribution=10, total=150_000, smoothness="smooth", mechanism=mechanism, runs=4))

# ---- from flows to a published file

trace = flows()  # one row a flow: subscriber, started, port
counts = sdp.count(trace, week, privacy_unit="subscriber", max_contributions=10, columns={"hour": "started"})
release = sdp.release(counts, epsilon=1, mechanism=mechanism, ledger=books["flows-week-10"])
release.save(OUT / "flows.release.parquet")

# ---- from here on, the published file only

published = sdp.open_release(OUT / "flows.release.parquet")
print(published.guarantee)


def low_rank(table: np.ndarray, rank: int, rounds: int = 10) -> np.ndarray:
    """The few rhythms that the columns have in common, found by singular values, without what stands out of them.

    One rhythm after another, and in each round cells that are far off are put back to what the last round said
    (alternating projections, Netrapalli et al. 2014): else a large event would pass for a rhythm.
    """
    common = np.zeros_like(table)
    for rhythms in range(1, rank + 1):
        for _ in range(rounds):
            rest = table - common
            usual = 4 * 1.4826 * np.median(np.abs(rest - np.median(rest)))
            kept = np.where(np.abs(rest) > usual, common, table) if common.any() else table
            left, size, right = np.linalg.svd(kept, full_matrices=False)
            common = (left[:, :rhythms] * size[:rhythms]) @ right[:rhythms]
    return common


usual = low_rank(published.values, rank=3)
surprise = (published.values - usual) / np.asarray(published.stderr)
hours = np.arange("2026-03-02", "2026-03-09", dtype="datetime64[h]")
for hour, port in np.argwhere(surprise > 8):
    print(
        f"{hours[hour]} h, port {PORTS[port]}: {published.values[hour, port]:.0f} flows where {usual[hour, port]:.0f} "
        f"are usual, {surprise[hour, port]:.0f} standard errors too many"
    )

# ---- how large was it?

event = published.interval({"port": 445, "hour": ("2026-03-05T03", "2026-03-05T08")})
print(f"Kept flows to port 445 in those hours: {event.estimate:,.0f} ({event.low:,.0f} to {event.high:,.0f})")
more = event.low - usual[75:80, PORTS.index(445)].sum()
print(f"So at least about {more / 10:.0f} subscribers took part: nobody counts for more than ten.")

# ---- the picture

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--picture", type=Path, help="draw it into this file")
picture = parser.parse_args().picture
if picture is not None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained", sharey=True)
    titles = "published flows", "standard errors above the usual"
    for axis, shown, title in zip(axes, (published.values, surprise), titles, strict=True):
        image = axis.imshow(shown.T, aspect="auto", interpolation="nearest", cmap="viridis")
        axis.set_title(title, fontsize=10)
        axis.set_xlabel("hour of the week")
        figure.colorbar(image, ax=axis)
    axes[0].set_yticks(range(len(PORTS)), [str(port) for port in PORTS], fontsize=6)
    axes[0].set_ylabel("port")
    figure.savefig(picture, dpi=100)
    print(f"The picture is {picture}.")
