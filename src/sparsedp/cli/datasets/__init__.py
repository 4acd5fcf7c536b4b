"""`sparsedp datasets`: real records to try things on, and the paper's own data."""

from __future__ import annotations

from sparsedp.cli.command import add, group
from sparsedp.cli.datasets.export import EXPORT_EXAMPLES, export_records
from sparsedp.cli.datasets.fetch import FETCH_EXAMPLES, fetch_files
from sparsedp.cli.datasets.listing import LIST_EXAMPLES, list_data_sets
from sparsedp.cli.datasets.place import PATH_EXAMPLES, show_path

app = group("Real, public records to try things on, and the data of the paper.", name="datasets")
add(app, "list", list_data_sets, LIST_EXAMPLES)
add(app, "export", export_records, EXPORT_EXAMPLES)
add(app, "fetch", fetch_files, FETCH_EXAMPLES)
add(app, "path", show_path, PATH_EXAMPLES)
