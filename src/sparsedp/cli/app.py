"""The application: every command in its place."""

from __future__ import annotations

from typing import Annotated

import typer

from sparsedp.cli import datasets, ledger, stream
from sparsedp.cli.audit import AUDIT_EXAMPLES, audit_promises
from sparsedp.cli.command import add, group
from sparsedp.cli.compare import COMPARE_EXAMPLES, compare_releases
from sparsedp.cli.exit_codes import MEANINGS
from sparsedp.cli.initialise import INIT_EXAMPLES, write_template
from sparsedp.cli.inspection import INSPECT_EXAMPLES, inspect_file
from sparsedp.cli.plot import PLOT_EXAMPLES, plot_release
from sparsedp.cli.preview import PREVIEW_EXAMPLES, preview_release
from sparsedp.cli.query import QUERY_EXAMPLES, query_release
from sparsedp.cli.release import RELEASE_EXAMPLES, release_records
from sparsedp.cli.report import REPORT_EXAMPLES, write_report
from sparsedp.cli.signing import KEY_EXAMPLES, SIGN_EXAMPLES, VERIFY_EXAMPLES, make_key, sign_file, verify_file
from sparsedp.version import __version__

EPILOG = "Exit codes:\n" + "\n".join(f"  {code:>3}  {meaning}" for code, meaning in MEANINGS.items())

app = group(
    "Publish a sensitive table once, under differential privacy; then ask the published copy anything.",
    epilog=EPILOG,
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"sparsedp {__version__}")
        raise typer.Exit


@app.callback()
def _everywhere(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="After an error, show where in the code it happened: no values, no data.")
    ] = False,
) -> None:
    """What holds for every command; `--debug` is read where errors are explained."""


add(app, "init", write_template, INIT_EXAMPLES)
add(app, "preview", preview_release, PREVIEW_EXAMPLES)
add(app, "release", release_records, RELEASE_EXAMPLES)
add(app, "query", query_release, QUERY_EXAMPLES)
add(app, "report", write_report, REPORT_EXAMPLES)
add(app, "plot", plot_release, PLOT_EXAMPLES)
add(app, "compare", compare_releases, COMPARE_EXAMPLES)
add(app, "inspect", inspect_file, INSPECT_EXAMPLES)
add(app, "audit", audit_promises, AUDIT_EXAMPLES)
add(app, "sign", sign_file, SIGN_EXAMPLES)
add(app, "verify", verify_file, VERIFY_EXAMPLES)
keys = group("Keys to sign with.", name="key")
add(keys, "new", make_key, KEY_EXAMPLES)
app.add_typer(keys)
app.add_typer(ledger.app)
app.add_typer(stream.app)
app.add_typer(datasets.app)
