"""Texts of strangers are shown, and obeyed by nobody: every command that reads a file, in real processes."""

import io
import json
import os
import pty
import re
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path

import hostile_texts
import pytest
from hostile_texts import EVIL

import sparsedp as sdp

UNSAFE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")

ALL_IN_ONE = """
import json, sys
from sparsedp.cli import main
for arguments in json.loads(sys.argv[1]):
    print(f"$ {arguments[0]}", flush=True)
    print(f"$ {arguments[0]}", file=sys.stderr, flush=True)
    code = main(arguments)
    sys.stdout.flush()
    print(f"code {code}", file=sys.stderr, flush=True)
"""
"""Many commands in one process, as starting Python takes longer than any of them."""


@pytest.fixture
def commands(tmp_path: Path) -> list[list[str]]:
    made = hostile_texts
    release, honest = made.release(tmp_path / "r.parquet"), made.honest(tmp_path / "h.parquet")
    synopsis, books = made.synopsis(tmp_path / "s.synopsis"), made.ledger(tmp_path / "b.db")
    named, stream = made.ledger(tmp_path / "n.db", name=EVIL), made.stream(tmp_path / "a.stream")
    other, third = made.stream(tmp_path / "o.stream", unit=EVIL), made.stream(tmp_path / "t.stream", sampler=EVIL)
    nameless = tmp_path / EVIL.replace("/", "")[:200]
    nameless.write_bytes(release.read_bytes())
    query = ["query", str(release)]
    asked = [["--total"], ["--top", "3"], ["--marginal", "place"], ["select * from release"], ["select 1 as \x1b"]]
    asked += [["--box", f"place={EVIL}"], ["--box", "place=nowhere"], ["--mean"], [f"select '{EVIL}' from nowhere"]]  # noqa: S608
    lines = [[*query, *each, *form] for each in asked[1:4] for form in (["--json"], ["--csv"])]
    lines += [[*query, *each] for each in asked]
    for file in (release, synopsis, books, named, stream, other, third, nameless, f"{nameless}.not"):
        lines += [["inspect", str(file)], ["inspect", str(file), "--json"]]
    for file in (books, named):
        lines += [["ledger", "show", str(file)], ["ledger", "show", str(file), "--json"]]
        lines += [["ledger", "recover", str(file), "--spend", "1", "-o", "-"]]
    for file in (stream, other, third):
        lines += [["stream", "status", str(file)], ["stream", "status", str(file), "--json"]]
        lines += [["stream", "publish", str(file), "-o", "-", "--format", "csv"]]
    lines += [["compare", str(release), str(honest)], ["compare", str(release), str(honest), "--json"]]
    lines += [["report", str(release), "-o", "-"], ["report", str(nameless), "-o", str(tmp_path / "x.html")]]
    lines += [["plot", str(release), "-o", str(tmp_path / f"{end}")] for end in ("x.png", "x.svg")]
    lines += [["report", str(release), "-o", str(tmp_path / EVIL.replace("/", "")[:99])], ["inspect", EVIL]]
    return lines


def test_nothing_is_obeyed(commands: list[list[str]]) -> None:
    program = [sys.executable, "-c", ALL_IN_ONE, json.dumps(commands)]
    ended = subprocess.run(program, capture_output=True, check=True)
    for said in (ended.stdout.decode(), ended.stderr.decode()):
        assert UNSAFE.search(said) is None, repr(said[UNSAFE.search(said).start() - 200 :][:400])  # type: ignore[union-attr]
        assert not [line for line in said.splitlines() if line.startswith("signed by")]
    told = ended.stdout.decode() + ended.stderr.decode()
    assert told.count("signed by the Ministry") > 50
    # Refused are those alone that must be: nothing failed in a way of its own.
    codes = re.findall(r"^code (\d+)$", ended.stderr.decode(), re.MULTILINE)
    assert len(codes) == len(commands)
    assert set(codes) <= {"0", "1", "2"}
    assert codes.count("0") > len(codes) / 2
    page = ended.stdout.decode().split("<!doctype", 1)[1].split("</html>", 1)[0]
    assert "<script>alert(1)" not in page
    assert "<b>" not in page
    documents = re.findall(r"^\$ \w+\n(\{\n.*?^\}|\[\n.*?^\])$", ended.stdout.decode(), re.MULTILINE | re.DOTALL)
    assert len(documents) > 5
    assert all(json.loads(document) for document in documents)


TABLES = [("query", "--top"), ("query", "--marginal"), ("query", "select * from release"), ("inspect",), ("ledger",)]


def test_nothing_is_obeyed_by_a_terminal(commands: list[list[str]], tmp_path: Path) -> None:
    """There tables are drawn, in colours that are ours: the stranger's are not among them, nor signs of its making."""
    plain = [each for each in commands if not {"-o", "--json", "--csv"} & set(each)]
    wanted = [next(each for each in plain if set(some) <= set(each)) for some in TABLES]
    ours, theirs = pty.openpty()
    program = [sys.executable, "-c", ALL_IN_ONE, json.dumps(wanted)]
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "4000"}
    process = subprocess.Popen(program, stdout=theirs, stderr=theirs, env=environment, cwd=tmp_path)
    os.close(theirs)
    heard = b""
    try:
        while part := os.read(ours, 65536):
            heard += part
    except OSError:  # how Linux says that nobody writes there any more
        pass
    assert process.wait() == 0
    os.close(ours)
    said = heard.decode().replace("\r\n", "\n")
    styles = re.compile("\x1b\\[[0-9;]*m|\r\x1b\\[2K")
    assert UNSAFE.search(styles.sub("", said)) is None
    assert "\x1b[2K\rsigned" not in said
    assert "[red]" in said
    assert ":smile:" in said
    assert not [line for line in said.splitlines() if line.startswith("signed by")]


def test_nothing_is_obeyed_in_python(tmp_path: Path) -> None:
    release = sdp.open_release(hostile_texts.release(tmp_path / "r.parquet"))
    synopsis = sdp.open_synopsis(hostile_texts.synopsis(tmp_path / "s.synopsis"))
    books = sdp.open_ledger(hostile_texts.ledger(tmp_path / "b.db"))
    printed = io.StringIO()
    with redirect_stdout(printed):
        print(release, release.guarantee, release.quantity, synopsis, books["visits"], books["visits"].entries[0])
        for answer in (*release.top(2), release.sql("from release"), release.spent, release.domain):
            print(answer)
        print(sdp.compare(release, sdp.open_release(hostile_texts.honest(tmp_path / "h.parquet"))))
        for wrong in (lambda: release.box_sum(place="x"), lambda: sdp.open_release(tmp_path / EVIL.replace("/", ""))):
            with pytest.raises(sdp.SparsedpError) as refused:
                wrong()
            print(refused.value)
    assert UNSAFE.search(printed.getvalue()) is None
    assert "signed by the Ministry" in printed.getvalue()
    release.plot(tmp_path / "x.png")
    page = release.report(tmp_path / "x.html").read_text(encoding="utf-8")
    assert UNSAFE.search(page) is None
    assert "<script>alert" not in page
    drawn = re.search(r'<script type="application/json" id="data">(.*?)</script>', page)
    assert drawn is not None
    assert UNSAFE.search(json.dumps(json.loads(drawn[1]), ensure_ascii=False)) is None
    assert "signed by the Ministry" in drawn[1]
