"""Adaptive: private tests of where the cells are flat, then noise where it buys most; the default mechanism."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import ClassVar

import numpy as np

from sparsedp import validate
from sparsedp.arrays import Floats, Ints, Mask
from sparsedp.axes.domain import Domain
from sparsedp.constraints import Constraints
from sparsedp.errors import InvalidInput, UnknownName, shortened
from sparsedp.estimation.plan import RecoveryPlan
from sparsedp.laws import LayersLaw
from sparsedp.mechanisms._adaptive_grid import (
    block_size,
    cells_of_dense_blocks,
    cells_pay,
    dense_from,
    part_sizes,
    towards_the_first,
)
from sparsedp.mechanisms._adaptive_shares import (
    DETECTED_ALONE,
    FEW_RECORDS,
    ROWS,
    Shares,
    in_regular_layers,
    layers_of_blocks,
    regular_layers,
    shares_for,
)
from sparsedp.mechanisms._marginal_layers import (
    LEAST_AXES,
    MOST_CELLS,
    TOTAL,
    Coarsenings,
    as_asked,
    coarsenings_of,
    has_rhythms,
    long_axes,
)
from sparsedp.mechanisms._marginals import MarginalTranscript, measure_by_order, measured_by_rhythms
from sparsedp.mechanisms._private_tests import detected_alone, hidden, standing_out
from sparsedp.mechanisms._private_tree import chances, chances_of, decay_for, down_to_the_ends, flat_groups, singled
from sparsedp.mechanisms._transcript import Transcript, layer_noise
from sparsedp.mechanisms.base import Mechanism
from sparsedp.mechanisms.terms import WHOLE, Terms
from sparsedp.plan import Plan
from sparsedp.privacy.guarantee import Expense
from sparsedp.sensing.group_sums import GroupSums, first_cells
from sparsedp.sensing.marginals import ALL, MOST_AXES, MOST_LAYERS, Coarsened, Layer, Marginals, in_order_of_first_cells
from sparsedp.sensing.parts_of_blocks import MOST_PARTS, cut_blocks
from sparsedp.synopsis import Synopsis

STANDS_OUT = "see whether cells stand out"
"""What a private test is paid for."""


@dataclass(frozen=True)
class Adaptive(Mechanism):
    """Layers of group sums, each with its own noise, fused and shrunk; private tests and earlier sums choose groups.

    `workload`: what will be asked. "cells" is best for single cells, "ranges" for sums over ranges and boxes,
    "marginals" for tables of counts by one, two or three axes; "any" is for all of these at once. Or the marginals
    themselves, by the names of their axes: `[("age", "sex"), ("region",)]`, or as text, `"age*sex,region"`.

    Guarantee: ε-differential privacy, ρ-zCDP or (ε, δ), as asked; the private tests are part of it.
    Proof: `mechanisms/adaptive.md`.
    """

    workload: str | Sequence[Sequence[str]] = "any"

    name: ClassVar[str] = "adaptive"
    felt: ClassVar[float] = 0.1

    def __post_init__(self) -> None:
        object.__setattr__(self, "workload", _checked_workload(self.workload))

    def __repr__(self) -> str:
        try:
            same = _checked_workload(self.workload_text) == self.workload
        except InvalidInput:
            same = False
        return f"Adaptive(workload={self.workload_text if same else self.workload!r})"

    @property
    def workload_text(self) -> str:
        """The workload as options and files have it."""
        if isinstance(self.workload, str):
            return self.workload
        text = ",".join(map("*".join, self.workload))
        return text if "," in text or "*" in text else f"{text},"

    def plan(self, cells: int, domain: Domain | None = None) -> Plan:
        """Refused: what is measured is decided by looking at the whole table."""
        given = "adaptive, which decides what to measure by looking at the whole table"
        raise InvalidInput("mechanism", given, "call `measure`, or use Laplace or Compressive to measure parts apart")

    def _plan_in_advance(self, cells: int, terms: Terms, domain: Domain | None) -> None:
        """None: that depends on noisy answers. A budget is refused if its smallest share leaves no room in 64 bits."""
        layer_noise(terms, Fraction(1, 10**7), "measure")
        chances()  # whatever could go wrong with it should do so before the debit
        if not isinstance(self.workload, str):
            asked = as_asked(*self._asked(domain), 1 - TOTAL, gaussian=terms.gaussian)
            if len(asked) >= MOST_LAYERS:
                given = f"{len(self.workload):,} marginals, with those of single axes {len(asked):,}"
                raise InvalidInput("workload", given, f"give fewer: {MOST_LAYERS - 1} in all at most")
            for _, share in asked:
                layer_noise(terms, share, "measure")

    def _measured(
        self,
        cells: Ints,
        plan: Plan | None,
        terms: Terms,
        domain: Domain | None,
        *,
        negative: bool,
        constraints: Constraints | None,
    ) -> Synopsis:
        """Layers of sums, each with noise of its own, and before them the private tests of rows."""
        table = ((cells.size,), (True,)) if domain is None else (domain.shape, domain.ordered)
        zeros = constraints is not None and constraints.zeros is not None
        coarsenings = coarsenings_of(domain, table[0])
        tests: list[Expense] = []
        if not zeros and not negative:
            marginals = MarginalTranscript(cells, *table, coarsenings, terms)
            if self._measured_by_marginals(marginals, domain):
                return self._of_marginals(marginals, domain, constraints)
            tests = marginals.expenses  # what they say is not published: another kind of layers is measured now
        left = terms.beside(tests)
        workload = self.workload if isinstance(self.workload, str) and self.workload in ROWS else "any"
        shares = shares_for(workload, *table)
        if zeros or (negative and shares.grid):
            # A group's sum is spread over all of its cells: where some are known to be zero it would lose a part. And
            # where counts may be negative, a sum does not say how many records there are.
            shares = in_regular_layers(shares)
        row = GroupSums(cells.size, [1], *table).in_a_row(cells)
        blocks = Transcript(row, left, signed=negative)
        if shares.grid:
            _measure_table(blocks, shares)
        elif shares.test:
            _measure_row(blocks, shares)
        elif shares.few_records is not None and not negative:
            _measure_cells(blocks, shares, shares.few_records)
        else:
            _measure_regular(blocks, shares)
        sensing = GroupSums(cells.size, blocks.groups, *table)
        recovery = "signed_layers" if negative else "layers"
        plan = Plan(
            self.name,
            sensing,
            RecoveryPlan(recovery, decay=blocks.decay),
            domain=domain,
            nonnegative=not negative,
            constraints=constraints,
        )
        guarantee = terms.guarantee([*tests, *blocks.tests, *(noise.expense for noise in blocks.noises)])
        law = LayersLaw(tuple(noise.law for noise in blocks.noises))
        return Synopsis(np.concatenate(blocks.values), plan, law, guarantee)

    def _by_marginals(self, shape: tuple[int, ...], coarsenings: Coarsenings) -> bool:
        """Whether a table of this shape is measured by its marginals."""
        axes = len(long_axes(shape))
        least = LEAST_AXES if self.workload == "any" else 1
        if self.workload == "marginals" and not any(coarsenings):
            least = 2
        return (
            self.workload not in ("cells", "ranges")
            and axes >= least
            and prod(shape) <= MOST_CELLS
            and len(shape) <= MOST_AXES
        )

    def _looks_for_rhythms(self, shape: tuple[int, ...], coarsenings: Coarsenings) -> bool:
        """Whether it may be that weekdays, months and the like say all of a table that there is to say."""
        few = prod(shape) <= MOST_CELLS and len(shape) <= MOST_AXES
        many = self.workload == "marginals" and len(long_axes(shape)) >= LEAST_AXES
        return (self.workload == "any" or many) and few and has_rhythms(coarsenings)

    def _asked(self, domain: Domain | None) -> tuple[tuple[int, ...], list[Layer]]:
        """The table's shape, and the marginals of the workload: of axes, or of axes in declared groups."""
        if domain is None:
            raise InvalidInput("workload", "the names of axes", "give a domain, whose axes have names")
        try:
            return domain.shape, [_layer_named(domain, names) for names in self.workload]
        except UnknownName as error:
            raise InvalidInput("workload", f"a marginal of {error.given}", error.remedy) from None

    def _measured_by_marginals(self, transcript: MarginalTranscript, domain: Domain | None) -> bool:
        """Whether the budget went to the total, and to marginals and perhaps the cells (`_marginals.py`); else some of
        it is left.
        """
        shape, coarsenings = transcript.shape, transcript.coarsenings
        by_order, rhythms = self._by_marginals(shape, coarsenings), self._looks_for_rhythms(shape, coarsenings)
        if not by_order and not rhythms:
            return False
        total = transcript.total()
        if rhythms and measured_by_rhythms(transcript, total):
            return True
        if by_order and isinstance(self.workload, str):
            measure_by_order(transcript, total, with_cells=self.workload == "any")
        elif by_order:
            transcript.measure(as_asked(*self._asked(domain), 1 - TOTAL, gaussian=transcript.gaussian))
        return by_order

    def _of_marginals(
        self, transcript: MarginalTranscript, domain: Domain | None, constraints: Constraints | None
    ) -> Synopsis:
        """What was measured of them."""
        transcript.finest_first()
        plan = Plan(
            self.name,
            transcript.sensing,
            RecoveryPlan("layers"),
            domain=domain,
            nonnegative=True,
            constraints=constraints,
        )
        return Synopsis(np.concatenate(transcript.values), plan, transcript.law, transcript.guarantee)


