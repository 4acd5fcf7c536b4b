"""Keys, signatures and what a ledger has paid for, from the shell: whatever is wrong with a key, nothing is spent."""

import os
import subprocess
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml
from cli_terminal import in_own_folder, ok, refused, run
from daily_visits import daily_visits
from real_process import ENTRY, PATIENCE, await_text, started
from visit_records import ISSUE, write_visits

import sparsedp as sdp
from sparsedp.publishing.order import FileDelivery

OUT = "visits.release.parquet"
WORDS = "some words"
PAID = ("--epsilon", "0.5", "--ledger", "budget.db", "-o", OUT)


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_own_folder(tmp_path, monkeypatch)
    monkeypatch.delenv("SPARSEDP_PASSPHRASE", raising=False)


@pytest.fixture
def records() -> None:
    write_visits()
    ok("ledger", "init", "budget.db", "--dataset", "visits", "--epsilon", "2")
    ok("key", "new", "office")


def spends() -> list[Any]:
    found: list[Any] = ok("ledger", "show", "budget.db", "--json").json["data_sets"][0]["spends"]
    return found


def locked(name: str, passphrase: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARSEDP_PASSPHRASE", passphrase)
    assert ok("key", "new", name, "--passphrase", "--json").json["locked"] is True
    monkeypatch.delenv("SPARSEDP_PASSPHRASE")


# ---- keys


def test_a_new_key() -> None:
    facts = ok("key", "new", "office", "--json").json
    assert facts["locked"] is False
    assert facts["fingerprint"].startswith("SHA256:")
    assert sorted(path.name for path in Path().iterdir()) == ["office.key", "office.pub"]
    assert "never replaced" in refused("key", "new", "office")
    assert "there is no folder" in refused("key", "new", "missing/office").lower()


def test_a_passphrase_from_a_descriptor_from_the_environment_and_from_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    path = daily_visits()
    Path("words").write_text("some words\n")
    for name in ("locked", "other"):
        with open("words", "rb") as file:
            ok("key", "new", name, "--passphrase-fd", file.fileno())
    assert "there is no terminal to ask at" in refused("sign", path, "--key", "locked.key")
    monkeypatch.setenv("SPARSEDP_PASSPHRASE", "other words")
    assert "passphrase is not that of locked.key" in refused("sign", path, "--key", "locked.key")
    assert sdp.open_release(path).signature is None
    monkeypatch.setenv("SPARSEDP_PASSPHRASE", "some words")
    ok("sign", path, "--key", "locked.key")
    ok("verify", path, "--signer", "locked.pub")
    for descriptor in (999, -1, 2**40, 2**70):
        said = refused("sign", path, "--key", "locked.key", "--passphrase-fd", descriptor)
        assert "from which no text can be read" in said


def test_a_passphrase_is_asked_for_at_a_terminal_and_not_shown() -> None:
    outer, inner = os.openpty()
    process = started("key", "new", "office", "--passphrase", stdin=inner, start_new_session=True, stderr=inner)
    os.close(inner)
    heard = await_text(outer, b"Passphrase of office.key: ")
    os.write(outer, b"some words\n")
    heard += await_text(outer, b"The same again: ")
    os.write(outer, b"some words\n")
    output, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert b"some words" not in heard + output
    assert b"ENCRYPTED" in Path("office.key").read_bytes()


# ---- sign and verify


def test_sign_and_verify() -> None:
    path = daily_visits()
    before = sdp.open_release(path)
    mark = ok("key", "new", "office", "--json").json["fingerprint"]
    ok("key", "new", "other")
    assert "is not signed" in refused("verify", path, "--signer", "office.pub")
    assert mark in ok("sign", path, "--key", "office.key").text
    assert mark in ok("verify", path, "--signer", "office.pub").text
    assert (
        ok("verify", "-", "--signer", "office.pub", "--json", given=Path(path).read_bytes()).json["signed_with"] == mark
    )
    assert "is signed by another key" in refused("verify", path, "--signer", "other.pub")
    assert sdp.open_release(path).digest == before.digest
    content = bytearray(Path(path).read_bytes())
    content[40] ^= 1
    Path(path).write_bytes(content)
    sentence = refused("verify", path, "--signer", "office.pub")
    assert "not signed" not in sentence
    assert "another key" not in sentence


def test_signing_again() -> None:
    path = daily_visits()
    ok("key", "new", "office")
    ok("key", "new", "other")
    ok("sign", path, "--key", "office.key")
    content = Path(path).read_bytes()
    ok("sign", path, "--key", "office.key")
    assert Path(path).read_bytes() == content
    assert "is signed already, with SHA256:" in refused("sign", path, "--key", "other.key")
    assert Path(path).read_bytes() == content
    ok("sign", path, "--key", "other.key", "--overwrite")
    ok("verify", path, "--signer", "other.pub")


def test_a_synopsis_and_what_cannot_be_signed() -> None:
    ok("key", "new", "office")
    sdp.Laplace().measure([1, 2, 3], epsilon=1).save("x.synopsis")
    ok("sign", "x.synopsis", "--key", "office.key")
    ok("verify", "x.synopsis", "--signer", "office.pub")
    Path("notes.txt").write_text("hello")
    assert "not a readable Parquet file" in refused("sign", "notes.txt", "--key", "office.key")
    assert "name a file" in refused("sign", "-", "--key", "office.key")
    assert "There is no file" in refused("verify", "missing", "--signer", "office.pub")


def test_inspect_and_the_page_say_who_signed_or_that_nobody_did() -> None:
    path = daily_visits()
    assert "signature: nobody signed it" in ok("inspect", path).text
    assert ok("inspect", path, "--json").json["signed_with"] is None
    ok("report", path, "-o", "before.html")
    assert "by nobody: anybody could have written this file" in Path("before.html").read_text()
    mark = ok("key", "new", "office", "--json").json["fingerprint"]
    ok("sign", path, "--key", "office.key")
    text = ok("inspect", path).text
    assert f"signed with {mark} (checked against no key that you named" in text
    assert ok("inspect", path, "--json").json["signed_with"] == mark
    ok("report", path, "-o", "after.html")
    page = Path("after.html").read_text()
    assert f"with the key {mark}" in page
    assert "Anybody can make a key" in page


def test_a_deployment_record() -> None:
    path = daily_visits()
    printed = ok("inspect", path, "--registry").text
    assert yaml.safe_load(printed)["deployment"]["privacy_loss"]["privacy_parameters"] == {"epsilon": 1000}
    assert "leave one of the two out" in refused("inspect", path, "--registry", "--json")
    sdp.Laplace().measure([1, 2, 3], epsilon=1).save("x.synopsis")
    assert "holds a synopsis" in refused("inspect", "x.synopsis", "--registry")


# ---- sparsedp release --sign


@pytest.mark.usefixtures("records")
def test_a_release_is_signed_and_the_ledger_has_its_digest() -> None:
    facts = ok("release", *ISSUE, *PAID, "--sign", "office.key", "--report", "x.html", "--json").json
    release = sdp.open_release(OUT, signer="office.pub")
    assert release.signature is not None
    assert facts["signed_with"] == release.signature.fingerprint
    assert spends()[0]["release"] == release.digest
    assert release.signature.fingerprint in Path("x.html").read_text()


@pytest.mark.usefixtures("records")
def test_whatever_is_wrong_with_the_key_nothing_is_spent(monkeypatch: pytest.MonkeyPatch) -> None:
    locked("locked", "some words", monkeypatch)
    Path("open.key").write_bytes(Path("office.key").read_bytes())
    Path("open.key").chmod(0o644)
    Path("nonsense.key").write_text("nonsense")
    wrong = {
        "missing.key": "cannot be read: No such file",
        "office.pub": "--sign is office.pub, which is a public key",
        "nonsense.key": "no private key in PKCS#8 PEM",
        "open.key": "which others may read",
        "locked.key": "there is no terminal to ask at",
        "visits.parquet": "no private key in PKCS#8 PEM",
    }
    for key, why in wrong.items():
        for dry in ((), ("--dry-run",)):
            assert why in refused("release", *ISSUE, *PAID, "--sign", key, *dry), key
    monkeypatch.setenv("SPARSEDP_PASSPHRASE", "other words")
    assert "passphrase is not that of locked.key" in refused("release", *ISSUE, *PAID, "--sign", "locked.key")
    csv = (*PAID[:-1], "visits.csv")
    assert "CSV has no place for a signature" in refused("release", *ISSUE, *csv, "--sign", "office.key")
    assert "given without a key" in refused("release", *ISSUE, *PAID, "--passphrase-fd", "3")
    assert spends() == []
    assert not Path(OUT).exists()
    assert not Path("budget.db.synopses").exists()


@pytest.mark.usefixtures("records")
def test_a_real_process_refuses_a_key_before_it_debits() -> None:
    ended = subprocess.run(
        [ENTRY, "release", *ISSUE, *PAID, "--sign", "office.pub"], capture_output=True, text=True, timeout=PATIENCE
    )
    assert ended.returncode == 1
    assert ended.stderr == "sparsedp: --sign is office.pub, which is a public key; give the private one: NAME.key.\n"
    assert spends() == []


@pytest.mark.usefixtures("records")
def test_an_interrupted_release_is_signed_when_it_is_taken_up(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as cut:
        cut.setattr(FileDelivery, "write", _full)
        assert run("release", *ISSUE, *PAID, "--sign", "office.key").code == 1
    assert [spend["state"] for spend in spends()] == ["stored"]
    ended = run("release", *ISSUE, *PAID, "--sign", "office.key")
    assert ended.code == 0, ended.errors
    assert sdp.open_release(OUT, signer="office.pub").digest == spends()[0]["release"]
    assert len(spends()) == 1


@pytest.mark.usefixtures("records")
def test_an_unsigned_file_is_not_taken_for_the_signed_one(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as cut:
        cut.setattr("sparsedp.privacy.ledger_file.DataSetLedger.deliver", _full)
        assert run("release", *ISSUE, *PAID).code == 1
    assert sdp.open_release(OUT).signature is None
    ended = run("release", *ISSUE, *PAID, "--sign", "office.key")
    assert ended.code == 1
    assert "which exists" in ended.errors
    assert run("release", *ISSUE, *PAID, "--sign", "office.key", "--overwrite").code == 0
    assert sdp.open_release(OUT, signer="office.pub").digest == spends()[0]["release"]
    assert len(spends()) == 1


def _full(*_: object) -> None:
    raise sdp.BadFile("No room.")


@pytest.mark.usefixtures("records")
def test_a_project_file_names_the_key() -> None:
    Path("sparsedp.toml").write_text('[output]\nsign = "office.key"\n')
    ok("release", *ISSUE, *PAID)
    sdp.open_release(OUT, signer="office.pub")


def test_publish_signs(tmp_path: Path) -> None:
    private, public = sdp.new_key(tmp_path / "office", WORDS)
    write_visits()
    wanted: dict[str, Any] = {"domain": ["sex:F,M"], "privacy_unit": "patient_id", "epsilon": 1, "to": OUT}
    ledger = sdp.open_ledger("budget.db").declare("visits", epsilon=2)
    with pytest.raises(sdp.InvalidInput, match=r"sign is .*office\.pub, which is a public key"):
        sdp.publish("visits.parquet", ledger=ledger, sign=public, **wanted)
    with pytest.raises(sdp.InvalidInput, match="passphrase is not that of"):
        sdp.publish("visits.parquet", ledger=ledger, sign=private, passphrase=WORDS[1:], **wanted)
    assert spends() == []
    assert not Path(OUT).exists()
    sdp.publish("visits.parquet", ledger=ledger, sign=private, passphrase=WORDS, **wanted)
    assert sdp.open_release(OUT, signer=public).digest == ledger.entries[0].release_digest


def test_a_stream_s_release() -> None:
    ok("key", "new", "office")
    ok("stream", "init", "x.stream", "--epsilon", "1", "--start", "2026-01-01", "--every", "1d", "--no-ledger")
    ok("stream", "observe", "x.stream", given="3\n4\n5\n")
    assert "which is a public key" in refused("stream", "publish", "x.stream", "-o", OUT, "--sign", "office.pub")
    assert not Path(OUT).exists()
    ok("stream", "publish", "x.stream", "-o", OUT, "--sign", "office.key")
    ok("verify", OUT, "--signer", "office.pub")


# ---- ledger check


@pytest.mark.usefixtures("records")
def test_a_ledger_knows_its_releases() -> None:
    ok("release", *ISSUE, *PAID)
    text = ok("ledger", "check", "budget.db", OUT).text
    assert "is of spend 1 of budget.db, visits: it is the file that was delivered" in text
    assert "ε = 0.5 was debited for it" in text
    ok("ledger", "recover", "budget.db", "--spend", "1", "-o", "again.parquet", "--sign", "office.key")
    ok("verify", "again.parquet", "--signer", "office.pub")
    facts = ok("ledger", "check", "budget.db", "again.parquet", "--json").json["paid"]
    assert (facts["spend"], facts["state"], facts["matched"]) == (1, "delivered", "release")
    release = sdp.open_release(OUT)
    assert release.synopsis is not None
    release.synopsis.recover().save("third.parquet")
    assert (
        "recovered from the measurement that was paid for" in ok("ledger", "check", "budget.db", "third.parquet").text
    )


@pytest.mark.usefixtures("records")
def test_a_ledger_knows_what_is_not_its_own() -> None:
    ok("release", *ISSUE, *PAID)
    ok("release", *ISSUE, "--epsilon", "0.5", "--no-ledger", "-o", "other.parquet")
    assert "is none of the releases that budget.db has paid for.\n" in refused(
        "ledger", "check", "budget.db", "other.parquet"
    )
    ended = run("ledger", "check", "budget.db", "other.parquet", "--json")
    assert (ended.code, ended.json["paid"]) == (1, None)
    ok("ledger", "init", "second.db", "--dataset", "visits", "--epsilon", "2")
    assert "this one has not" in refused("ledger", "check", "second.db", OUT)
    assert "There is no ledger" in refused("ledger", "check", "missing.db", OUT)
    pq.write_table(pq.read_table("visits.parquet"), "records.parquet")
    assert "than a file of sparsedp" in refused("ledger", "check", "budget.db", "records.parquet")
