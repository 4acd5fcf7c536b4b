"""`sparsedp datasets list`."""

from __future__ import annotations

from sparsedp.cli.options import AsJson
from sparsedp.cli.speaking import show_json
from sparsedp.cli.tables import show_table

LIST_EXAMPLES = """
sparsedp datasets list
"""


def list_data_sets(as_json: AsJson = False) -> None:
    """Say which records can be exported, and which of their columns says whose a record is."""
    from sparsedp.datasets.records import DATA_SETS

    if as_json:
        show_json([{"name": each.name, "about": each.about, "unit": each.unit} for each in DATA_SETS.values()])
        return
    show_table(("name", "unit", "what it holds"), [(each.name, each.unit, each.about) for each in DATA_SETS.values()])
