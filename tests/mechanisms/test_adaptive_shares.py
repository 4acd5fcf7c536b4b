"""How the budget is divided: no phase gets next to nothing, and tables are divided by public facts."""

from dataclasses import replace
from fractions import Fraction

import pytest

from sparsedp.mechanisms._adaptive_shares import (
    DETECTED_ALONE,
    FEW_RECORDS,
    GAUSSIAN,
    LAPLACE,
    LEAST_CELLS,
    ROWS,
    SMALL_BLOCK,
    TABLES,
    TEST_OF_FEW_RECORDS,
    UNORDERED,
    Shares,
    layers_of_blocks,
    regular_layers,
    shares_for,
)
from sparsedp.mechanisms._private_tree import COST
from sparsedp.validate import MAX_CELLS

SIZES = [1, 2, 3, 15, 16, 63, 64, 65, 255, 256, 257, 1000, 4096, 65536, 10**6, MAX_CELLS]
KINDS = {f"row, {name}": shares for name, shares in ROWS.items()} | {f"table, {n}": s for n, s in TABLES.items()}
KINDS["unordered"] = UNORDERED
EVERY_SHARES = pytest.mark.parametrize("shares", KINDS.values(), ids=KINDS.keys())


def smallest(shares: Shares) -> Fraction:
    """The least share that any phase can have, over all numbers of cells and groups; of the tree, over its cost."""
    regular = min(
        share for n in SIZES for power in (LAPLACE, GAUSSIAN) for _, share in regular_layers(n, shares, power)
    )
    found = [regular * (1 - shares.test)]
    if shares.test:
        found.append(shares.test)
    if shares.grid:
        sizes = [SMALL_BLOCK * 4**step for step in range(12)]
        found += [share for n in SIZES for size in sizes for _, share in layers_of_blocks(n, shares.cells, size)]
    if shares.tree:
        found += [shares.tree / COST, 1 - shares.test - shares.tree]
    return min(found)


@EVERY_SHARES
def test_no_phase_has_less_than_what_is_checked_before_the_debit(shares: Shares) -> None:
    assert smallest(shares) >= Fraction(1, 1000)


@EVERY_SHARES
def test_looks_leave_most_of_the_budget(shares: Shares) -> None:
    assert 0 <= shares.test + shares.tree < Fraction(1, 2)
    assert shares.test > 0 or not shares.tree
    assert not (shares.grid and shares.test)
    assert 0 <= shares.cells < 1
    assert shares.cells > 0 or shares.blocks is None


@pytest.mark.parametrize("workload", ROWS)
def test_tables_are_divided_by_public_facts(workload: str) -> None:
    of_rows, of_tables = ROWS[workload], TABLES[workload]
    smaller = of_tables if workload == "cells" else replace(of_tables, grid=SMALL_BLOCK)
    if workload == "cells":
        faint = replace(TABLES["ranges"], test=TEST_OF_FEW_RECORDS)
        of_rows = replace(of_rows, few_records=replace(ROWS["ranges"], test=TEST_OF_FEW_RECORDS))
        of_tables, smaller = (
            replace(of_tables, few_records=faint),
            replace(smaller, few_records=replace(faint, grid=SMALL_BLOCK)),
        )
    assert shares_for(workload, (1000,), (True,)) == of_rows
    assert shares_for(workload, (1, 1000, 1), (False, True, True)) == of_rows
    assert shares_for(workload, (46, 46), (True, True)) == of_tables
    assert shares_for(workload, (45, 45), (True, True)) == smaller
    assert shares_for(workload, (1000,), (False,)) == (ROWS["cells"] if workload == "cells" else UNORDERED)
    for shape, ordered in (((LEAST_CELLS - 1,), (True,)), ((15, 17), (True, True)), ((3, 200), (False, True))):
        shares = shares_for(workload, shape, ordered)
        assert shares.test == shares.tree == shares.grid == 0
        assert shares.few_records is None


@pytest.mark.parametrize(("workload", "at_4096", "growth"), [("any", 256.0, 2), ("ranges", 614.4, 4)])
def test_more_has_to_stand_out_of_longer_rows(workload: str, at_4096: float, growth: int) -> None:
    """Where ranges count alone, in proportion to the number of cells; for cells and ranges at once by its root."""
    shares = ROWS[workload]
    assert shares.stands_out_from(256) == 100.0
    assert shares.stands_out_from(4096) == pytest.approx(at_4096)
    assert shares.stands_out_from(4 * 4096) == pytest.approx(growth * at_4096)


def test_what_is_faint_and_what_is_seen_alone() -> None:
    assert (FEW_RECORDS, DETECTED_ALONE) == (300.0, 40.0)
