"""The budgets at which a preview simulates, as factors of the one that was asked for."""

from fractions import Fraction

ASKED_FOR = Fraction(1)
LESS = Fraction(1, 2)
MORE = (Fraction(2), Fraction(4))
FACTORS = (LESS, ASKED_FOR, *MORE)
