"""Made-up people of a province, for the tutorial on a census: a seeded generator, no real person in it."""

from __future__ import annotations

import numpy as np
import pandas as pd

PEOPLE = 50_000
REGIONS = {
    "coast": {"Arden": 9_000, "Brey": 4_000, "Corran": 1_500},
    "valley": {"Dunmore": 12_000, "Esk": 6_000, "Fennick": 3_500, "Galen": 2_000},
    "hills": {"Hurnby": 7_000, "Ilkstow": 2_500, "Jarrow": 2_500},
}
"""The towns of each region, and about how many live there: they would be known from the last census."""
DEGREE = {"coast": 0.38, "valley": 0.26, "hills": 0.16}
"""How many of those between 25 and 64 have a degree."""
LESS_IN_THE_VALLEY = 0.18
"""How many fewer of its graduates have a high income: what the tutorial finds again."""


def residents() -> pd.DataFrame:
    """One row a person: `person_id`, `sex`, `age`, `town`, `education`, `income`."""
    rng = np.random.default_rng(1790)
    sizes = {town: size for towns in REGIONS.values() for town, size in towns.items()}
    region_of = {town: region for region, towns in REGIONS.items() for town in towns}
    town = rng.choice(list(sizes), PEOPLE, p=np.array(list(sizes.values())) / sum(sizes.values()))
    region = np.array([region_of[name] for name in town])
    sex = rng.choice(["F", "M"], PEOPLE, p=[0.51, 0.49])
    age = np.minimum(rng.gamma(3.2, 13, PEOPLE), 89).astype(int)
    graduates = np.array([DEGREE[name] for name in region]) * np.where(age < 25, 0.4, np.where(age < 65, 1.0, 0.6))
    degree = rng.random(PEOPLE) < np.where(age < 20, 0, graduates)
    school = rng.random(PEOPLE) < np.where(age < 16, 0, 0.8)
    education = np.where(degree, "degree", np.where(school, "school", "none"))
    high = np.where(degree, 0.45 - LESS_IN_THE_VALLEY * (region == "valley"), 0.12) - 0.05 * (sex == "F")
    middle = np.where(age < 65, 0.45, 0.35)
    drawn = rng.random(PEOPLE)
    earned = np.where(drawn < high, "high", np.where(drawn < high + middle, "middle", "low"))
    return pd.DataFrame(
        {
            "person_id": rng.permutation(PEOPLE),
            "sex": sex,
            "age": age,
            "town": town,
            "education": education,
            "income": np.where(age < 20, "low", earned),
        }
    )
