"""Every mechanism publishes tables over a domain: shape, files, parts, refusals, and errors that are as stated."""

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

import sparsedp as sdp
from every_mechanism import AS_THEY_COME
from sparsedp.axes import Axis
from sparsedp.bases.separable import Separable
from sparsedp.errors import InvalidInput, UnknownName
from sparsedp.laws import DiscreteLaplaceLaw
from sparsedp.mechanisms import Mechanism
from sparsedp.noise.source import SeededSource

DOMAIN = sdp.Domain(
    [
        sdp.Categories("region", ["north", "south", "west"]),
        sdp.Bins("age", [0, 5, 18, 40, 65, 120]),
        sdp.Calendar("day", "2026-01-01", every="1d", length=8),
    ]
)
COUNTS = np.zeros(DOMAIN.shape, dtype=np.int64)
COUNTS[1, 2:, 3:6] = 400
COUNTS[0] = 30


@pytest.fixture(params=AS_THEY_COME, name="mechanism")
def one_mechanism(request: pytest.FixtureRequest) -> Mechanism:
    return AS_THEY_COME[request.param]


def test_a_release_has_the_domain_and_its_shape(mechanism: Mechanism) -> None:
    release = sdp.release(COUNTS, epsilon=5, mechanism=mechanism, domain=DOMAIN)
    assert release.domain == DOMAIN
    assert release.values.shape == DOMAIN.shape
    assert release.nonnegative
    assert release.box_sum() == pytest.approx(release.values.sum())
    assert not mechanism.release(COUNTS, epsilon=5, domain=DOMAIN, negative=True).nonnegative


def test_a_table_without_a_domain_has_plain_axes(mechanism: Mechanism) -> None:
    release = mechanism.release(COUNTS[0], epsilon=5)
    assert release.domain == sdp.Domain.of_shape((5, 8))
    assert mechanism.release(COUNTS[0, 0], epsilon=5).domain is None


@pytest.mark.parametrize("budget", [sdp.Budget(epsilon=10**6), sdp.Budget(rho=10**6)], ids=str)
@pytest.mark.parametrize("name", ["laplace", "hierarchical", "privelet"])
def test_without_noise_the_table_comes_back(name: str, budget: sdp.Budget) -> None:
    release = sdp.release(COUNTS, epsilon=budget, mechanism=name, domain=DOMAIN)
    np.testing.assert_allclose(release.values, COUNTS, atol=1e-6)


def test_the_synopsis_keeps_the_domain_in_its_file(mechanism: Mechanism, tmp_path: Path) -> None:
    synopsis = mechanism.measure(COUNTS, epsilon=5, domain=DOMAIN)
    assert synopsis.domain == DOMAIN
    again = sdp.open_synopsis(synopsis.save(tmp_path / "x.synopsis"))
    assert again.domain == DOMAIN
    here, there = synopsis.recover(), again.recover()
    np.testing.assert_array_equal(here.values, there.values)
    assert there.domain == DOMAIN
    assert there.nonnegative
    opened = sdp.open_release(there.save(tmp_path / "x.parquet"))
    np.testing.assert_array_equal(opened.values, here.values)
    assert opened.domain == DOMAIN


@pytest.mark.parametrize("name", ["laplace", "hierarchical", "privelet"])
def test_parts_of_a_table_merge(name: str) -> None:
    mechanism = AS_THEY_COME[name]
    parts = [mechanism.sense(part, domain=DOMAIN) for part in (COUNTS, COUNTS * 2)]
    release = mechanism.perturb(parts[0] + parts[1], epsilon=10**6).recover()
    np.testing.assert_allclose(release.values, 3 * COUNTS, atol=1e-6)
    assert release.domain == DOMAIN
    with pytest.raises(InvalidInput, match="another domain"):
        parts[0] + mechanism.sense(COUNTS)
    with pytest.raises(InvalidInput, match="signed values beside counts"):
        parts[0] + mechanism.sense(COUNTS, domain=DOMAIN, negative=True)


def test_a_domain_of_one_axis_is_a_vector_with_names(mechanism: Mechanism) -> None:
    domain = sdp.Domain([DOMAIN.axes[2]])
    release = mechanism.release(np.arange(8), epsilon=5, domain=domain)
    assert release.values.shape == (8,)
    assert release.range_sum("2026-01-02", 8) == pytest.approx(release.values[1:].sum())


def test_axes_and_texts_will_do_for_a_domain(mechanism: Mechanism) -> None:
    mixed: list[Axis | str] = [*DOMAIN.specs[:1], *DOMAIN.axes[1:]]
    for domain in (DOMAIN, DOMAIN.specs, DOMAIN.axes, mixed):
        assert mechanism.release(COUNTS, epsilon=5, domain=domain).domain == DOMAIN
        assert mechanism.measure(COUNTS, epsilon=5, domain=domain).recover().domain == DOMAIN


