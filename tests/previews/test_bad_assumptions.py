"""Bad input gets one clear sentence that names the argument and says what would do."""

from typing import Any

import numpy as np
import pytest

import sparsedp as sdp

NAN = float("nan")


@pytest.mark.parametrize(
    ("changed", "argument", "says"),
    [
        ({"total": 0}, "total", "public guess"),
        ({"total": -5}, "total", "public guess"),
        ({"total": NAN}, "total", "public guess"),
        ({"total": float("inf")}, "total", "public guess"),
        ({"total": None}, "total", "public guess"),
        ({"total": 2**60}, "total", "2**53"),
        ({"total": (10, 5)}, "total", "smaller guess first"),
        ({"total": (1, 2, 3)}, "total", "3 numbers"),
        ({"total": (1, NAN)}, "total", "public guess"),
        ({"epsilon": float("inf")}, "epsilon", "finite"),
        ({"epsilon": NAN}, "epsilon", "finite"),
        ({"epsilon": None}, "epsilon", "rho="),
        ({"epsilon": 0}, "epsilon", "above zero"),
        ({"epsilon": 1e-30}, "epsilon", "at least"),
        ({"rho": 1}, "epsilon", "together with rho"),
        ({"smoothness": "smoth"}, "smoothness", "did you mean 'smooth'"),
        ({"smoothness": "?"}, "smoothness", "flat, smooth, steps, spiky, rough, linked, unordered, unknown"),
        ({"smoothness": None}, "smoothness", "shape"),
        ({"smoothness": {"flat"}}, "smoothness", "choose one of"),
        ({"smoothness": np.ones(7)}, "smoothness", "(8,)"),
        ({"smoothness": [NAN] * 8}, "smoothness", "finite"),
        ({"smoothness": [-1.0, *[2.0] * 7]}, "smoothness", "at least 0"),
        ({"smoothness": np.zeros(8)}, "smoothness", "not all of them 0"),
        ({"mechanism": "laplas"}, "mechanism", "laplace"),
        ({"mechanism": sdp.Laplace}, "mechanism", "class Laplace"),
        ({"mechanism": 3}, "mechanism", "type int"),
        ({"contribution": 0}, "contribution", "whole number"),
        ({"neighbours": "all"}, "neighbours", "add_remove"),
        ({"runs": 0}, "runs", "whole number"),
        ({"runs": 2.5}, "runs", "whole number"),
        ({"domain": 0}, "domain", "whole number"),
        ({"domain": ()}, "domain", "empty"),
        ({"domain": True}, "domain", "type bool"),
        ({"domain": "24"}, "domain", "number of cells"),
        ({"domain": ["sex:"]}, "domain", "never read off the data"),
        ({"domain": [24, 7]}, "domain", "a shape such as (24, 7)"),
        ({"domain": (4, -1)}, "domain", "whole number"),
        ({"domain": np.array([3, 9, 12])}, "domain", "never the counts"),
    ],
    ids=str,
)
def test_one_clear_sentence(changed: dict[str, Any], argument: str, says: str) -> None:
    given = {"domain": 8, "epsilon": 1, "total": 100, **changed}
    with pytest.raises(sdp.InvalidInput) as refusal:
        sdp.preview(given.pop("domain"), **given)
    assert refusal.value.argument == argument
    message = str(refusal.value)
    assert says in message
    assert message.endswith(".")
    assert "\n" not in message