def _layer_named(domain: Domain, names: Sequence[str]) -> Layer:
    """The sums by some axes; one that is named twice, as by weekday and by month, is in the groups of both."""
    by_axis: dict[int, list[Ints]] = {}
    for place, coarsening in map(domain.part, names):
        groups = np.arange(domain.shape[place]) if coarsening is None else coarsening.group_of
        by_axis.setdefault(place, []).append(groups)
    layer: list[Coarsened] = [ALL] * len(domain.shape)
    for place, several in by_axis.items():
        joint = np.unique(np.stack(several), axis=1, return_inverse=True)[1]
        layer[place] = in_order_of_first_cells(joint.reshape(-1))
    return Marginals(domain.shape, [layer], domain.ordered).layers[0]


def _checked_workload(given: object) -> str | tuple[tuple[str, ...], ...]:
    """A name, or marginals by the names of their axes."""
    if isinstance(given, str) and ("*" in given or "," in given):
        parts = [[name.strip() for name in one.split("*")] for one in given.removesuffix(",").split(",")]
        if not all(map(all, parts)):
            would_do = "name the axes of each marginal: 'age*sex,region'; of one alone: 'age,'"
            raise InvalidInput("workload", f"{shortened(given)}, which has a gap", would_do)
        given = parts
    if isinstance(given, str):
        remedy = (
            "say any, cells, ranges or marginals, or name the marginals: 'age*sex,region'; of one axis alone: 'age,'"
        )
        return validate.one_of("workload", given, {name: name for name in (*ROWS, "marginals")}, remedy)
    names = [(one,) if isinstance(one, str) else one for one in given] if isinstance(given, Sequence) else []
    right = all(
        isinstance(one, Sequence) and one and all(isinstance(name, str) and name for name in one) for one in names
    )
    if not names or not right:
        would_do = 'name one, such as "marginals", or give those that will be asked: [("age", "sex"), ("region",)]'
        raise InvalidInput("workload", f"something of type {type(given).__name__}", would_do)
    for one in names:
        if len(set(one)) < len(one):
            raise InvalidInput("workload", f"{shortened('*'.join(one))}, with an axis twice", "name each axis once")
    return tuple(tuple(one) for one in names)


