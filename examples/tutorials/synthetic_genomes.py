"""A made-up genome study, for the tutorial on allele counts: a seeded generator, no real person in it."""

from __future__ import annotations

import numpy as np
import pandas as pd

CASES, CONTROLS = 6_000, 6_000
SNPS = tuple(f"rs{number}" for number in range(1001, 1017))
"""Sixteen sites of one region, made up."""

ASSOCIATED = {"rs1004": 1.2, "rs1011": 0.85}
"""The sites that matter, and the ratio of the odds of the minor allele among cases to that among controls."""


def genotypes() -> pd.DataFrame:
    """One row a person: `person`, `status` ("case" or "control"), and for each site how many minor alleles, 0, 1, 2."""
    rng = np.random.default_rng(1953)
    case = np.arange(CASES + CONTROLS) < CASES
    rows = {"person": rng.permutation(10 * case.size)[: case.size], "status": np.where(case, "case", "control")}
    for site in SNPS:
        odds = 1 / (1 / rng.uniform(0.15, 0.45) - 1)
        odds_of_each = np.where(case, odds * ASSOCIATED.get(site, 1.0), odds)
        rows[site] = rng.binomial(2, odds_of_each / (1 + odds_of_each))
    return pd.DataFrame(rows).sample(frac=1, random_state=1, ignore_index=True)
