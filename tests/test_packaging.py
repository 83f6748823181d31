"""The wheel: built, installed in a clean environment, run from another folder, sole owner of the four names."""

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
NAMES = ("drillgen", "solvers", "grading", "templates")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    out = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (found,) = out.glob("*.whl")
    return found


def test_contents(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        top = {n.split("/")[0] for n in names if ".dist-info/" not in n}
        text = archive.read(next(n for n in names if n.endswith("METADATA"))).decode()
    assert top == set(NAMES)
    assert {f"{n}/py.typed" for n in NAMES} <= set(names)
    assert any(n.startswith("templates/c13_kv_cache/") for n in names)
    assert "solvers/data/models.json" in names
    assert "License-Expression: Apache-2.0" in text
    for extra in ("torch", "gpu", "ray", "dev"):
        assert f"Provides-Extra: {extra}" in text


def test_installed_elsewhere(wheel, tmp_path):
    """The dependencies are this environment's own (no network); drillgen is only the wheel's."""
    home = tmp_path / "env"
    venv.create(home, with_pip=False)
    python = home / "bin" / "python"
    subprocess.run(
        [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "-q", "--no-deps", "--no-index",
         "--target",         str(next((home / "lib").glob("python*")) / "site-packages"), str(wheel)],
        check=True, capture_output=True,
    )  # fmt: skip
    site = next(p for p in sys.path if p.endswith("site-packages"))
    script = (
        f"import sys; sys.path = [p for p in sys.path if 'main' not in p]; sys.path.append({site!r});"
        "sys.path[:] = [p for p in sys.path if p != ''];"
        "import drillgen, solvers, grading, templates;"
        "assert all('env' in m.__file__ for m in (drillgen, solvers, grading, templates));"
        "from importlib.metadata import packages_distributions as d; found = d();"
        "assert all(set(found[n]) == {'drillgen'} for n in ('drillgen', 'solvers', 'grading', 'templates')), found;"
        "from drillgen.cli import main; main(sys.argv[1:])"
    )
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    shown = subprocess.run(
        [str(python), "-c", script, "show", "kv_cache.per_token@1/1", "--answers"],
        cwd=elsewhere, capture_output=True, text=True, env=environment,
    )  # fmt: skip
    assert shown.returncode == 0, shown.stderr
    assert "answer:" in shown.stdout
    assert not list(elsewhere.iterdir())
