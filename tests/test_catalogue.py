"""Ids, parameters, slips, kinds, units, tolerances and printed instances are those of the catalogues."""

from pathlib import Path

import pytest
import yaml

from drillgen import catalog
from grading.tolerance import exactly

HERE = Path(__file__).parent / "data"
CATALOGUE = yaml.safe_load((HERE / "catalogue.yaml").read_text("utf-8"))
FAMILIES = {f["id"]: f for f in CATALOGUE["families"]}
SYMBOLIC = {f["id"]: f for f in yaml.safe_load((HERE / "catalogue-symbolic.yaml").read_text("utf-8"))}
ALL = {d.id: (c, d) for c, d in catalog.drills()}
EXTRA = {
    "softmax.sum_overflow", "online_softmax.output", "kv_cache.batch_rate", "jacobian.frobenius",
    "scaling.effective_keys",
}  # fmt: skip


def _have(table):
    topics = {s[4:] for s in catalog.slugs().values()}
    return sorted(i for i in table if i.partition(".")[0] in topics)


def test_nothing_beside_the_catalogues():
    assert set(ALL) - set(FAMILIES) - set(SYMBOLIC) <= EXTRA


@pytest.mark.parametrize("id", _have(FAMILIES))
def test_family(id):
    family = FAMILIES[id]
    card, drill = ALL[id]
    assert (card.number, drill.stars, list(drill.moves)) == (family["card"], family["stars"], family["move"])
    assert drill.answer.name == family["kind"]
    assert list(drill.params) == list(family["params"])
    assert [s.id for s in drill.slips] == [s["id"] for s in family["slips"]]
    tolerance, kind = drill.answer.tolerance, family["tolerance"]["kind"]
    if kind == "exact":
        assert tolerance.to_json() == {"exact": True}
    elif kind == "equivalent":
        assert tolerance.to_json() == {"equivalent": True}
    else:
        assert getattr(tolerance, kind) == exactly(family["tolerance"]["value"])
    if hasattr(drill.answer, "unit") and family["kind"] != "parts":
        assert drill.answer.unit == family["answer"]["unit"]


# 137.45 GFLOP is half of the printed 274.9 GFLOP; the exact count is 137,438,953,472.
ROUNDED_TWICE = {"score_memory.recompute_flops"}


@pytest.mark.parametrize("id", _have(FAMILIES))
def test_printed_instance(id):
    _, drill = ALL[id]
    checks = FAMILIES[id]["check"] or []
    for check in checks if isinstance(checks, list) else [checks]:
        _, answer, _ = drill.at(check["params"])
        if id in ROUNDED_TWICE:
            assert answer == pytest.approx(check["value"], rel=1e-4)
            continue
        assert _printed(answer, check["value"]), (check, answer)


def _printed(value, printed):
    """Equal at the printed digits (half a unit of the last one, and a little more for figures rounded twice)."""
    if isinstance(printed, list):
        return len(value) == len(printed) and all(_printed(v, p) for v, p in zip(value, printed, strict=True))
    if isinstance(printed, str) or isinstance(value, str):
        return value == ("nan" if printed == "NaN" else printed)  # design 4.2 spells NaN so in JSON
    text = f"{printed}"
    if isinstance(value, int) and isinstance(printed, int):
        return value == printed
    mantissa, _, exponent = text.partition("e")
    places = len(mantissa.partition(".")[2])
    if not exponent and float(printed).is_integer() and abs(printed) >= 1e6:  # 549.8 GFLOP stands as 549800000000.0
        whole = text.partition(".")[0]
        places = len(whole.rstrip("0")) - len(whole)
    unit = 10.0 ** (int(exponent or 0) - places)
    return abs(value - printed) <= 0.51 * unit


@pytest.mark.parametrize("id", _have(SYMBOLIC))
def test_symbolic(id):
    entry = SYMBOLIC[id]
    card, drill = ALL[id]
    assert (card.number, drill.answer.name) == (entry["card"], entry["kind"])
    assert not drill.params
    assert [s.id for s in drill.slips] == list(entry["slips"])
    declared = {k: dict(v) for k, v in drill.answer.declared().items() if v}
    assert declared == {k: dict(entry[k]) for k in ("symbols", "arrays", "shapes") if entry.get(k)}
    kind = drill.answer
    assert kind.agrees(entry["answer"], drill.at({})[1])
    _, _, wrong = drill.at({})
    for name, text in entry["slips"].items():
        assert kind.agrees(str(text), wrong[name]), name
    for text in entry.get("shape_errors", ()):
        assert not kind.agrees(entry["answer"], text)
