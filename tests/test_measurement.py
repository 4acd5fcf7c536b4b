"""Raw measurements merge exactly and never leave the private side."""

import copy
import io
import pickle

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import sparsedp as sdp
from sparsedp.errors import InvalidInput, PrivateSide
from sparsedp.measurement import RawMeasurement
from sparsedp.mechanisms.base import Mechanism
from sparsedp.noise.source import SeededSource

MECHANISMS: dict[str, Mechanism] = {
    "laplace": sdp.Laplace(),
    "hierarchical": sdp.Hierarchical(),
    "hierarchical of five": sdp.Hierarchical(branching=5),
    "privelet": sdp.Privelet(),
    "compressive": sdp.Compressive(sparsity=3, seed=5),
    "compressive, bernoulli": sdp.Compressive(sensing="bernoulli", sparsity=3, seed=5),
}
counts = st.integers(1, 60).flatmap(
    lambda n: arrays(np.int64, (3, n), elements=st.integers(0, 2**62))  # sums beyond 2⁶³: they wrap, exactly
)


class NoNoise:
    """Adds nothing: the tests' way to the exact sums."""

    def add_to(self, values: npt.NDArray[np.int64]) -> None:
        pass


def exact_sums(raw: RawMeasurement) -> npt.NDArray[np.int64]:
    return raw.with_noise(NoNoise())


@pytest.mark.parametrize("mechanism", MECHANISMS.values(), ids=MECHANISMS.keys())
@given(parts=counts)
def test_parts_sensed_apart_add_up_to_the_whole(mechanism: Mechanism, parts: npt.NDArray[np.int64]) -> None:
    if isinstance(mechanism, sdp.Compressive):
        mechanism = sdp.Compressive(sensing=mechanism.sensing, sparsity=1, rows=min(5, parts.shape[1]), seed=5)
    with np.errstate(over="ignore"):
        whole = mechanism.sense(parts.sum(axis=0, dtype=np.int64), negative=True)
    merged = mechanism.sense(parts[0]) + mechanism.sense(parts[1]) + mechanism.sense(parts[2])
    np.testing.assert_array_equal(exact_sums(merged), exact_sums(whole))


def test_a_part_is_merged_once() -> None:
    mechanism = sdp.Laplace()
    first, second = mechanism.sense([1, 2]), mechanism.sense([3, 4])
    merged = first + second
    for repeated in (first, second, merged):
        with pytest.raises(InvalidInput, match="merge each part once"):
            merged + repeated
    with pytest.raises(InvalidInput, match="merge each part once"):
        first + first


def test_its_plan_cannot_be_exchanged() -> None:
    raw = sdp.Privelet().sense([5] * 8)
    with pytest.raises(AttributeError):
        raw.plan = sdp.Laplace().plan(8)  # type: ignore[misc]


def test_perturbing_a_merged_measurement_equals_measuring_the_whole() -> None:
    mechanism = sdp.Compressive(sparsity=4, seed=11)
    data = np.arange(200) % 7
    whole = mechanism.measure(data, epsilon=1, source=SeededSource(3))
    halves = mechanism.sense(np.where(np.arange(200) < 90, data, 0)) + mechanism.sense(
        np.where(np.arange(200) < 90, 0, data)
    )
    merged = mechanism.perturb(halves, epsilon=1, source=SeededSource(3))
    np.testing.assert_array_equal(merged.values, whole.values)
    assert merged.spent == whole.spent
    assert merged.noise_scale == whole.noise_scale


def test_one_mechanism_senses_parts_that_add_up_without_a_seed() -> None:
    mechanism = sdp.Compressive(sparsity=2)
    merged = sum(mechanism.sense(part) for part in ([1, 2, 3, 4], [0, 0, 1, 0], [5, 0, 0, 0]))
    assert isinstance(merged, RawMeasurement)
    assert mechanism.perturb(merged, epsilon=1).spent == sdp.Budget(epsilon=1)


def test_other_matrices_do_not_add() -> None:
    with pytest.raises(InvalidInput, match="same mechanism and seed"):
        sdp.Compressive(sparsity=2, seed=1).sense([1, 2, 3, 4]) + sdp.Compressive(sparsity=2, seed=2).sense(
            [1, 2, 3, 4]
        )
    with pytest.raises(InvalidInput, match="parts that all have 2 cells"):
        sdp.Laplace().sense([1, 2]) + sdp.Laplace().sense([1, 2, 3])


def test_another_mechanism_does_not_perturb_it() -> None:
    with pytest.raises(InvalidInput, match="measured by another mechanism"):
        sdp.Privelet().perturb(sdp.Laplace().sense([1, 2]), epsilon=1)
    with pytest.raises(InvalidInput, match="or with other settings"):
        sdp.Compressive(sparsity=2, basis="cosine", seed=1).perturb(
            sdp.Compressive(sparsity=2, seed=1).sense([1, 2, 3, 4]), epsilon=1
        )
    with pytest.raises(InvalidInput, match="give what `sense` returned"):
        sdp.Laplace().perturb(np.zeros(3), epsilon=1)  # type: ignore[arg-type]


def leave_by_numpy_file(raw: RawMeasurement) -> None:
    np.save(io.BytesIO(), raw)


WAYS_OUT = {
    "pickle": pickle.dumps,
    "copy": copy.copy,
    "deep copy": copy.deepcopy,
    "array": np.asarray,
    "numpy file": leave_by_numpy_file,
    "save": lambda raw: raw.save("x"),
}


@pytest.mark.parametrize("leave", WAYS_OUT.values(), ids=WAYS_OUT.keys())
def test_there_is_no_way_out(leave: object) -> None:
    assert callable(leave)
    with pytest.raises(PrivateSide, match="as private as the data"):
        leave(sdp.Laplace().sense([41, 42, 43]))


def test_it_does_not_print_its_values() -> None:
    assert "4242" not in f"{sdp.Laplace().sense([4242, 4242])!r}"


def test_sparsity_cannot_be_chosen_from_a_part() -> None:
    with pytest.raises(InvalidInput, match="give a number to sense parts"):
        sdp.Compressive().sense([1, 2, 3])
