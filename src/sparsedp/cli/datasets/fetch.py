"""`sparsedp datasets fetch`."""

from __future__ import annotations

from typing import Annotated

import typer

from sparsedp.cli.interruption import Interrupted
from sparsedp.cli.options import AsJson, Overwrite
from sparsedp.cli.speaking import listed, show, show_json, show_lines

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
    from sparsedp.datasets.records import DATA_SETS
    from sparsedp.errors import InvalidInput

    for name in names:
        if name in DATA_SETS:
            raise InvalidInput("data set", f"{name!r}, which is in a package", "`sparsedp datasets export` writes it")
        if name == connection_trace.NAME:
            paper_files.fetch(name)
        paper_files.path_of(name)
    return list(dict.fromkeys(names)) or list(paper_files.PAPER_FILES)
