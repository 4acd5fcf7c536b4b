"""Where `sparsedp release` brings a release: a Parquet file, a CSV file, or standard output.

What went to standard output is gone, and cannot be asked later: such a release counts as delivered once it was written
to the end. If that fails, the same command sends it again.
"""

from __future__ import annotations

import filecmp
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from sparsedp.cli.declaration import Declaration
from sparsedp.cli.files import STANDARD
from sparsedp.cli.release_output import write_csv, write_release
from sparsedp.publishing.delivery import Delivery, FileDelivery

if TYPE_CHECKING:
    from sparsedp.releases.release import Release


class OutputDelivery:
    """A CSV file, or standard output in either form."""

    def __init__(self, output: str, form: str, *, overwrite: bool) -> None:
        self._output, self._form, self._overwrite = output, form, overwrite

    @property
    def name(self) -> str:
        """The whole path and the form; standard output has none but its own."""
        place = STANDARD if self._output == STANDARD else os.path.abspath(self._output)
        return f"{self._form} to {place}"

    def check(self) -> None:
        """The command has checked it before it read anything; a CSV file may have come to be since."""
        if self._output != STANDARD and not self._overwrite:
            FileDelivery(Path(self._output).with_suffix(".parquet"), overwrite=True).check()

    def has(self, release: Release) -> bool:
        """Whether the file is what would be written; of standard output nobody can tell."""
        if self._output == STANDARD or self._form != "csv" or not Path(self._output).is_file():
            return False
        with tempfile.TemporaryDirectory(prefix="sparsedp-") as folder:
            written = Path(folder) / "release.csv"
            write_csv(release, written)
            return filecmp.cmp(written, self._output, shallow=False)

    def write(self, release: Release) -> None:
        """Write it to the end."""
        with write_release(self._output, self._form, overwrite=self._overwrite) as write:
            write(release)


def delivery_to(wanted: Declaration) -> Delivery:
    """The place that was asked for."""
    if wanted.output != STANDARD and wanted.form == "parquet":
        return FileDelivery(wanted.output, overwrite=wanted.overwrite)
    return OutputDelivery(wanted.output, wanted.form, overwrite=wanted.overwrite)
