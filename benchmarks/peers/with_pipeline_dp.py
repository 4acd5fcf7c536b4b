"""PipelineDP on its local backend: records with a person each, bounded, counted in public cells, Google DP's noise."""

from __future__ import annotations

import numpy as np
import pipeline_dp

from peers.contender import PEOPLE, Contender, Run
from sparsedp.arrays import Floats, Ints

GUARANTEE = (
    "pure ε for people: Google DP's Laplace noise on a grid of 2⁻⁴⁰ of its scale, not rounded; which records of a "
    "person are kept is drawn by numpy's generator"
)


def counted(counts: Ints, epsilon: str) -> Run:
    cells = range(counts.size)
    records = list(enumerate(np.repeat(np.arange(counts.size), counts).tolist()))
    asked = pipeline_dp.AggregateParams(
        metrics=[pipeline_dp.Metrics.COUNT],
        noise_kind=pipeline_dp.NoiseKind.LAPLACE,
        max_partitions_contributed=1,
        max_contributions_per_partition=1,
    )
    columns = pipeline_dp.DataExtractors(
        privacy_id_extractor=lambda record: record[0],
        partition_extractor=lambda record: record[1],
        value_extractor=lambda record: 0,
    )

    def run() -> Floats:
        accountant = pipeline_dp.NaiveBudgetAccountant(total_epsilon=float(epsilon), total_delta=0)
        engine = pipeline_dp.DPEngine(accountant, pipeline_dp.LocalBackend())
        results = engine.aggregate(records, asked, columns, public_partitions=list(cells))
        accountant.compute_budgets()
        values = np.zeros(counts.size)
        for cell, metrics in results:
            values[cell] = metrics.count
        return values

    return run


CONTENDERS = (Contender("PipelineDP", "DPEngine.aggregate(COUNT), local", PEOPLE, GUARANTEE, counted),)
