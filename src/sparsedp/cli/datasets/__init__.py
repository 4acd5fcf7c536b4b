"""`sparsedp datasets`: real records to try things on."""

from __future__ import annotations

from sparsedp.cli.command import add, group
from sparsedp.cli.datasets.export import EXPORT_EXAMPLES, export_records
from sparsedp.cli.datasets.listing import LIST_EXAMPLES, list_data_sets

app = group("Real, public records to try things on.", name="datasets")
add(app, "list", list_data_sets, LIST_EXAMPLES)
add(app, "export", export_records, EXPORT_EXAMPLES)
