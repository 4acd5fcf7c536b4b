"""The law of layers: one law a layer, described and given back."""

import json
from fractions import Fraction

import pytest

from sparsedp.errors import InvalidInput
from sparsedp.noise.gaussian_law import DiscreteGaussianLaw
from sparsedp.noise.law import ContinualCounterLaw, DiscreteLaplaceLaw, LayersLaw, noise_law_from

CELLS, TOTAL = DiscreteLaplaceLaw(Fraction(10, 7)), DiscreteGaussianLaw(Fraction(25, 3))


def test_a_description_gives_it_back() -> None:
    law = LayersLaw((CELLS, TOTAL))
    assert noise_law_from(json.loads(json.dumps(law.describe()))) == law
    assert law != LayersLaw((TOTAL, CELLS))
    assert law.finest == CELLS


@pytest.mark.parametrize("inside", [[ContinualCounterLaw(Fraction(1), 3)], [CELLS, LayersLaw((CELLS,))]])
def test_layers_have_independent_noise(inside: list[ContinualCounterLaw | LayersLaw]) -> None:
    with pytest.raises(InvalidInput, match="choose one of discrete_gaussian, discrete_laplace"):
        noise_law_from({"name": "layers", "layers": [law.describe() for law in inside]})


@pytest.mark.parametrize("layers", [[], "aaa", None, {}])
def test_there_are_layers(layers: object) -> None:
    with pytest.raises(InvalidInput, match="noise law is without layers"):
        noise_law_from({"name": "layers", "layers": layers})
