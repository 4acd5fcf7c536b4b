"""The deployment record: valid YAML whatever the names, the registry's own fields, nothing that is not known."""

import math
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import sparsedp as sdp
from sparsedp.noise.source import SeededSource
from sparsedp.reports.registry import _rounded_up, _scalar

FIELDS = {
    "basic": "name data_curators intended_use data_product_type data_product_region description publication_date "
    "data_product_sector",
    "dp_variant": "variant_name data_domain unprotected_quantities",
    "privacy_loss": "privacy_unit privacy_unit_details privacy_parameters privacy_parameters_details",
    "deployment_model": "model_name model_name_details actors release_type release_type_details data_source_type "
    "data_source_type_details access_type access_type_details",
    "accounting": "post_processing composition",
    "implementation": "preprocessing_and_hyperparameter_tuning mechanisms justification",
    "administrative": "sources notes registry_authors",
}
"""Of the registry's schema, all of them."""


def record_of(release: sdp.Release) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(release.registry())
    return found


def test_it_has_the_registry_s_fields_and_no_others() -> None:
    record = record_of(sdp.release([5] * 8, epsilon="0.5"))
    assert set(record) == {"url_slug", "status", "tier", "deployment"}
    assert {name: set(section) for name, section in record["deployment"].items()} == {
        name: set(fields.split()) for name, fields in FIELDS.items()
    }


def test_a_release_of_records_on_a_ledger(tmp_path: Path) -> None:
    import pandas as pd

    frame = pd.DataFrame({"id": np.arange(200) % 40, "sex": ["F", "M"] * 100})
    ledger = sdp.open_ledger(tmp_path / "budget.db").declare("visits", epsilon=2)
    release = sdp.publish(
        frame,
        to=tmp_path / "x.parquet",
        domain=["sex:F,M"],
        privacy_unit="id",
        max_contributions=3,
        epsilon="0.5",
        ledger=ledger,
    )
    deployment = record_of(sdp.open_release(tmp_path / "x.parquet"))["deployment"]
    loss = deployment["privacy_loss"]
    assert deployment["dp_variant"]["variant_name"] == "Pure DP"
    assert loss["privacy_unit"] == "Person-level"
    assert loss["privacy_parameters"] == {"epsilon": 0.5}
    assert "at most 3 records counted" in loss["privacy_unit_details"]
    assert "total ε = 2, spent with this release ε = 0.5, left ε = 1.5" in deployment["accounting"]["composition"]
    assert "sparsedp" in deployment["implementation"]["mechanisms"]
    assert release.digest in deployment["administrative"]["notes"]
    assert deployment["basic"]["name"] == ""
    assert deployment["basic"]["publication_date"] == ""


def test_what_people_must_fill_in_is_marked_and_nothing_else_is_empty() -> None:
    text = sdp.release([5] * 8, epsilon="0.5").registry()
    for line in text.splitlines():
        if re.search(r'(: |- )""', line):
            assert "# to fill in" in line


@pytest.mark.parametrize(
    ("budget", "variant", "parameters"),
    [
        ({"epsilon": "1/3"}, "Pure DP", {"epsilon": 0.333333333334}),
        ({"epsilon": 1, "delta": "1e-9"}, "Approximate DP", {"epsilon": 1, "delta": 1e-9}),
        ({"rho": "1/8"}, "Zero-concentrated DP", {"rho": 0.125}),
    ],
)
def test_the_variant_and_its_parameters(budget: dict[str, Any], variant: str, parameters: dict[str, float]) -> None:
    deployment = record_of(sdp.release([5] * 8, **budget, mechanism="laplace"))["deployment"]
    assert deployment["dp_variant"]["variant_name"] == variant
    assert deployment["privacy_loss"]["privacy_parameters"] == pytest.approx(parameters, rel=1e-12)
    noise = "discrete laplace" if variant == "Pure DP" else "discrete gaussian"
    assert noise in deployment["implementation"]["mechanisms"]


def test_a_stream_is_published_many_times() -> None:
    stream = sdp.ContinualAdaptive(epsilon=1, unit="event")
    for count in range(40):
        stream.observe(count)
    model = record_of(stream.release())["deployment"]["deployment_model"]
    assert (model["release_type"], model["data_source_type"]) == ("Many releases", "Dynamic")


def test_public_totals_are_named_as_unprotected() -> None:
    release = sdp.release([5] * 8, epsilon=1, constraints=sdp.Constraints(total=40))
    assert "declared public" in record_of(release)["deployment"]["dp_variant"]["unprotected_quantities"]


def test_noise_for_tests_is_no_deployment() -> None:
    release = sdp.Laplace().release([5] * 8, epsilon=1, source=SeededSource(1))
    with pytest.raises(sdp.InvalidInput, match="noise for tests"):
        release.registry()


HOSTILE = [
    "yes",
    "no",
    "~",
    "null",
    "1e3",
    "",
    " x ",
    "a: b",
    "# c",
    '"',
    "\\",
    "\n- x",
    "'",
    "{}",
    "[",
    "&a",
    "*a",
    "%",
]
HOSTILE += [
    "\x00",
    "\x1b[2K",
    "\x7f",
    "\x85",
    "\xa0",
    "\u2028",
    "\ufeff",
    "\U0001f600",
    "---",
    "...",
    "\t",
    "\ue000",
    "\uffff",
]


@settings(max_examples=200, deadline=None)
@given(st.one_of(st.sampled_from(HOSTILE), st.text()))
def test_whatever_a_text_is_yaml_gives_it_back(text: str) -> None:
    line = f"x: {_scalar(text)}"
    assert yaml.safe_load(line) == {"x": text}
    assert line.isprintable()


@pytest.mark.parametrize("name", ['a" x: 1', "b: #", "- {ε}", "\\", "'"])
def test_hostile_names_in_a_release_stay_where_they_are(name: str) -> None:
    domain = sdp.Domain([sdp.Categories(name, ["u"]), sdp.Integers("n", 0, 1)])
    made = sdp.release([[1, 2]], epsilon=1, domain=domain)
    release = replace(made, written_by=f"{name}\n\x1b[2K", record={"data_set": f"x\ny: {name}", "left": "\u2028"})
    record = record_of(release)
    assert set(record["deployment"]) == set(FIELDS)
    assert name in record["deployment"]["basic"]["description"]
    assert "\x1b[2K" in record["deployment"]["implementation"]["mechanisms"]
    assert release.registry().replace("\n", "").isprintable()


@given(st.fractions(min_value=Fraction(1, 10**30), max_value=10**6))
def test_numbers_are_never_rounded_down(number: Fraction) -> None:
    written = Fraction(_scalar(_rounded_up(number)))
    assert number <= written <= number * (1 + Fraction(1, 10**11))
    assert math.isclose(yaml.safe_load(_scalar(_rounded_up(number))), number, rel_tol=1e-9)
