"""diffprivlib: `tools.histogram`. It takes records, not counts, and publishes nothing below 0."""

from __future__ import annotations

from diffprivlib import tools

from peers.contender import RECORDS, Contender, Run, records_of
from sparsedp.arrays import Floats, Ints

# Its noise is ⌊ln(u)/−ε⌋ for one u of 53 bits, so it ends at 37/ε, where an output tells neighbours apart for certain.
GUARANTEE = (
    "ε up to about 2⁻⁵³ a cell: noise from one 53-bit float, never above 37/ε; one record counts 1, several of a "
    "person are not bounded; the range must be given, else it is read off the data, with a warning"
)


def histogram(counts: Ints, epsilon: str) -> Run:
    records, cells = records_of(counts), counts.size

    def run() -> Floats:
        values: Floats = tools.histogram(records, epsilon=float(epsilon), bins=cells, range=(0, cells))[0].astype(float)
        return values

    return run


CONTENDERS = (Contender("diffprivlib", "tools.histogram, clipped at 0", RECORDS, GUARANTEE, histogram),)
