"""Mechanisms by name: with their workload, and with one sentence where there is no such name."""

import pytest

import sparsedp as sdp
from sparsedp.errors import InvalidInput
from sparsedp.mechanisms import mechanism_named, name_and_settings


@pytest.mark.parametrize("name", sdp.MECHANISMS)
def test_every_name_gives_its_mechanism_and_back(name: str) -> None:
    mechanism = mechanism_named(name)
    assert type(mechanism) is sdp.MECHANISMS[name]
    assert name_and_settings(mechanism) == name


def test_a_workload_may_stand_behind_a_colon() -> None:
    assert mechanism_named("adaptive:cells") == sdp.Adaptive("cells")
    assert mechanism_named("adaptive:any") == sdp.Adaptive()
    assert sdp.release([3] * 20, epsilon=1, mechanism="adaptive:ranges").mechanism == "adaptive"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("laplas", "mechanism is 'laplas'.*did you mean 'laplace'"),
        ("adaptive:cell", "workload is 'cell'.*did you mean 'cells'"),
        ("adaptive:", "workload is ''"),
        ("laplace:cells", r"mechanism is 'laplace:cells'; give 'laplace': a workload is a setting of adaptive only"),
    ],
)
def test_other_names_get_a_sentence(text: str, complaint: str) -> None:
    with pytest.raises(InvalidInput, match=complaint):
        sdp.release([1, 2], epsilon=1, mechanism=text)
