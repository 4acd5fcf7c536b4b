"""The private choice of the sparsity S: the exponential mechanism on the paper's u(D, S), with exact scores.

u(D, S) = C₂·‖x − x_S‖₁/√S + C₄·S·log₂(n/S)·c/ε, where ε is the share left for measuring and c the distance between
neighbours. Under ρ-zCDP the second term, which stands for the size of the noise, is C₄·√(S·log₂(n/S))·c/√(2ρ).

Guarantee: the choice is `epsilon_select`-differentially private for ‖D − D′‖₁ ≤ distance (`sparsity_choice.md`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from sparsedp import validate
from sparsedp.arrays import Ints
from sparsedp.bases.base import Basis
from sparsedp.mechanisms.selection.tail_scores import TailScores, tail_scores
from sparsedp.mechanisms.terms import root_below
from sparsedp.privacy.budget import Budget


@dataclass(frozen=True)
class SelectionConstants:
    """The public constants of the choice; `benchmarks/study_constants.py` prints the table they rest on.

    `tail_weight` is C₂, `noise_weight` is C₄ and `rows_constant` is the C of k(S) = ⌈C·S·log₂(n/S)⌉.
    """

    tail_weight: Fraction = Fraction(1)
    noise_weight: Fraction = Fraction(1, 2)
    rows_constant: Fraction = Fraction(3, 4)

    def __post_init__(self) -> None:
        for name in ("tail_weight", "noise_weight", "rows_constant"):
            object.__setattr__(self, name, validate.positive(name, getattr(self, name)))


def constants_for(decoder: str, basis: str = "haar", *, gaussian: bool = False) -> SelectionConstants:
    """The constants that suit a decoder in a basis: CoSaMP needs the paper's rows, better ones waste budget on them.

    Message passing can do with few where many coefficients fade out, as those of steps in the Haar basis do. The few
    equal ones of spikes and waves it finds only with the paper's rows. Gaussian noise does not grow with the rows, so
    that all do best with many.
    """
    if gaussian:
        return GAUSSIAN_COSAMP if decoder == "cosamp" else GAUSSIAN_CONSTANTS
    if decoder == "vamp" and basis != "haar":
        return VAMP_OUTSIDE_HAAR
    return DECODER_CONSTANTS.get(decoder, SelectionConstants())


DECODER_CONSTANTS = {
    "vamp": SelectionConstants(rows_constant=Fraction(1)),
    "basis_pursuit": SelectionConstants(noise_weight=Fraction(2), rows_constant=Fraction(2)),
    "cosamp": SelectionConstants(noise_weight=Fraction(2828427, 1000000), rows_constant=Fraction(2)),
}
"""Where the best constants are not the defaults."""

VAMP_OUTSIDE_HAAR = SelectionConstants(noise_weight=Fraction(2), rows_constant=Fraction(2))
"""A few equal spikes or waves are missed with fewer rows: the messages settle on nothing, whatever the prior."""

GAUSSIAN_CONSTANTS = SelectionConstants(rows_constant=Fraction(4))
"""In every basis. With C = 4 the largest candidate, S = n/16, takes k = n rows; more gain nothing."""

GAUSSIAN_COSAMP = SelectionConstants(noise_weight=Fraction(1), rows_constant=Fraction(4))
"""CoSaMP looks for S coefficients whatever they are worth, so that too large an S costs it more."""


@dataclass(frozen=True)
class SparsityChoice:
    """The chosen S, which is private output, and the public facts it was chosen by. Nothing else of D is kept."""

    sparsity: int
    rows: int
    candidates: tuple[int, ...]


@dataclass(frozen=True)
class PublicTerms:
    """All that the exponents depend on besides the scores."""

    cells: int
    candidates: tuple[int, ...]
    epsilon_select: Fraction
    measure: Budget
    distance: int
    constants: SelectionConstants

    def noise(self, sparsity: int) -> Fraction:
        """C₄·S·log₂(n/S)·c/ε, or C₄·√(S·log₂(n/S))·c/√(2ρ): the part of u that does not depend on the counts."""
        weight = self.constants.noise_weight * self.distance
        rows = unit_rows(self.cells, sparsity)
        if self.measure.epsilon is not None:
            return weight * rows / self.measure.epsilon
        assert self.measure.rho is not None  # noqa: S101  # one of the two is set in every budget
        return weight * root_below(rows / (2 * self.measure.rho))


def scaled_exponents(tails: TailScores, terms: PublicTerms) -> list[Fraction]:
    """ε·u(S)/(2Δ(S)), each u(S) divided by its own sensitivity Δ(S) = C₂·Δ_T/√S: the paper's form.

    √S cancels in the private part, which moves by at most ε/2 between neighbours; elsewhere it is public.
    """
    half = terms.epsilon_select / 2
    unit = half * tails.step / tails.sensitivity
    scale = half / (terms.constants.tail_weight * tails.sensitivity)
    return [
        unit * score + scale * root_below(Fraction(sparsity)) * terms.noise(sparsity)
        for sparsity, score in zip(terms.candidates, tails.scores, strict=True)
    ]


def plain_exponents(tails: TailScores, terms: PublicTerms) -> list[Fraction]:
    """ε·u(S)/(2Δ), Δ = C₂·Δ_T/√S₀ being the largest sensitivity among the candidates, that of the smallest S₀.

    The factor √(S₀/S) of the private part is rounded down, so it is at most 1 and the part moves by at most ε/2.
    """
    half = terms.epsilon_select / 2
    unit = half * tails.step / tails.sensitivity
    smallest = min(terms.candidates)
    scale = half * root_below(Fraction(smallest)) / (terms.constants.tail_weight * tails.sensitivity)
    return [
        unit * score * root_below(Fraction(smallest, sparsity)) + scale * terms.noise(sparsity)
        for sparsity, score in zip(terms.candidates, tails.scores, strict=True)
    ]


FORMS: dict[str, Callable[[TailScores, PublicTerms], list[Fraction]]] = {
    "scaled": scaled_exponents,
    "plain": plain_exponents,
}


def choose_sparsity(
    counts: Ints,
    basis: Basis,
    *,
    epsilon_select: Fraction,
    measure: Budget,
    distance: int,
    form: str,
    constants: SelectionConstants,
    choose: Callable[[Sequence[Fraction]], int],
) -> SparsityChoice:
    """Draw S with probability ∝ exp(−exponent). Spends `epsilon_select`; `measure`, what is left, only enters u.

    `choose`: draws an index by exponents (`noise/exponential.py`).
    """
    exponents_of = validate.one_of("form", form, FORMS)
    epsilon_select = validate.positive("epsilon_select", epsilon_select)
    candidates = sparsity_candidates(basis.n, constants.rows_constant)
    terms = PublicTerms(basis.n, candidates, epsilon_select, measure, distance, constants)
    tails = tail_scores(basis, counts, candidates, distance=distance)
    sparsity = candidates[choose(exponents_of(tails, terms))]
    rows = rows_for(basis.n, sparsity, constants.rows_constant)
    return SparsityChoice(sparsity, rows, candidates)


# ---- the sparsities S that may be chosen and the rows k(S) each would take: functions of public numbers alone
#
# k(S) = ⌈C·S·log₂(n/S)⌉. The logarithm is a rational computed in integers, so that every machine agrees on k.

_LOG_BITS = 40
_GRID_DIVISOR = 32
SMALLEST_RATIO = 16


def log2_ratio(numerator: int, denominator: int) -> Fraction:
    """log₂(numerator/denominator) for numerator ≥ denominator ≥ 1: below it by less than 2⁻³⁹, exact for powers of two.

    Digit by digit: square the mantissa, and a result of 2 or more is a digit 1. Mantissas keep 128 bits, rounded down.
    """
    whole = (numerator // denominator).bit_length() - 1
    one = 1 << 128
    mantissa = (numerator << 128) // (denominator << whole)
    digits = 0
    for _ in range(_LOG_BITS):
        mantissa = mantissa * mantissa >> 128
        digit = int(mantissa >= 2 * one)
        mantissa >>= digit
        digits = 2 * digits + digit
    return whole + Fraction(digits, 1 << _LOG_BITS)


def unit_rows(cells: int, sparsity: int) -> Fraction:
    """S·log₂(n/S): the rows that S coefficients among n need, where C = 1."""
    return sparsity * log2_ratio(cells, sparsity)


def rows_for(cells: int, sparsity: int, rows_constant: Fraction) -> int:
    """k(S) = ⌈C·S·log₂(n/S)⌉, but at least S and at most n (both needed only for S near n, or n tiny)."""
    product = rows_constant * unit_rows(cells, sparsity)
    return min(cells, max(sparsity, -(-product.numerator // product.denominator)))


def sparsity_candidates(cells: int, rows_constant: Fraction) -> tuple[int, ...]:
    """Every S from 1 to 64, then steps of about 3 %, up to n/16, as long as k(S) grows and is at most n; never empty.

    S·log₂(n/S) falls again beyond n/e, where "sparser" would mean "noisier": n/16 is well before that. There are fewer
    than 400 candidates for n = 2²⁴ and 600 for n = 2³¹.
    """
    chosen = [1]
    rows = rows_for(cells, 1, rows_constant)
    sparsity = 2
    while sparsity <= cells // SMALLEST_RATIO:
        if rows_constant * unit_rows(cells, sparsity) > cells:
            break
        more = rows_for(cells, sparsity, rows_constant)
        if more > rows:
            chosen.append(sparsity)
            rows = more
        sparsity += max(1, sparsity // _GRID_DIVISOR)
    return tuple(chosen)
