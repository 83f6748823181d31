"""Scenarios: as the catalogue lists them, with bound parameters, and followed through."""

import json
from pathlib import Path

import pytest
import yaml

from drillgen import catalog
from drillgen.instance import open_id
from drillgen.scenario import make_scenario, scenarios

CATALOGUE = yaml.safe_load((Path(__file__).parent / "data" / "catalogue.yaml").read_text("utf-8"))["scenarios"]
LISTED = {f"scenario.{s['id']}": s for s in CATALOGUE}
SEEDS = range(8)
every_scenario = pytest.mark.parametrize("id", sorted(LISTED))


def test_all_of_them():
    assert set(scenarios()) == set(LISTED)
    assert len(LISTED) == 23


@every_scenario
def test_parts_are_the_catalogue_s(id):
    """The same families in the same order; a part that asks twice is two parts of the same family."""
    found, listed = scenarios()[id], LISTED[id]
    assert list(found.cards) == listed["cards"]
    families = [p.drill for p in found.parts]
    assert [f for i, f in enumerate(families) if i == 0 or families[i - 1] != f] == [
        f for i, f in enumerate(p["family"] for p in listed["parts"]) if i == 0 or listed["parts"][i - 1]["family"] != f
    ]
    assert len(families) >= len(listed["parts"])
    assert [p.name for p in found.parts] == list("abcdefghijkl")[: len(families)]
    for part in found.parts:
        catalog.drill(part.drill)
        assert set(part.needs) < {p.name for p in found.parts}
        assert (part.follow is not None) == bool(part.needs)


@every_scenario
def test_answers_are_right(id):
    for seed in SEEDS:
        one = make_scenario(scenarios()[id], seed)
        assert open_id(one.id).problem(answers=True) == one.problem(answers=True)
        problem = one.problem(answers=True)
        json.dumps(problem)
        assert problem["kind"] == "parts"
        assert [p["name"] for p in problem["parts"]] == [p.name for p in one.scenario.parts]
        for part in problem["parts"]:
            assert part["group"] == {"id": one.id, "part": part["name"]}
            assert one.grade(part["answer"]["show"], part=part["name"]).right, (one.id, part["name"])


@every_scenario
def test_bound_parameters_are_shared(id):
    found = scenarios()[id]
    for seed in SEEDS:
        one = make_scenario(found, seed)
        from drillgen import ids
        from solvers.draws import Draws

        shared = found.draw(Draws(ids.draw_key(found.id, found.version, seed)))
        for part in found.parts:
            bound = part.bind(shared, one.parts)
            assert set(bound) <= set(one.parts[part.name].drill.params), (id, part.name)
            for name, value in bound.items():
                assert one.parts[part.name].values[name] == value


FOLLOWING = [(i, p.name) for i, s in sorted(scenarios().items()) for p in s.parts if p.follow]


@pytest.mark.parametrize(("id", "name"), FOLLOWING)
def test_follow_through_meets_the_key(id, name):
    """From the right earlier answers follows the right later one; from others, another one."""
    moved = 0
    for seed in SEEDS:
        one = make_scenario(scenarios()[id], seed)
        part = next(p for p in one.scenario.parts if p.name == name)
        instance = one.parts[name]
        right = {n: one.parts[n].answer for n in part.needs}
        assert instance.kind.agrees(instance.answer, part.follow(instance.values, right), 1.0), (one.id, name)
        other = {**right, part.needs[0]: _moved(right[part.needs[0]])}
        try:
            expected = part.follow(instance.values, other)
        except (ArithmeticError, ValueError):
            continue
        if instance.kind.agrees(instance.answer, expected, 1.5):
            continue
        moved += 1
        given = {n: one.parts[n].kind.show(v) for n, v in other.items()}
        verdict = one.grade(instance.kind.show(expected), part=name, given=given)
        assert verdict.right, (one.id, name, verdict)
        assert verdict.parts[0]["follows_own"] is True
        assert "consistent" in verdict.detail
        assert not one.grade(instance.kind.show(expected), part=name).right
        right_after_all = one.grade(instance.kind.show(instance.answer), part=name, given=given)
        assert right_after_all.right
        assert not right_after_all.parts
    assert moved


def _moved(value):
    """Another value of the same kind: a row of weights stays one, a table changes in its last row."""
    if isinstance(value, list):
        return [*value[:-1], _last(value[-1])] if isinstance(value[0], list) else [*value[1:], value[0]]
    return value * 1.5


def _last(row):
    return [row[0], row[1] * 1.5, *row[2:]]


@every_scenario
def test_the_key_of_all_parts_is_right_in_one_text(id):
    """By name and line by line, also where a part's own answer holds semicolons (tables, parts in parts)."""
    for seed in range(3):
        one = make_scenario(scenarios()[id], seed)
        shown = {n: p.kind.show(p.answer) for n, p in one.parts.items()}
        for text in (one.problem(answers=True)["answer"]["show"], "\n".join(shown.values())):
            verdict = one.grade(text)
            assert verdict.right, (one.id, text, verdict.detail)
        last = list(shown)[-1]
        half = one.grade("; ".join(f"{n} = {t}" for n, t in shown.items() if n != last))
        assert [p["verdict"] for p in half.parts] == ["right"] * (len(shown) - 1) + [None]


def test_whole_answer_in_one_text():
    one = make_scenario(scenarios()["scenario.fit_on_one_gpu"], 3)
    shown = {n: p.kind.show(p.answer) for n, p in one.parts.items()}
    right = one.grade("; ".join(f"{n} = {t}" for n, t in shown.items()))
    assert (right.verdict, right.score) == ("right", 1.0)
    assert one.grade("\n".join(shown.values())).verdict == "right"
    carried = {**shown, "a": "256 KiB", "b": "1 GiB"}
    verdict = one.grade("; ".join(f"{n} = {t}" for n, t in carried.items()))
    assert verdict.verdict == "wrong"
    parts = {p["name"]: p for p in verdict.parts}
    assert parts["a"]["verdict"] == "wrong"
    assert parts["b"]["follows_own"]
    missing = one.grade("a = 512 KiB")
    assert [p.get("status") for p in missing.parts][1:] == ["invalid"] * 5
    assert one.grade("hello").status == "invalid"


def test_grading_a_file_of_parts(tmp_path):
    from drillgen.submissions import Grader, Submission

    id = "scenario.fit_on_one_gpu@1/3"
    grader = Grader()
    rows = [("Ada", "a", "256 KiB"), ("Ada", "b", "1 GiB"), ("Bob", "b", "1 GiB"), ("Bob", "z", "1")]
    verdicts = [grader.grade(Submission(i, s, id, text, part)) for i, (s, part, text) in enumerate(rows)]
    assert [v.verdict for v in verdicts] == ["wrong", "right", "wrong", None]
    assert verdicts[3].status == "bad_row"
