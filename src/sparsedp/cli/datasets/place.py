"""`sparsedp datasets path`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sparsedp.cli.options import AsJson
from sparsedp.cli.speaking import show, show_json

PATH_EXAMPLES = """
sparsedp datasets path
sparsedp datasets path nettrace
"""


def show_path(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="Which file; left out, the folder is shown.", show_default=False),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print the folder of the paper's data, or the path of one file that is there and is the right one.

    The folder is the one that the environment variable SPARSEDP_DATA names, and without it one of your own;
    `sparsedp datasets fetch` makes it where it is missing.
    """
    from sparsedp.datasets.data_folder import folder_to_fill

    path = folder_to_fill() if name is None else _file(name)
    show_json({"data_set": name, "path": path}) if as_json else show(str(path))


def _file(name: str) -> Path:
    from sparsedp.datasets import connection_trace, paper_files
    from sparsedp.datasets.data_folder import data_folder
    from sparsedp.errors import BadFile, UnknownName

    if name == connection_trace.NAME:
        trace = connection_trace.trace_file()
        if trace is None:
            raise BadFile(f"There is no trace in {data_folder()}; {connection_trace.how_to_get()}.")
        return trace
    if name not in paper_files.PAPER_FILES:
        raise UnknownName("data set", name, [*paper_files.PAPER_FILES, connection_trace.NAME])
    paper_files.verified(name)
    return paper_files.path_of(name)
