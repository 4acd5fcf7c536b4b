"""`docs/constants.md`: every number that Adaptive and the estimator were given, with what it is for, from the source.

python tools/list_constants.py            write the page
python tools/list_constants.py --check    exit with 1 if it is not what the source says
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "sparsedp"
PAGE = ROOT / "docs" / "constants.md"

PARTS = {
    "What is measured": [
        "mechanisms/_adaptive_shares.py",
        "mechanisms/_adaptive_grid.py",
        "mechanisms/_marginal*.py",
        "mechanisms/_private_*.py",
    ],
    "How cells are estimated": ["estimation/*.py", "estimation/shrinkage/*.py"],
    "How errors are estimated": ["estimation/errors/*.py"],
}
"""By heading, the files."""

HEAD = """# The constants of Adaptive and of the estimator

Every number in the code that no formula gives, and what it is for. They are public, and the same for all data.
Those of the private tree belong to [its proof](../src/sparsedp/mechanisms/private_tree.md). No other is part of a
guarantee: privacy holds whatever they are, and only accuracy, the width of intervals, or time depends on them.
They were chosen by trials on the public inputs of [the accuracy page](accuracy.md). What the stages that they belong to
are worth is in [a table](ablation.md) that `make bench-ablation` makes.

This page is written by `python tools/list_constants.py`, from the source. A test compares the two.
"""


def main(arguments: list[str]) -> int:
    """Write the page, or check it."""
    text = page()
    if "--check" in arguments:
        return int(PAGE.read_text() != text)
    PAGE.write_text(text)
    print(f"Wrote {PAGE.relative_to(ROOT)}.")
    return 0


def page() -> str:
    """The page, as it should be."""
    lines = [HEAD]
    for heading, patterns in PARTS.items():
        lines += [f"## {heading}\n", "| constant | value | for |", "|---|---|---|"]
        for path in sorted({path for pattern in patterns for path in SOURCE.glob(pattern)}):
            name = path.relative_to(SOURCE)
            for names, value, meaning in constants_of(path):
                lines.append(f"| `{names}`, [{name.stem.lstrip('_')}](../src/sparsedp/{name}) | {value} | {meaning} |")
        lines.append("")
    return "\n".join(lines)


def constants_of(path: Path) -> Iterator[tuple[str, str, str]]:
    """Names, values and meaning of the numbers that a module is given, in their order."""
    body = ast.parse(path.read_text()).body
    for node, after in zip(body, [*body[1:], None], strict=True):
        if not isinstance(node, ast.Assign) or not _is_given(node.value):
            continue
        names = ast.unparse(node.targets[0]).strip("()")
        if not names.replace(", ", "").replace("_", "").isupper() or names.startswith("_"):
            continue
        meaning = _meaning(after)
        if meaning:  # others are codes, not choices
            value = ast.unparse(node.value)
            yield names, value[1:-1] if isinstance(node.value, ast.Tuple) else value, meaning


def _is_given(value: ast.expr) -> bool:
    """A number, or several: no name of anything else in it."""
    return all(
        isinstance(
            part,
            ast.Constant | ast.Tuple | ast.UnaryOp | ast.BinOp | ast.operator | ast.unaryop | ast.expr_context,
        )
        and not (isinstance(part, ast.Constant) and not isinstance(part.value, int | float))
        for part in ast.walk(value)
    )


def _meaning(after: ast.stmt | None) -> str:
    if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) and isinstance(after.value.value, str):
        return " ".join(after.value.value.split()).replace("|", "\\|")
    return ""


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
