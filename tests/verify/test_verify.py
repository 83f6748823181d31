"""Every published number is met, and every property row fails once one of its routes is bent."""

import dataclasses
import importlib.util
import json
from pathlib import Path

import pytest

from drillgen import catalog
from drillgen.instance import plain
from drillgen.verify.rows import Property
from drillgen.verify.run import matches, published, rows_of, run

HERE = Path(__file__).parent
CARDS = [0, *catalog.slugs()]


def test_published_rows_are_the_checks():
    checks = [json.loads(line) for line in (HERE.parent / "data" / "checks.jsonl").read_text().splitlines()]
    assert [(r.id, r.expected, r.tol, r.scored) for r in published()] == [
        (c["id"], c["expected"], c["tol"], c["scored"]) for c in checks
    ]


@pytest.mark.parametrize("card", CARDS)
def test_card_rows(card):
    wanted = {r.id for r in published() if r.card == card and r.scored}
    assert set(rows_of(card)) == wanted
    results = list(run(card))
    assert [r.row.id for r in results if r.row.scored and not r.ok] == []
    for r in results:
        if not r.row.scored:
            assert r.value is None
            assert r.ok is None
            assert r.note


def _bends(card):
    slug = catalog.slugs()[card] if card else "c00_toolkit"
    spec = importlib.util.spec_from_file_location(f"bends_{slug}", HERE / f"bends_{slug}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.BENDS


@pytest.mark.parametrize("card", CARDS)
def test_bent_route_fails(card):
    """BENDS maps a row id to wrong versions of its left route: sign, axis, scale, a missing term."""
    rows, bends = rows_of(card), _bends(card)
    printed = {r.id: r for r in published()}
    properties = {i for i, row in rows.items() if isinstance(row, Property)}
    assert properties <= set(bends)
    stated = {r.id for r in published() if r.scored and r.kind == "property" and r.card == card and "max" in r.tol}
    assert stated <= properties
    for id, wrong in bends.items():
        assert wrong, id
        for left in wrong:
            bent = dataclasses.replace(rows[id], left=left)
            assert not matches(plain(bent.value()), printed[id].expected, printed[id].tol), id
