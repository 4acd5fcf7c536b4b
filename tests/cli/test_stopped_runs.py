"""A release that is stopped late: what is said is true, and what is paid for is had without paying twice."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from cli_terminal import in_own_folder, ok, refused, run
from visit_records import ISSUE, write_visits

import sparsedp as sdp
from sparsedp import synopsis
from sparsedp.cli import _files, _release_run, _running
from sparsedp.errors import BadFile
from sparsedp.files import whole_file
from sparsedp.mechanisms.adaptive import Adaptive
from sparsedp.privacy.ledger_file import DataSetLedger
from sparsedp.releases.release import Release

UNPAID = ("release", *ISSUE, "--epsilon", "0.5")
ORDER = (*UNPAID, "--ledger", "budget.db")
RELEASE = (*ORDER, "-o", "visits.release.parquet")
NOTHING = "Interrupted. Nothing was spent and nothing was written."
GOES_ON = "goes on from what is stored and spends nothing."


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_own_folder(tmp_path, monkeypatch)
    write_visits()
    ok("ledger", "init", "budget.db", "--dataset", "visits", "--epsilon", "2")


def states() -> list[str]:
    spends = ok("ledger", "show", "budget.db", "--json").json["data_sets"][0]["spends"]
    return [spend["state"] for spend in spends]


@contextmanager
def stopped_at(place: Any, name: str, error: BaseException | None = None) -> Iterator[None]:
    def stop(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt if error is None else error

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(place, name, stop)
        yield


def full(*_: Any, **__: Any) -> OSError:
    return OSError(errno.ENOSPC, "No space left on device")


def stop_before_the_file() -> str:
    with stopped_at(Release, "save"):
        return ended_with(130, *RELEASE)


def stop_after_the_file(*command: str) -> str:
    with stopped_at(DataSetLedger, "deliver"):
        return ended_with(130, *command)


def ended_with(code: int, *command: str) -> str:
    """All that was said on standard error, beside what was taken up."""
    ended = run(*command)
    assert (ended.code, ended.output) == (code, b"")
    return ended.errors


def test_a_file_that_is_there_whole_is_recognised_and_recorded_free_of_charge() -> None:
    sentence = stop_after_the_file(*RELEASE)
    assert "ε = 0.5 was debited from the ledger and stays spent." in sentence
    assert "visits.release.parquet holds the release, whole: the same command again takes note of that" in sentence
    written = Path("visits.release.parquet").read_bytes()
    assert states() == ["stored"]
    foretold = ok(*RELEASE, "--dry-run").text
    assert "Would record that visits.release.parquet, which holds that release, was delivered." in foretold
    assert "Would write" not in foretold
    assert states() == ["stored"]
    Path("visits.parquet").unlink()  # it is not read again
    again = ok(*RELEASE)
    assert "visits.release.parquet was there already, and is now recorded as delivered" in again.text
    assert "nothing more is spent" in again.errors
    assert Path("visits.release.parquet").read_bytes() == written
    assert states() == ["delivered"]


def test_a_csv_file_that_is_there_whole_is_recognised_too() -> None:
    command = (*ORDER, "-o", "visits.csv")
    assert "visits.csv holds the release, whole" in stop_after_the_file(*command)
    assert "was there already" in ok(*command).text
    assert states() == ["delivered"]


def test_a_csv_file_that_is_another_one_is_left_alone() -> None:
    command = (*ORDER, "-o", "visits.csv")
    stop_after_the_file(*command)
    Path("visits.csv").write_text("somebody else's")
    ended = run(*command)
    assert ended.code != 0
    assert "visits.csv exists already; give another name, or say --overwrite." in ended.errors, ended.errors
    assert Path("visits.csv").read_text() == "somebody else's"
    assert states() == ["stored"]
    assert "was there already" not in ok(*command, "--overwrite").text
    assert states() == ["delivered"]


def test_a_resumed_run_that_is_stopped_when_the_file_is_there_says_so() -> None:
    stop_before_the_file()
    sentence = stop_after_the_file(*RELEASE)
    assert "Interrupted. Nothing more was spent. visits.release.parquet holds the release, whole" in sentence
    assert "nothing was written" not in sentence
    assert "was there already" in ok(*RELEASE).text
    assert states() == ["delivered"]


def test_a_resumed_run_that_is_stopped_before_the_file_says_how_to_go_on() -> None:
    stop_before_the_file()
    sentence = stop_before_the_file()
    assert "Interrupted. Nothing more was spent. The same command again, also with another -o, or `" in sentence
    assert "`sparsedp ledger recover budget.db --spend 1 -o visits.release.parquet` " + GOES_ON in sentence
    ok("ledger", "recover", "budget.db", "--spend", "1", "-o", "visits.release.parquet")
    assert states() == ["delivered"]


def test_another_file_of_that_name_is_left_alone_and_nothing_is_spent() -> None:
    stop_before_the_file()
    Path("visits.release.parquet").write_text("somebody else's")
    sentence = ended_with(1, *RELEASE)
    assert "visits.release.parquet, which exists; give another name, or --overwrite." in sentence
    assert "`sparsedp ledger recover budget.db --spend 1 -o FILE` " + GOES_ON in sentence
    assert "exists already" in refused(*RELEASE, "--dry-run")
    assert Path("visits.release.parquet").read_text() == "somebody else's"
    assert states() == ["stored"]
    ok(*RELEASE, "--overwrite")
    assert states() == ["delivered"]


def test_stopped_before_anything_is_stored_nothing_is_promised() -> None:
    with stopped_at(Adaptive, "_measured"):
        sentence = refused(*RELEASE, code=130)
    assert "Nothing is stored of what it paid for: the same command would spend again." in sentence
    assert states() == ["debited"]


def test_without_a_ledger_what_is_there_is_spent() -> None:
    def written_and_stopped(*arguments: Any, **settings: Any) -> None:
        whole_file.written_whole(*arguments, **settings)
        raise KeyboardInterrupt

    command = (*UNPAID, "--no-ledger", "-o", "visits.release.parquet")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sparsedp.files.columns_file.written_whole", written_and_stopped)
        sentence = refused(*command, code=130)
    assert "Interrupted. ε = 0.5 is spent, and the release is visits.release.parquet." in sentence
    with stopped_at(Release, "save"):
        assert NOTHING in refused(*command, "--overwrite", code=130)
    with stopped_at(_files, "send"):
        sentence = refused(*command[:-2], "-o", "-", code=130)
    assert "Part of the release may have gone to standard output: count ε = 0.5 as spent." in sentence


def test_an_interruption_that_a_library_made_an_error_of_is_explained_the_same_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stop_before_the_file()
    monkeypatch.setattr(_running.Interruption, "noticed", property(lambda _: True, lambda *_: None), raising=False)
    with stopped_at(DataSetLedger, "deliver", RuntimeError("cancelled")):
        assert "visits.release.parquet holds the release, whole" in ended_with(130, *RELEASE)


def test_stopped_once_more_while_it_finds_out_it_says_where_to_look() -> None:
    with stopped_at(Release, "save"), stopped_at(_release_run, "_done"):
        sentence = refused(*RELEASE, code=130)
    assert sentence == "sparsedp: Interrupted. What was spent is told by `sparsedp ledger show budget.db`.\n"
    with stopped_at(Release, "save"), stopped_at(DataSetLedger, "stored", BadFile("gone")):
        assert "What was spent is told by" in ended_with(130, *RELEASE)


def test_stopped_after_the_last_words_it_does_not_deny_them() -> None:
    published = _release_run.published

    def then_stopped(*arguments: Any, **settings: Any) -> None:
        published(*arguments, **settings)
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_release_run, "published", then_stopped)
        ended = run(*RELEASE)
    assert ended.errors == "sparsedp: Interrupted. ε = 0.5 is spent, and the release is visits.release.parquet.\n"


@pytest.mark.parametrize("output", ["visits.release.parquet", "-"])
def test_a_full_disk_names_the_commands_that_cost_nothing(output: str) -> None:
    place, name = (_files, "send") if output == "-" else (Release, "save")
    error = full() if output == "-" else BadFile("Could not write it: No space left on device.")
    with stopped_at(place, name, error):
        sentence = refused(*ORDER, "-o", output)
    assert "No space left on device" in sentence
    assert "ε = 0.5 was debited from the ledger before this happened and stays spent." in sentence
    command = f"`sparsedp ledger recover budget.db --spend 1 -o {output}`"
    assert f"The same command once that is mended, or now with another -o, or {command} {GOES_ON}" in sentence
    with stopped_at(place, name, error):  # still full: nothing more is spent, and the way out is told again
        ended = run(*ORDER, "-o", output)
    assert command in ended.errors
    assert states() == ["stored"]


@pytest.mark.parametrize("other", ["elsewhere.parquet", "elsewhere.csv", "-"])
def test_the_same_release_under_another_name_is_taken_up_free_of_charge(other: str) -> None:
    stop_before_the_file()
    foretold = ok(*ORDER, "-o", other, "--dry-run")
    assert "Would go on from what an interrupted run has stored (spend 1, " in foretold.text
    Path("visits.parquet").unlink()  # what was measured is what was paid for
    ended = ok(*ORDER, "-o", other)
    assert "of the records as they were then, is published" in ended.errors
    assert states() == ["delivered"]
    if other.endswith(".parquet"):
        shown = ok("ledger", "show", "budget.db", "--json").json["data_sets"][0]["spends"][0]
        assert sdp.open_release(other).digest == shown["release"]


def test_what_was_delivered_is_not_delivered_again_for_nothing() -> None:
    stop_before_the_file()
    ok(*ORDER, "-o", "first.parquet")
    ok(*ORDER, "-o", "second.parquet")
    assert states() == ["delivered", "delivered"]
    assert sdp.open_release("first.parquet").digest != sdp.open_release("second.parquet").digest


def test_dry_runs_as_json_tell_what_is_stored() -> None:
    assert ok(*RELEASE, "--dry-run", "--json").json["stored"] is None
    stop_before_the_file()
    foretold = ok(*RELEASE, "--dry-run", "--json").json
    assert (foretold["stored"]["spend"], foretold["would_spend"]) == (1, None)


def test_records_that_are_piped_in_are_known_by_where_their_release_goes() -> None:
    write_visits("visits.csv")
    records = Path("visits.csv").read_bytes()
    piped = ("release", "-", *ORDER[2:])
    with stopped_at(synopsis.Synopsis, "recover"):
        sentence = run(*piped, "-o", "a.parquet", given=records).errors
    assert "The same command again, or `sparsedp ledger recover" in sentence
    assert "spend nothing more" in ok(*piped, "-o", "a.parquet", "--dry-run").text
    assert "Would spend ε = 0.5" in ok(*piped, "-o", "b.parquet", "--dry-run").text
    ok(*piped, "-o", "b.parquet", given=records)
    assert states() == ["stored", "delivered"]
    ok(*piped, "-o", "a.parquet")
    assert states() == ["delivered", "delivered"]


def test_who_lost_the_race_for_the_budget_is_not_told_of_the_winner_s_spend(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same order twice at once: whoever comes second has paid nothing, and has nothing to recover."""
    runs = iter([lambda: ok(*UNPAID[:-1], "2", "--ledger", "budget.db", "-o", "winner.release.parquet")])
    monkeypatch.setattr(_release_run, "refuse_if_interrupted", lambda: next(runs, lambda: None)())
    said = refused(*UNPAID[:-1], "2", "--ledger", "budget.db", "-o", "visits.release.parquet", code=3)
    assert "nothing is left" in said
    assert said.endswith("Nothing was spent.\n")
    assert "recover" not in said
    assert states() == ["delivered"]