def test_refusals_cost_nothing(mechanism: Mechanism) -> None:
    ledger = sdp.Ledger(epsilon=1)
    for counts, domain in ((COUNTS[0], DOMAIN), (COUNTS, "region"), (np.zeros((1,) * 33, dtype=int), None)):
        with pytest.raises(InvalidInput, match=r"^(counts|domain) is"):
            mechanism.release(counts, epsilon=1, domain=domain, ledger=ledger)
    assert ledger.remaining == sdp.Budget(epsilon=1)


def test_a_choice_without_a_proof_is_refused_before_it_costs() -> None:
    ledger = sdp.Ledger(epsilon=1)
    with pytest.raises(
        InvalidInput,
        match="'identity × cosine × cosine', in which no private choice of the sparsity is proven; give sparsity=",
    ):
        sdp.Compressive(basis="cosine").release(COUNTS, epsilon=1, domain=DOMAIN, ledger=ledger)
    assert ledger.remaining == sdp.Budget(epsilon=1)
    release = sdp.Compressive(basis="cosine", sparsity=4).release(COUNTS, epsilon=1, domain=DOMAIN, ledger=ledger)
    assert release.values.shape == DOMAIN.shape


def test_the_tree_decoder_is_for_vectors() -> None:
    with pytest.raises(InvalidInput, match="choose 'vamp' in the haar × haar basis"):
        sdp.Compressive(sparsity=4, recovery="vamp_tree").release(COUNTS[0], epsilon=1)
    assert sdp.Compressive(sparsity=4).measure(COUNTS[0], epsilon=1).plan.recovery.name == "vamp"
    assert sdp.Compressive(sparsity=4).measure(COUNTS[0, 0], epsilon=1).plan.recovery.name == "vamp_tree"


def blocks() -> npt.NDArray[np.int64]:
    """Two regions by 32 by 32 cells, each region with one flat block: few coefficients along both axes."""
    table = np.zeros((2, 32, 32), dtype=np.int64)
    table[0, 8:16, 16:24] = 3000
    table[1, :16, :16] = 1000
    return table


@pytest.mark.parametrize("recovery", ["cosamp", "basis_pursuit", "vamp"])
def test_compressive_finds_blocks_of_a_table(recovery: str) -> None:
    """Far nearer to the truth than nothing at all, which a basis along the wrong axes would not be."""
    truth = blocks()
    axes = [sdp.Categories("region", ["a", "b"]), sdp.Integers("x", 0, 31), sdp.Integers("y", 0, 31)]
    mechanism = sdp.Compressive(sparsity=24, rows=400, recovery=recovery, seed=1)
    synopsis = mechanism.measure(truth, epsilon=20, domain=sdp.Domain(axes), source=SeededSource(4))
    problem = synopsis.plan.recovery.problem(synopsis.sensing, synopsis.values, synopsis.law, synopsis.domain)
    assert isinstance(problem.basis, Separable)
    assert problem.basis.name == "identity × haar × haar"
    error = np.linalg.norm(synopsis.recover().values - truth)
    assert error < 0.1 * np.linalg.norm(truth)


def test_the_sparsity_of_a_table_is_chosen_privately() -> None:
    mechanism = sdp.Compressive(seed=1)
    synopsis = mechanism.measure(blocks(), epsilon=20, source=SeededSource(4))
    assert synopsis.plan.recovery.sparsity is not None
    assert synopsis.guarantee.expenses[0].purpose == "choose the sparsity"
    assert synopsis.recover().values.shape == (2, 32, 32)


@pytest.mark.parametrize("budget", [sdp.Budget(epsilon="0.05"), sdp.Budget(rho="0.002")], ids=str)
def test_intervals_of_laplace_hold_the_truth_as_often_as_they_say(budget: sdp.Budget) -> None:
    """A cell, a box and the total; 400 releases."""
    queries: list[tuple[object, float]] = [
        ((1, 3, 4), 400.0),
        ({"region": "south", "age": (18, 120)}, 3 * 3 * 400.0),
        ({}, float(COUNTS.sum())),
    ]
    source = SeededSource(6)
    held = np.zeros(3)
    for _ in range(400):
        release = sdp.Laplace().release(COUNTS, epsilon=budget, domain=DOMAIN, source=source)
        intervals = [release.interval(query, level=0.9) for query, _ in queries]
        held += [one.low <= truth <= one.high for one, (_, truth) in zip(intervals, queries, strict=True)]
    assert (held / 400 >= 0.85).all()
    assert (held / 400 <= 0.95).all()


def test_standard_errors_of_laplace_are_those_of_its_noise() -> None:
    release = sdp.release(COUNTS, epsilon="0.5", domain=DOMAIN, mechanism="laplace")
    assert release.stderr is not None
    np.testing.assert_allclose(release.stderr**2, DiscreteLaplaceLaw(2).variance)  # type: ignore[arg-type]
    assert sdp.release(COUNTS, epsilon="0.5", domain=DOMAIN, mechanism="compressive").stderr is None
    with pytest.raises(UnknownName, match="did you mean 'region'"):
        release.interval({"regoin": "north"})
