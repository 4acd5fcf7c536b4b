"""Just enough of a shell to run the examples of the help: pipes, quotes, and lines that go on after a backslash."""

from __future__ import annotations

import shlex
import subprocess

from cli_terminal import Ended, run


def commands_in(script: str) -> list[str]:
    """The commands of a script, one each."""
    return [line for line in script.replace("\\\n", " ").splitlines() if line.strip()]


def execute(command: str) -> Ended:
    """Run a pipeline: `sparsedp` in this process, everything else for real; fails where any part does."""
    ended = Ended(0, b"", "")
    for words in _parts(command):
        if words[0] == "sparsedp":
            ended = run(*words[1:], given=ended.output)
        else:
            other = subprocess.run(words, input=ended.output, capture_output=True, check=False)
            ended = Ended(other.returncode, other.stdout, other.stderr.decode())
        if ended.code != 0:
            break
    return ended


def _parts(command: str) -> list[list[str]]:
    lexer = shlex.shlex(command, posix=True, punctuation_chars="|")
    lexer.whitespace_split = True
    parts: list[list[str]] = [[]]
    for word in lexer:
        if word == "|":
            parts.append([])
        else:
            parts[-1].append(word)
    return parts
