"""Who is compared, and that each publishes what it should."""

import pickle

import numpy as np
import pytest

from sparsedp.experiments.accuracy.contenders import BYSTANDERS, MODES, OURS, RIVALS, Configured, Uniform, Zeros
from sparsedp.mechanisms import MECHANISMS

TABLE = np.arange(64).reshape(8, 8)


def test_every_other_mechanism_is_a_rival() -> None:
    assert {rival.mechanism for rival in RIVALS} == set(MECHANISMS) - {"adaptive"}
    names = [contender.name for contender in (*OURS.values(), *RIVALS, *BYSTANDERS)]
    assert len(set(names)) == len(names)


def test_ours_are_the_three_workloads() -> None:
    assert tuple(OURS) == MODES
    for mode, contender in OURS.items():
        assert contender.mechanism == "adaptive"
        assert dict(contender.settings) == {"workload": mode}
        assert contender.exists == ("adaptive" in MECHANISMS)


@pytest.mark.parametrize("contender", [*RIVALS, *BYSTANDERS], ids=lambda contender: contender.name)
def test_a_release_has_the_shape_of_the_counts_and_is_afresh(contender: Configured) -> None:
    sent = pickle.loads(pickle.dumps(contender))
    assert sent == contender
    for counts in (TABLE, TABLE.reshape(-1)):
        first, second = (sent.publish(counts, "0.5") for _ in range(2))
        assert first.shape == counts.shape
        assert contender.name in ("zeros", "uniform") or not np.array_equal(first, second)


def test_a_table_comes_back_in_place() -> None:
    values = RIVALS[0].publish(TABLE * 10**6, "10")
    assert np.allclose(values, TABLE * 10**6, atol=100)


def test_the_bystanders() -> None:
    assert not Zeros().publish(TABLE, "1").any()
    for _ in range(20):
        values = Uniform().publish(TABLE, "1000")
        assert np.unique(values).tolist() == [pytest.approx(TABLE.sum() / 64)]
    spread = [Uniform().publish(TABLE * 1000, "0.1").sum() - TABLE.sum() * 1000 for _ in range(300)]
    # Discrete Laplace of scale 10: standard deviation 14.1, known to within a sixth from 300 draws.
    assert 10 < np.std(spread) < 19
    assert min(Uniform().publish(np.zeros(4, dtype=np.int64), "0.01").min() for _ in range(20)) >= 0
