"""`sparsedp init`: a project file to fill in."""

from __future__ import annotations

from typing import Annotated

import typer

from sparsedp.cli.files import STANDARD, check_output, to_write
from sparsedp.cli.options import Overwrite
from sparsedp.cli.project import NAME
from sparsedp.cli.speaking import show, show_lines

INIT_EXAMPLES = """
sparsedp init
sparsedp init -
"""

TEMPLATE = """\
# What is published of these records, for whom, and at what price: reviewed once, used by `sparsedp release`.
# Options on the command line take precedence. Paths are relative to this file, and stay within its folder.

[data]
source = "visits.parquet"            # CSV or Parquet: a file, a folder, or a pattern such as "visits/*.parquet"
# delimiter = ";"                    # between the fields of a CSV file; left out, a comma
# decimal = ","                      # in its numbers; left out, a point
# date_format = "%d.%m.%Y"           # of its times; left out, as in 2024-03-05T10:00
# encoding = "latin-1"               # of its text; left out, utf-8
# multiline = true                   # its fields may have several lines: weakens the guarantee, which then says so
dataset = "visits"                   # whose budget it is, by its name in the ledger
unit = "patient_id"                  # the column that says whose a record is
# each_row_is_a_person = true        # instead of unit, if no person can have two records
max_contributions = 3                # how many records of one person are counted; others are left out
by = [                               # the table's axes: declared here, never read off the data
  "day:2024-01-01..2024-12-31/1d",   # days, the last one included
  "sex:F,M",
]
# columns = { day = "visited_on" }   # axes whose column has another name
# outside = { sex = "other" }        # what becomes of records beyond an axis; left out, they are dropped
# value = "amount"                   # publish sums of this column instead of counts,
# clamp = [0, 500]                   # each record's value within these bounds,
# resolution = "0.01"                # rounded to this

[privacy]
ledger = "budget.db"                 # `sparsedp ledger init budget.db --dataset visits --epsilon 2` makes it
epsilon = 0.5                        # or rho = …, or epsilon with delta
# neighbours = "add_remove"          # or "replace_one"
# mechanism = "adaptive"             # adaptive:cells, adaptive:ranges, laplace, …

[output]
release = "visits.release.parquet"
# report = "visits.html"
# title = "Visits per day, 2024"
# integers = true                    # publish whole numbers
# sign = "clinic.key"                # sign it: `sparsedp key new clinic` makes the key, and clinic.pub for everybody
"""


def write_template(
    file: Annotated[str, typer.Argument(help="The file to write; - for standard output.")] = NAME,
    overwrite: Overwrite = False,
) -> None:
    """Write a project file with every setting explained; fill it in, and `sparsedp release` is all there is to type."""
    if file == STANDARD:
        show_lines(TEMPLATE.rstrip())
        return
    check_output(file, overwrite=overwrite, binary=False)
    with to_write(file, ".toml", overwrite=overwrite, binary=False) as path:
        path.write_text(TEMPLATE, encoding="utf-8")
    show(f"Wrote {file}; fill it in, and run `sparsedp release --dry-run`.")
