"""The wheel: built, installed in a clean environment, run from another folder, sole owner of the four names."""

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
NAMES = ("drillgen", "solvers", "grading", "templates")


def build(kind, out):
    """One file: the wheel or the source archive, built by this environment's own hatchling (no network)."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(out)],
        cwd=ROOT, check=True, capture_output=True,
    )  # fmt: skip
    (found,) = out.iterdir()
    return found


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return build("wheel", tmp_path_factory.mktemp("wheel"))


def shipped():
    """What the four packages hold in the repository, as paths from its root."""
    files = (p for name in NAMES for p in (ROOT / name).rglob("*") if p.is_file() and "__pycache__" not in p.parts)
    return {str(p.relative_to(ROOT)) for p in files}


def test_wheel(wheel):
    """The four packages whole (templates, data, font, py.typed), both licences, every extra, nothing else."""
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        text = archive.read(next(n for n in names if n.endswith("/METADATA"))).decode()
    info = {n for n in names if ".dist-info/" in n}
    assert names - info == shipped()
    assert {f"{n}/py.typed" for n in NAMES} <= names
    assert {n.partition("/licenses/")[2] for n in info} >= {"LICENSE", "templates/_worksheet_math.OFL.txt"}
    assert "License-Expression: Apache-2.0 AND OFL-1.1" in text
    for extra in ("torch", "gpu", "ray", "plot", "anki", "dev"):
        assert f"Provides-Extra: {extra}" in text


def test_source_archive(tmp_path):
    """The packages and what people read, without tests or leftovers."""
    with tarfile.open(build("sdist", tmp_path)) as archive:
        names = {n.partition("/")[2] for n in archive.getnames()}
    assert names - shipped() == {
        ".gitignore", "CHANGELOG.md", "LICENSE", "PKG-INFO", "README.md", "pyproject.toml"
    }  # fmt: skip
    assert shipped() <= names


def test_what_is_named_twice_agrees():
    """The requirements behind the lock files hold what pyproject.toml promises; everything in them is locked."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    extras = project["project"]["optional-dependencies"]
    core, dev = (wanted(ROOT / "requirements" / f"{name}.in") for name in ("core", "dev"))
    assert core == {*project["project"]["dependencies"], *project["build-system"]["requires"], "editables>=0.5"}
    promised = {*extras["plot"], *extras["anki"], *extras["dev"]} - {"drillgen[plot,anki]"}
    assert promised <= dev
    assert {name(n) for n in extras["gpu"]} <= {name(n) for n in dev} | wanted_names("torch.lock")
    for file, needs in (("core.lock", core), ("dev.lock", core | dev)):
        assert {name(n) for n in needs} <= wanted_names(file)


def wanted(file):
    return {line for line in file.read_text("utf-8").splitlines() if line and line[0] not in "#-"}


def wanted_names(lock):
    lines = (ROOT / "requirements" / lock).read_text("utf-8").splitlines()
    return {name(line) for line in lines if line and line[0] not in "# -"}


def name(requirement):
    return re.match(r"[\w.-]+", requirement)[0].lower().replace("_", "-")


def test_installed_elsewhere(wheel, tmp_path):
    """The dependencies are this environment's own (no network); drillgen is only the wheel's."""
    home = tmp_path / "env"
    venv.create(home, with_pip=False)
    python = home / "bin" / "python"
    site = next((home / "lib").glob("python*")) / "site-packages"
    subprocess.run(
        [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "-q", "--no-deps", "--no-index",
         "--target", str(site), str(wheel)],
        check=True, capture_output=True,
    )  # fmt: skip
    dependencies = next(p for p in sys.path if p.endswith("site-packages"))
    script = (
        f"import sys; sys.path.append({dependencies!r});"
        "import drillgen, solvers, grading, templates;"
        f"assert all(m.__file__.startswith({str(site)!r}) for m in (drillgen, solvers, grading, templates));"
        "from importlib.metadata import packages_distributions as d; found = d();"
        "assert all(set(found[n]) == {'drillgen'} for n in ('drillgen', 'solvers', 'grading', 'templates')), found;"
        "from drillgen.main import main; main(sys.argv[1:])"
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
