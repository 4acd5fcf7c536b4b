"""A census-like table: five axes, towns in regions, and which of its marginals can be asked."""

from __future__ import annotations

import argparse
from datetime import datetime
from pathlib import Path

import numpy as np

import sparsedp as sdp
from synthetic_census import PEOPLE, REGIONS, residents

OUT = Path(f"out/tutorials/census-{datetime.now():%Y%m%d-%H%M%S}")  # a new one each time: no ledger is deleted
OUT.mkdir(parents=True)

# ---- the cells

towns = {region: list(sizes) for region, sizes in REGIONS.items()}
table = sdp.Domain.of(
    [
        "sex:F,M",
        "age:0..90/10",
        sdp.Categories("town", towns, levels=["region"]),  # every town in one region
        "education:none,school,degree",
        "income:low<middle<high",  # labels whose order means something
    ]
)
for name, cells in zip(table.names, table.shape, strict=True):
    print(f"{name}: {cells} cells", *(f"or by {name}.{groups}" for groups in table.axis(name).coarsenings))

# ---- the question comes before the budget

asked = sdp.Adaptive([("town.region", "education", "income"), ("sex", "age"), ("town",)])
preview = sdp.preview(table, epsilon="0.1", total=PEOPLE, smoothness="linked", mechanism=asked, runs=2)
for row in preview.questions:
    size = f"{row['entries']:>5,} × about {row['entry']:>6,.0f}"
    print(f"{row['question']:<18} {size} ± {row['error']:3.0f}  {row['verdict']}")

# ---- from records to a published file

ledger = sdp.open_ledger(OUT / "ledger.db").declare("census", epsilon=1)
sdp.publish(
    residents(),
    domain=table,
    privacy_unit="person_id",
    max_contributions=1,
    epsilon="0.1",
    mechanism=asked,
    ledger=ledger,
    to=OUT / "census.release.parquet",
)

# ---- marginals with their errors

published = sdp.open_release(OUT / "census.release.parquet")
print(published.marginal("town").to_pandas().round(1).to_string(index=False))
print("All who live in the hills, from 60 on:", published.interval({"town.region": "hills", "age": (60, 90)}))

by_region = published.marginal("town.region", "education", "income")
shares, errors = [], []
for number, region in enumerate(REGIONS):
    graduates = by_region.values[number, 2]  # of low, middle and high income
    share = graduates[2] / graduates.sum()
    beside = np.zeros(by_region.shape)  # those who earn much, less the share of all: its error is the share's
    beside[number, 2] = -share
    beside[number, 2, 2] += 1
    off = by_region.interval(beside)
    shares.append(share)
    errors.append((off.high - off.estimate) / graduates.sum())
    print(f"{region:<6} {share:.0%} ± {errors[-1]:.0%} of {graduates.sum():,.0f} graduates have a high income")

# ---- what not to ask

rare = {"sex": "F", "age": (70, 90), "town": "Jarrow", "education": "degree", "income": "high"}
print("Women of Jarrow, 70 or older, with a degree and a high income:", published.interval(rare))
print(ledger)

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--picture", type=Path, help="draw it into this file")
picture = parser.parse_args().picture
if picture is not None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, (ages, incomes) = plt.subplots(1, 2, figsize=(8, 2.8), width_ratios=[3, 2], layout="constrained")
    by_age = published.marginal("sex", "age")
    for number, (sex, colour) in enumerate({"women": "tab:purple", "men": "tab:green"}.items()):
        off_by = 1.96 * np.asarray(by_age.stderr)[number]
        ages.errorbar(np.arange(5, 90, 10), by_age.values[number], off_by, fmt="o-", ms=3, color=colour, label=sex)
    ages.set_xlabel("age")
    ages.set_title("Residents by sex and age", loc="left", fontsize=10)
    ages.legend(fontsize=8)
    incomes.bar(list(REGIONS), shares, yerr=errors, color="0.75", capsize=4)
    incomes.yaxis.set_major_formatter(mpl.ticker.PercentFormatter(1, decimals=0))
    incomes.set_title("Graduates with a high income", loc="left", fontsize=10)
    figure.savefig(picture, dpi=100)
    print(f"The picture is {picture}.")
