"""Genotype counts of a case-control study: the script of docs/tutorials/allele-counts.md.

The data are made up (`synthetic_genomes.py`). Run it anywhere; it writes to out/tutorials.
"""

from __future__ import annotations

import argparse
import math
from datetime import datetime
from fractions import Fraction
from pathlib import Path

import numpy as np

import sparsedp as sdp
from synthetic_genomes import SNPS, genotypes

OUT = Path(f"out/tutorials/alleles-{datetime.now():%Y%m%d-%H%M%S}")  # a new one each time: no ledger is deleted
OUT.mkdir(parents=True)

# ---- before anything is spent: what would each design cost?

RHO = Fraction("0.0243")  # ε = 1 with δ = 10⁻⁶ buys as much; ρ adds up
PEOPLE = 12_000  # known from the study's plan
one_site = sdp.Domain.parse(["status:case,control", "minor:0,1,2"])  # how many minor alleles: 0, 1, 2


def noise(domain: sdp.Domain, budget: sdp.Budget, sites: int) -> float:
    """The standard deviation of the noise on one count, where a person adds a record for each of so many sites."""
    guess = sdp.preview(
        domain,
        epsilon=budget,
        contribution=sites,
        total=PEOPLE * sites,
        smoothness="smooth",
        mechanism="laplace",
        runs=1,
    )
    return float(guess.table[0]["laplace"])  # known without simulating: one run will do


print("sites   one table, ε = 1   one table, ρ   a release for each site, ρ in all")
for sites in (16, 128, 1024):
    all_sites = sdp.Domain.parse(["status:case,control", f"site:1..{sites}", "minor:0,1,2"])
    pure = noise(all_sites, sdp.Budget(epsilon=1), sites)
    gaussian = noise(all_sites, sdp.Budget(rho=RHO), sites)
    apart = noise(one_site, sdp.Budget(rho=RHO / sites), 1)
    print(f"{sites:>5,}   {pure:>16,.0f}   {gaussian:>12,.0f}   {apart:>33,.0f}")

# ---- the release: sixteen sites, chosen from what others have published

books = sdp.open_ledger(OUT / "ledger.db")
study = books.declare("study of 2026", epsilon=1, delta="1e-6", composition="zcdp")  # counted in ρ
people = genotypes()  # one row a person: person, status, and a column of minor alleles for each site
for site in SNPS:
    counts = sdp.count(people, one_site, privacy_unit="person", max_contributions=1, columns={"minor": site})
    release = sdp.release(counts, rho=RHO / len(SNPS), mechanism="laplace", ledger=study)
    release.save(OUT / f"{site}.parquet")
print(study)

# ---- from here on, published files only: the χ² of each site, with the noise in it


def association(release: sdp.Release) -> tuple[float, float, float]:
    """The difference in the minor allele's frequency, cases less controls; its sampling and its noise variance."""
    minor = np.arange(3)
    alleles = 2 * release.values.sum(axis=1)
    frequency = release.values @ minor / alleles
    pooled = float(frequency @ alleles / alleles.sum())
    sampling = pooled * (1 - pooled) * (1 / alleles).sum()
    slope = (minor - 2 * pooled) / alleles[:, None]  # how the frequency moves with each published count
    added = ((slope * np.asarray(release.stderr)) ** 2).sum()
    return float(frequency[0] - frequency[1]), float(sampling), float(added)


print("site      cases − controls         χ²   χ² if the noise is forgotten")
for site in SNPS:
    difference, sampling, added = association(sdp.open_release(OUT / f"{site}.parquet"))
    chi2, naive = difference**2 / (sampling + added), difference**2 / sampling
    half = 1.96 * math.sqrt(sampling + added)
    found = math.erfc(math.sqrt(chi2 / 2)) < 0.05 / len(SNPS)  # p of χ² with one degree of freedom, Bonferroni
    print(f"{site}   {difference:+.3f} ± {half:.3f}   {chi2:8.1f}   {naive:8.1f}{'   associated' if found else ''}")

# ---- the picture

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--picture", type=Path, help="draw it into this file")
picture = parser.parse_args().picture
if picture is not None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    found_here = [association(sdp.open_release(OUT / f"{site}.parquet")) for site in SNPS]
    differences, variances = [row[0] for row in found_here], [row[1] + row[2] for row in found_here]
    figure, axis = plt.subplots(figsize=(8, 2.8), layout="constrained")
    axis.axhline(0, color="0.7", linewidth=0.8)
    axis.errorbar(SNPS, differences, yerr=1.96 * np.sqrt(variances), fmt="o", markersize=4, capsize=3)
    axis.tick_params(axis="x", rotation=60, labelsize=8)
    axis.set_ylabel("minor allele,\ncases − controls")
    axis.set_title("From the published counts: a made-up study, ρ = 0.0243 for one person", loc="left", fontsize=10)
    figure.savefig(picture, dpi=100)
    print(f"The picture is {picture}.")
