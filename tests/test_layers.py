"""drillgen -> solvers -> grading, never back; templates hold no Python; nothing reads outside the repository."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FLOORS = {
    "grading": {"grading"},
    "solvers": {"solvers", "grading"},
    "drillgen": {"drillgen", "solvers", "grading", "templates"},
}
FILES = sorted(p for floor in FLOORS for p in (ROOT / floor).rglob("*.py"))
HEAVY = {"numpy", "sympy", "torch", "triton", "jinja2", "typst", "ray", "matplotlib", "genanki", "scipy", "mpmath"}


def imported(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (a.name for a in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield node.module


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_go_down(path):
    floor = path.relative_to(ROOT).parts[0]
    for name in imported(ast.parse(path.read_text("utf-8"))):
        top = name.partition(".")[0]
        if top in {"drillgen", "solvers", "grading", "templates"}:
            assert top in FLOORS[floor], f"{path.name} imports {name}"


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_no_untrusted_evaluation(path):
    """No eval, exec, sympify, parse_expr or signal.alarm anywhere in the product."""
    bare, anywhere = (
        {"eval", "exec", "compile", "__import__"},
        {"sympify", "parse_expr", "alarm", "setitimer", "loads_pickle"},
    )
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "id", "") if isinstance(node.func, ast.Name) else ""
            assert name not in bare, f"{path.name}:{node.lineno} calls {name}"
            name = name or getattr(node.func, "attr", "")
            assert name not in anywhere, f"{path.name}:{node.lineno} calls {name}"
        names = {a.name for a in node.names} if isinstance(node, ast.ImportFrom | ast.Import) else set()
        assert not names & {"pickle", "marshal", "sympify", "parse_expr", "S"}, f"{path.name} imports {names}"


def test_templates_hold_no_python():
    files = list((ROOT / "templates").rglob("*.py"))
    assert [f.name for f in files] == ["__init__.py"]
    for package in ("templates", "solvers", "grading"):
        tree = ast.parse((ROOT / package / "__init__.py").read_text("utf-8"))
        assert len(tree.body) == 1
        assert ast.get_docstring(tree)


@pytest.mark.parametrize(
    "path", [p for p in FILES if p.parts[-2] in {"cli", "kinds", "drillgen", "reading"}], ids=lambda p: p.name
)
def test_heavy_imports_wait(path):
    """At module level nothing heavy is imported in what starts up."""
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [node.module] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names]
            assert not {n.partition(".")[0] for n in names} & HEAVY, path


def test_nothing_reads_outside_the_repository():
    word = "shared" + "/"
    for path in [*FILES, *(ROOT / "tests").rglob("*.py"), *(ROOT / "benchmarks").rglob("*.py"), ROOT / "Makefile"]:
        if path != Path(__file__):
            assert f"../{word}" not in path.read_text("utf-8"), path
