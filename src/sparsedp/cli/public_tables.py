"""Public tables of the user's own, to join a release with: `--with pop=pop.csv`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sparsedp.cli.option_text import pairs
from sparsedp.errors import BadFile, InvalidInput


def tables_of(given: Sequence[str] | None) -> dict[str, Any]:
    """Arrow tables by the names that SQL has for them. They are public, so the types of CSV may be guessed."""
    return {name: _read(Path(file)) for name, file in pairs("--with", given).items()}


def _read(path: Path) -> Any:
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    names = path.name.lower()
    try:
        if names.endswith(".parquet"):
            return pyarrow.parquet.read_table(path)
        if names.endswith((".csv", ".csv.gz")):
            return pyarrow.csv.read_csv(path)
    except FileNotFoundError:
        raise BadFile(f"There is no file {path}; check the path.") from None
    except OSError as error:
        raise BadFile(f"{path} cannot be read: {error.strerror or 'it is damaged or cut short'}.") from None
    except pa.ArrowException:
        kind = "Parquet file" if names.endswith(".parquet") else "CSV file with the columns' names in its first line"
        raise BadFile(f"{path} is not a readable {kind}.") from None
    raise InvalidInput("--with", f"a file named {path.name}", "give a table whose name ends in .csv or .parquet")