def _measure_regular(transcript: Transcript, shares: Shares, left: Fraction = WHOLE) -> None:
    """The cells, blocks of them, and all of them together."""
    for size, share in reversed(regular_layers(transcript.n, shares, transcript.power)):
        transcript.measure(size, share * left)


def _measure_cells(transcript: Transcript, shares: Shares, few_records: Shares) -> None:
    """All cells together, and each of them; or, if there are so few records that most would be lost in the noise of
    cells, and few are in cells that would not, what the shares for that case say: groups that seem to be flat, or parts
    of a grid.
    """
    (_, left), (_, of_total) = regular_layers(transcript.n, shares, transcript.power)
    total = float(transcript.measure(transcript.n, of_total)[0])
    if total >= FEW_RECORDS * transcript.unit:
        transcript.measure(1, left)
        return
    left -= few_records.test
    if transcript.test(detected_alone, few_records.test, STANDS_OUT) >= DETECTED_ALONE:
        transcript.measure(1, left)
    elif few_records.grid:
        _measure_grid(transcript, few_records, total, left)
    else:
        transcript.groups = [first_cells(transcript.n, transcript.n)]  # one group, as those of a row are
        _measure_groups(transcript, few_records, left)


def _measure_row(transcript: Transcript, shares: Shares) -> None:
    """Blocks and cells of them, if cells stand out; else groups that seem to be flat."""
    left = 1 - shares.test
    if transcript.test(standing_out, shares.test, STANDS_OUT) < shares.stands_out_from(transcript.n):
        _measure_groups(transcript, shares, left)
        return
    (_, of_cells), *coarser = regular_layers(transcript.n, shares, transcript.power)
    for size, share in reversed(coarser[1:]):
        transcript.measure(size, share * left)
    size, share = coarser[0]
    sums = transcript.measure(size, share * left)
    transcript.measure(_dense_cells(transcript, sums, size, share * left), of_cells * left)


