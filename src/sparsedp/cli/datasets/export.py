"""`sparsedp datasets export`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from sparsedp.cli.files import STANDARD, check_endings, check_output
from sparsedp.cli.options import AsJson, Overwrite
from sparsedp.cli.speaking import show, show_json
from sparsedp.errors import InvalidInput

EXPORT_EXAMPLES = """
sparsedp datasets export flights.parquet
sparsedp datasets export --name flights - | head -n 3
"""


def export_records(
    file: Annotated[str, typer.Argument(help="The file to write, .parquet or .csv; - for CSV on standard output.")],
    name: Annotated[
        str, typer.Option("--name", metavar="NAME", help="Which records; `sparsedp datasets list` names them.")
    ] = "flights",
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Write public records to a file, one row an event, as the examples of the other commands use them."""
    check_output(file, overwrite=overwrite, binary=False)
    if file != STANDARD:
        check_endings(file, (".parquet", ".csv"), "file")
    elif as_json:
        raise InvalidInput("file", "- together with --json", "standard output can hold only one of the two")

    from sparsedp.datasets.records import data_set, export, write_records
    from sparsedp.progress import stage

    records = data_set(name)
    with stage(f"exporting {records.name}"):
        if file == STANDARD:
            write_records(records.read(), sys.stdout.buffer, "csv")
            return
        written = export(records.name, file, overwrite=overwrite)
    if as_json:
        show_json({"data_set": records.name, "file": written, "unit": records.unit})
    else:
        show(f"Wrote {written}: {records.about}; the column {records.unit} says whose a record is.")
