"""`sparsedp datasets`: real records to try things on, and the paper's own data."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from sparsedp.cli._files import STANDARD, check_endings, check_output
from sparsedp.cli._options import AsJson, Overwrite
from sparsedp.cli._running import Interrupted
from sparsedp.cli._speaking import listed, show, show_json, show_lines, show_table
from sparsedp.errors import BadFile, InvalidInput, UnknownName

# `sparsedp datasets list`.

LIST_EXAMPLES = """
sparsedp datasets list
sparsedp datasets list --json
"""


def list_data_sets(as_json: AsJson = False) -> None:
    """Say which records can be exported and whose they are, and which of the paper's data are on this machine."""
    from sparsedp.datasets import paper_files
    from sparsedp.datasets.flights import DATA_SETS

    records = list(DATA_SETS.values())
    files = _paper_data()
    if as_json:
        exported = [{"name": each.name, "kind": "records", "about": each.about, "unit": each.unit} for each in records]
        show_json([*exported, *files])
        return
    show_table(
        ("name", "unit", "what it holds"),
        [(each.name, each.unit, each.about) for each in records],
        title="Records, for `sparsedp datasets export`:",
    )
    show("")
    show_table(
        ("name", "cells", "here", "what it holds"),
        [(each["name"], each["cells"], _in_words(each), each["about"]) for each in files],
        title="The paper's histograms, for `sparsedp datasets fetch`:",
    )
    show_lines(f"\nAll but tcptrace are from {paper_files.CITATION}. {paper_files.TERMS}")


def _paper_data() -> list[dict[str, Any]]:
    """Every histogram of the paper; `here` is null where a file of its name is another one."""
    from sparsedp.datasets import connection_trace, paper_files
    from sparsedp.datasets.data_folder import folder_to_read

    folder = folder_to_read()
    found: list[dict[str, Any]] = []
    for file in paper_files.PAPER_FILES.values():
        path = paper_files.path_of(file.name, folder)
        here = paper_files.is_there(file.name, folder) or (None if os.path.lexists(path) else False)
        entry = _entry(file.name, file.about, file.cells, here, path)
        found.append({**entry, "cite": paper_files.CITATION, "terms": paper_files.TERMS})
    trace = connection_trace.trace_file(folder)
    entry = _entry(connection_trace.NAME, connection_trace.ABOUT, connection_trace.CELLS, trace is not None, trace)
    found.append({**entry, "cite": connection_trace.CITATION, "terms": None})
    return found


def _entry(name: str, about: str, cells: int, here: bool | None, file: Path | None) -> dict[str, Any]:
    return {"name": name, "kind": "histogram", "about": about, "cells": cells, "here": here, "file": file}


def _in_words(entry: dict[str, Any]) -> str:
    return "another file" if entry["here"] is None else ("yes" if entry["here"] else "no")


# `sparsedp datasets export`.

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

    from sparsedp.datasets.flights import data_set, export, write_records
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


# `sparsedp datasets fetch`.

FETCH_EXAMPLES = """
sparsedp datasets fetch
sparsedp datasets fetch nettrace search_logs
"""


def fetch_files(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME",
            help="Which of social_network, search_logs and nettrace; left out, all three.",
            show_default=False,
        ),
    ] = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Download the paper's histograms from their authors' repository on GitHub, checked by their checksums.

    They go to the folder that the environment variable SPARSEDP_DATA names, and without it to one of your own
    (`sparsedp datasets path` shows it); files that are there and right are left as they are. SPARSEDP_DATA_URL may
    hold the address of a mirror. Their authors ask that you cite their paper and do not pass the files on.
    """
    from sparsedp.datasets import paper_files

    wanted = _checked(names or [])
    done: dict[str, bool] = {}
    try:
        for name in wanted:
            here = paper_files.is_there(name)
            path = paper_files.fetch(name, overwrite=overwrite)
            done[name] = not here
            if not as_json:
                show(f"{name}: {'was there already' if here else 'fetched and checked'}, {path}")
    except KeyboardInterrupt:
        new = [name for name, fetched in done.items() if fetched]
        raise Interrupted(f"Fetched before that: {listed(new)}." if new else "") from None
    if as_json:
        files = [{"name": name, "file": paper_files.path_of(name), "fetched": new} for name, new in done.items()]
        show_json({"files": files, "cite": paper_files.CITATION, "terms": paper_files.TERMS})
    else:
        show_lines(f"{paper_files.TERMS}\n{paper_files.CITATION}.")


def _checked(names: list[str]) -> list[str]:
    """The names, each once, before anything is downloaded; all three if none was given."""
    from sparsedp.datasets import connection_trace, paper_files
    from sparsedp.datasets.flights import DATA_SETS

    for name in names:
        if name in DATA_SETS:
            raise InvalidInput("data set", f"{name!r}, which is in a package", "`sparsedp datasets export` writes it")
        if name == connection_trace.NAME:
            paper_files.fetch(name)
        paper_files.path_of(name)
    return list(dict.fromkeys(names)) or list(paper_files.PAPER_FILES)


# `sparsedp datasets path`.

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

    if name == connection_trace.NAME:
        trace = connection_trace.trace_file()
        if trace is None:
            raise BadFile(f"There is no trace in {data_folder()}; {connection_trace.how_to_get()}.")
        return trace
    if name not in paper_files.PAPER_FILES:
        raise UnknownName("data set", name, [*paper_files.PAPER_FILES, connection_trace.NAME])
    paper_files.verified(name)
    return paper_files.path_of(name)
