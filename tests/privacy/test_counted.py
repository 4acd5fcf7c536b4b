"""How an enforced bound is told, and that it travels."""

from fractions import Fraction
from typing import Any

import pytest

from sparsedp.errors import InvalidInput
from sparsedp.privacy.neighbours import Counted, Neighbours

ENFORCED = Counted(("patient_id",), 3)


@pytest.mark.parametrize(
    "counted",
    [
        ENFORCED,
        Counted(("hospital", "patient"), 1),
        Counted(None, 1),
        Counted(("p",), 2, Fraction(1, 100)),
        Counted(("p",), 2, multiline=True),
    ],
)
@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
def test_an_enforced_bound_travels_with_the_neighbours(counted: Counted, relation: str) -> None:
    neighbours = Neighbours(6, relation, counted=counted)
    assert Neighbours(**neighbours.describe()) == neighbours
    assert neighbours.distance == (6 if relation == "add_remove" else 12)


def test_neighbours_say_whether_the_bound_is_promised_or_enforced() -> None:
    assert "promised by the caller" in str(Neighbours(3))
    enforced = str(Neighbours(3, counted=ENFORCED))
    assert "all records with the same patient_id" in enforced
    assert "enforced: of each, at most 3 records counted" in enforced
    assert "promised" not in enforced


def test_without_a_unit_one_record_is_protected_and_no_person() -> None:
    text = str(Neighbours(1, counted=Counted(None, 1)))
    assert text.startswith("adding or removing one record, which changes the counts by at most 1 in total (declared")


@pytest.mark.parametrize("unit", [("p",), None])
def test_declared_lines_are_said_to_weaken_the_bound(unit: Any) -> None:
    cost = "so a stray quote of one person can drop other people's records, and the bound does not cover that"
    assert cost in str(Neighbours(1, counted=Counted(unit, 1, multiline=True)))
    assert cost not in str(Neighbours(1, counted=Counted(unit, 1)))


def test_a_bound_on_sums_is_told_in_their_own_unit() -> None:
    text = str(Neighbours(150_000, counted=Counted(("p",), 3, Fraction(1, 100))))
    assert "changes the sums by at most 1500 in total" in text


@pytest.mark.parametrize(
    ("unit", "records", "resolution"),
    [("patient", 1, 1), ((), 1, 1), ((3,), 1, 1), (("p",), 0, 1), (("p",), 1.5, 1), (("p",), 1, 0)],
)
def test_what_cannot_be_is_refused(unit: Any, records: Any, resolution: Any) -> None:
    with pytest.raises(InvalidInput):
        Counted(unit, records, resolution)


@pytest.mark.parametrize("other", [{"counted": True}, {"counted": 0}, {"counted": "x"}, {"invariant": 1}])
def test_neighbours_of_another_type_are_refused(other: dict[str, Any]) -> None:
    (name,) = other
    with pytest.raises(InvalidInput, match=f"^{name} is of type "):
        Neighbours(1, "replace_one", **other)


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
@pytest.mark.parametrize("clamp_is_chosen", [False, True])
def test_a_ledger_is_told_all_that_the_file_will_say(relation: str, clamp_is_chosen: bool) -> None:
    """Before a look has chosen: whom it protects, what is counted beside, and what was declared to be weak."""
    counted = Counted(("id", "ward, bed"), 5, multiline=True, chosen=not clamp_is_chosen)
    ours = Neighbours(5, relation, counted=counted)
    said = ours.announced(ours, clamp_is_chosen=clamp_is_chosen)
    assert "all records with the same id and ward, bed" in said
    assert ("by another" in said) == (relation == "replace_one")
    assert ("5 records are summed" in said) == clamp_is_chosen
    assert "counted beside the sums" in said
    assert "a stray quote of one person" in said
