"""Imports go one way, in the order of the pipeline: what comes after the noise never imports what sees the data."""

import ast
from pathlib import Path

import pytest

import sparsedp

SOURCE = Path(sparsedp.__file__).parent
# Each module may import only from its own layer and from those above it in this list.
LAYERS = [
    ["version", "files.untrusted", "errors"],
    ["validate", "progress", "arrays", "moments", "files"],
    ["axes"],
    ["jit"],
    ["privacy"],
    ["bases", "sensing", "constraints"],
    ["laws"],
    ["solution"],
    ["decoders"],
    ["estimation"],
    ["plan"],
    ["releases"],
    ["synopsis"],
    ["releases.release_file"],
    ["reports"],
    ["noise"],
    ["measurement", "counts"],
    ["mechanisms", "datasets"],
    ["streams"],
    ["ingest", "publishing"],
    ["previews", "audits"],
    ["cli", "__main__"],
    [""],
]
# The public side, and what it shares with the private one: the laws of noise, say, but never what draws it.
AFTER_THE_NOISE = (
    "axes",
    "bases",
    "sensing",
    "laws",
    "decoders",
    "estimation",
    "solution",
    "constraints",
    "releases",
    "reports",
    "synopsis",
    "plan",
    "files",
    "privacy",
    "previews._made_up",
    "previews._questions",
    "previews._shown",
)
SEES_THE_DATA = (
    "measurement",
    "mechanisms",
    "noise",
    "streams",
    "publishing",
    "counts",
    "ingest",
)


def module_name(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def layer_of(module: str) -> int:
    matches = [
        (len(prefix), number)
        for number, prefixes in enumerate(LAYERS)
        for prefix in prefixes
        if module == prefix or (prefix and module.startswith(prefix + "."))
    ]
    assert matches, f"{module} is in no layer: put it in LAYERS where it belongs"
    return max(matches)[1]


def imports_of(path: Path) -> set[str]:
    """Every module of this package that the file imports, wherever in the file, except for type checking only."""
    found = set()
    tree = ast.parse(path.read_text())
    skipped = {
        id(node)
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for node in ast.walk(block)
    }
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names if name.name.split(".")[0] == "sparsedp"}
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "sparsedp":
            for name in node.names:
                submodule = f"{node.module}.{name.name}"
                as_path = SOURCE.joinpath(*submodule.split(".")[1:])
                is_module = as_path.with_suffix(".py").exists() or as_path.is_dir()
                found.add(submodule if is_module else node.module)
    return {name.removeprefix("sparsedp").removeprefix(".") for name in found}


FILES = sorted(SOURCE.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=[module_name(path) or "sparsedp" for path in FILES])
def test_imports_go_one_way(path: Path) -> None:
    own = layer_of(module_name(path))
    for imported in imports_of(path):
        assert layer_of(imported) <= own, f"{module_name(path)} imports {imported}, which comes later in the pipeline"


def test_nothing_after_the_noise_imports_what_sees_the_data() -> None:
    for path in FILES:
        if module_name(path).startswith(AFTER_THE_NOISE):
            for imported in imports_of(path):
                assert imported.split(".")[0] not in SEES_THE_DATA, f"{module_name(path)} imports {imported}"


SHIPPED = {"package": SOURCE, "examples": Path(__file__).parent.parent / "examples"}


@pytest.mark.parametrize("folder", SHIPPED.values(), ids=SHIPPED)
def test_nothing_that_users_run_imports_what_no_wheel_has(folder: Path) -> None:
    """Studies, benchmarks and tests are for this repository alone."""
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [name.name for name in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            roots = {name.split(".")[0] for name in names}
            assert not roots & {"studies", "benchmarks", "fuzz", "torture", "tests", "tools"}, path


def test_the_check_itself_sees_imports() -> None:
    assert "measurement" in imports_of(SOURCE / "mechanisms" / "base.py")
    assert "laws" in imports_of(SOURCE / "synopsis.py")
    assert "noise.samplers" in imports_of(SOURCE / "mechanisms" / "terms.py")
    assert layer_of("laws") < layer_of("releases") < layer_of("noise.samplers")