def _measure_groups(transcript: Transcript, shares: Shares, left: Fraction) -> None:
    """Groups that seem to be flat.

    Where the tree went some way there, the first group is measured down to the first cell, and the last one down to the
    last. That assumes something of the data: that amounts, waiting times and numbers of events are often zero, and that
    what is above the largest value is counted with it, in piles that are too low for the tree. Short ranges up to these
    cells are right then; those that hold the whole group pay for it, and so does the total.
    """
    starts, decay, tree = _grown(transcript.row, hidden(transcript.unit), shares, transcript.terms)
    transcript.tests.append(tree)
    transcript.decay = decay
    left -= shares.tree
    if len(starts) > MOST_PARTS:
        if transcript.groups:
            transcript.measure(1, left)
        else:
            _measure_regular(transcript, shares, left)
        return
    transcript.measure(down_to_the_ends(starts, transcript.n), left)


def _measure_table(transcript: Transcript, shares: Shares) -> None:
    """All cells together, blocks of them, and parts of the blocks, of each more, the more records it has; towards the
    first cell the smallest, for the same reason as in rows.
    """
    *_, (_, of_total) = layers_of_blocks(transcript.n, shares.cells, shares.grid)
    total = float(transcript.measure(transcript.n, of_total)[0])
    _measure_grid(transcript, shares, total, 1 - of_total)


def _measure_grid(transcript: Transcript, shares: Shares, total: float, left: Fraction) -> None:
    """Blocks of cells, and parts of the blocks, beside the `total` that was measured; with what is left."""
    n, least = transcript.n, shares.grid
    *_, (_, of_blocks), (_, of_total) = layers_of_blocks(n, shares.cells, least)
    left /= 1 - of_total
    size = block_size(total, n, least, transcript.deviation(of_blocks * left))
    (_, of_parts), (_, of_blocks), *coarser = [
        (each, share * left) for each, share in layers_of_blocks(n, shares.cells, size)
    ]
    for each, share in reversed(coarser[:-1]):
        transcript.measure(each, share)
    sums = transcript.measure(size, of_blocks).astype(np.float64)
    _measure_parts(transcript, sums, size, of_parts, transcript.deviation(of_blocks))


def _measure_parts(transcript: Transcript, sums: Floats, size: int, share: Fraction, of_sums: float) -> None:
    """Parts of blocks of `size` cells, whose sums were measured with noise of deviation `of_sums`: the cells of dense
    blocks first; then those of blocks half as dense, and so on, as long as the last ones say that it pays.
    """
    n, deviation, layer = transcript.n, transcript.deviation(share), transcript.in_turns(share)
    sizes = part_sizes(sums, size, deviation, of_sums)
    least, whole = dense_from(size, deviation), np.arange(len(sums)) < n // size
    while True:
        last = whole & (sizes == 1) & (sums < 2.0 * least)
        least /= 2.0
        thinner = (sizes > 1) & (sums >= least)
        if not last.any() or not thinner.any():
            break
        cells = layer.cells(np.repeat(sizes == 1, size)[:n])[: n // size * size].reshape(-1, size)
        of_last = cells[last[: n // size]].astype(np.float64)
        part, expected = int(sizes[thinner].min()), float(sums[thinner].mean())
        if not cells_pay(of_last, sums[last], part, expected, deviation):
            break
        sizes[thinner] = 1
    starts = towards_the_first(cut_blocks(sizes, size, n), size)
    layer.finish(1 if len(starts) == n or len(starts) > MOST_PARTS else starts)


def _dense_cells(transcript: Transcript, sums: Ints, size: int, share: Fraction) -> int | Ints:
    """The cells of the blocks in which something is detected, and the other blocks: given about what the sums of blocks
    of `size` are, measured with that share. All cells, if a sum says little or there would be too many groups.
    """
    if transcript.signed:
        return 1
    starts = cells_of_dense_blocks(sums.astype(np.float64), size, transcript.n, transcript.deviation(share))
    return 1 if len(starts) == transcript.n or len(starts) > MOST_PARTS else starts


def _grown(row: Ints, slack: int, shares: Shares, terms: Terms) -> tuple[Ints, int, Expense]:
    """The first cells of flat groups, found with a share of the budget, the tree's decay, and what that cost."""
    epsilon, expense = terms.pure(shares.tree, "find where the cells are flat")
    decay = decay_for(terms.neighbours.distance, epsilon)

    def coins(scores: Ints) -> Mask:
        return terms.sampler.coins(chances_of(scores, decay), terms.source)

    starts = flat_groups(row, slack, decay, coins, shares.singled)
    return singled(starts, len(row), shares.singled), decay, expense
