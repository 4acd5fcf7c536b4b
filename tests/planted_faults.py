"""Run the fuzzer on a library with a fault planted behind every kind of input: `python planted_faults.py FOLDER`."""

import os
import signal
import sys
from pathlib import Path
from typing import Any, NoReturn

import fuzz.__main__ as command  # first: it says how many threads libraries may have
import fuzz.warming
import sparsedp as sdp
import sparsedp.cli._project
import sparsedp.cli._running
from fuzz.specimens import Specimens
from fuzz.verdicts import SECRET_TEXT


def plant() -> None:
    """Readers that do what none may do; the true ones are used where the fault is another's."""
    open_ledger, count, run = sdp.open_ledger, sdp.count, sparsedp.cli._running.run

    def raises(*_: object) -> NoReturn:
        raise KeyError("epsilon")

    def hangs(*_: object) -> NoReturn:
        while True:
            pass

    def dies(path: str, *name: str) -> Any:
        if not name:
            os.kill(os.getpid(), signal.SIGSEGV)
        return open_ledger(path, *name)

    def loses(path: str, **_: object) -> NoReturn:
        Path(path).unlink()
        Path("somewhere.else").write_bytes(b"")
        raise sdp.BadFile(f"{path} cannot be used.")

    def quotes_or_exhausts(source: Any, *given: Any, **asked: Any) -> Any:
        if not isinstance(source, str):
            return bytearray(1 << 36)
        if source.startswith("visits.csv"):
            raise sdp.InvalidInput("source", f"a file with {SECRET_TEXT} in it", "leave that out")
        return count(source, *given, **asked)

    def debits_first(*_: object, ledger: Any, **__: object) -> NoReturn:
        ledger.debit(sdp.Budget(epsilon="1e-6"), "too early")
        raise sdp.InvalidInput("domain", "missing", "give one")

    def prints(arguments: Any) -> int:
        sys.stdout.write(f"The first id is {SECRET_TEXT}-1.\n")
        return run(arguments)

    for name, faulty in {
        "open_release": raises,
        "open_synopsis": hangs,
        "open_ledger": dies,
        "open_stream": loses,
        "count": quotes_or_exhausts,
        "publish": debits_first,
    }.items():
        setattr(sdp, name, faulty)
    setattr(sparsedp.cli._project, "read_project", raises)  # noqa: B010
    setattr(sparsedp.cli._running, "run", prints)  # noqa: B010


def main(folder: str) -> int:
    """Everything is loaded as usual, and then spoilt."""
    warm_up = fuzz.warming.warm_up

    def warmed_up(specimens: Specimens) -> None:
        warm_up(specimens)
        plant()

    fuzz.warming.warm_up = warmed_up
    return command.main(["--inputs", "27", "--seconds", "1", "--folder", folder])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
