"""The page of constants says what the source does."""

import ast
import runpy
from pathlib import Path

TOOL = runpy.run_path(str(Path(__file__).parent.parent / "tools" / "list_constants.py"))


def test_the_page_is_what_the_source_says() -> None:
    assert TOOL["PAGE"].read_text() == TOOL["page"](), "run: python tools/list_constants.py"


def test_numbers_are_found_with_their_meaning_and_codes_are_left_out(tmp_path: Path) -> None:
    source = tmp_path / "module.py"
    source.write_text('GATE, PER = 4.0, -0.5\n"""Nats."""\nLEFT, RIGHT = 0, 1\nMOST = GATE * 2\n"""Not given."""\n')
    assert list(TOOL["constants_of"](source)) == [("GATE, PER", "4.0, -0.5", "Nats.")]


def test_no_constant_of_the_estimator_hides_in_a_default() -> None:
    """A number in a signature is in no table."""
    for path in sorted((TOOL["SOURCE"] / "estimation").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                given = [*node.args.defaults, *(default for default in node.args.kw_defaults if default)]
                numbers = [one.value for one in given if isinstance(one, ast.Constant) and type(one.value) is float]
                assert not [one for one in numbers if one not in (0.0, 1.0)], f"{path.name}: {node.name}"


def test_no_two_constants_have_one_name() -> None:
    paths = sorted(
        {path for patterns in TOOL["PARTS"].values() for one in patterns for path in TOOL["SOURCE"].glob(one)}
    )
    names = [name for path in paths for names, *_ in TOOL["constants_of"](path) for name in names.split(", ")]
    assert not {name for name in names if names.count(name) > 1}
