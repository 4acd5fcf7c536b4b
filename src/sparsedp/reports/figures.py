"""Numbers as people read them, no finer than they are known: 1,234 ± 56."""

from __future__ import annotations

from fractions import Fraction
from math import exp, floor, isfinite, log10

from sparsedp.releases.uncertainty import Interval

MOST_DECIMALS = 6
LARGE = ((1e12, " trillion"), (1e9, " billion"), (1e6, " million"))


def decimals_for(error: float) -> int:
    """How many decimals show two digits of an error; whole numbers for errors of ten and more."""
    if not (isfinite(error) and error > 0):
        return 0
    return min(MOST_DECIMALS, max(0, 1 - floor(log10(error))))


def rounded(number: float, error: float) -> str:
    """A number down to the second digit of its error: 336,776 for an error of 57, and 336,800 for one of 1,234."""
    shown = two_digits(error)
    if shown < 100:
        return f"{number:,.{decimals_for(shown)}f}"
    step = 10 ** (floor(log10(shown)) - 1)
    return f"{round(number / step) * step:,.0f}"


def two_digits(error: float) -> float:
    """The error rounded: 1,234 to 1,200, and 9.97 to 10."""
    return float(f"{error:.1e}")


def unit_for(number: float, error: float) -> tuple[float, str]:
    """What large numbers are counted in, where the error is not too small for that: "152.0 ± 2.8 million"."""
    most = max(abs(number), error)
    return next(((size, word) for size, word in LARGE if most >= size and error >= size / 1000), (1.0, ""))


def with_error(interval: Interval) -> str:
    """The estimate and half its range: "1,234 ± 56"; where the range was cut at zero, the range itself."""
    low, high, estimate = interval.low, interval.high, interval.estimate
    half = (high - low) / 2
    if not (isfinite(low) and isfinite(high)):
        return f"{plain(estimate)} (error not known)"
    if half == 0:
        return f"{plain(estimate)} (exact)"
    size, word = unit_for(estimate, half)
    shown = [rounded(number / size, half / size) for number in (estimate, half, low, high)]
    if abs((high + low) / 2 - estimate) > 0.05 * half:
        return f"{shown[0]} ({shown[2]} to {shown[3]}){word}"
    return f"{shown[0]} ± {shown[1]}{word}"


def error_alone(half: float) -> str:
    """ "± 56"."""
    size, word = unit_for(0.0, half)
    return f"± {rounded(half / size, half / size)}{word}"


def plain(number: float) -> str:
    """A number without a known error: six digits at most."""
    if number == 0 or not isfinite(number):
        return f"{number:g}"
    return f"{number:,.{min(MOST_DECIMALS, max(0, 5 - floor(log10(abs(number)))))}f}".rstrip("0").rstrip(".")


def factor(amount: Fraction) -> str:
    """e to the amount, in about three digits: "1.65"; rounded up, for it is promised that odds change by no more."""
    if amount > 100:
        return f"more than 10^{floor(float(amount) / 2.302585092994046)}"
    value = exp(float(amount))
    if value < 1.1:
        return f"{_up(value, 4):.4f}"
    return f"{_up(value, 2):.2f}" if value < 10 else f"{_up(value, 0):,.0f}"


def chance(amount: Fraction) -> str:
    """What an even chance may become at most, in per cent, rounded up: "62.3 %"; never quite 100 %."""
    value = 100 / (1 + exp(-min(float(amount), 700.0)))
    if value > 99.9:
        return "nearly 100 %"
    return f"{_up(value, 1):.1f} %"


def other_chance(amount: Fraction) -> str:
    """What an even chance may become at least, in per cent, rounded down."""
    value = 100 / (1 + exp(min(float(amount), 700.0)))
    if value < 0.1:
        return "nearly 0 %"
    return f"{-_up(-value, 1):.1f} %"


def one_in(small: Fraction) -> str:
    """A small chance: "1 in 1,000,000"; rounded so that it is never called smaller than it is."""
    inverse = 1 / small
    if inverse >= 10**15:
        return f"1 in 10^{len(str(inverse.numerator // inverse.denominator)) - 1}"
    return f"1 in {inverse.numerator // inverse.denominator:,}"


def _up(value: float, digits: int) -> float:
    scale = 10.0**digits
    return -floor(-round(value * scale, 6)) / scale
