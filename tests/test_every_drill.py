"""Laws that hold for every drill of every card.

The independent routes stand in tests/routes/<slug>.py, in ROUTES: drill id -> function of the drill's values that
finds the answer in another way than the product does.
"""

import importlib.util
import math
import os
import re
from fractions import Fraction
from functools import cache
from pathlib import Path

import jinja2
import pytest
from jinja2 import meta, nodes

from drillgen import catalog
from drillgen.instance import make, plain
from drillgen.render import BLOCKS, environment, render
from drillgen.typeset import check as typeset_check

HERE = Path(__file__).parent
SEEDS = range(60)
ALL = {d.id: (c, d) for c, d in catalog.drills()}
NUMERIC = {"number", "integer", "quantity"}
SYMBOLIC = {"expression", "indexed", "matrix_expression"}
every_drill = pytest.mark.parametrize("id", sorted(ALL))


@cache
def instances(id):
    return [make(*ALL[id], seed) for seed in SEEDS]


@cache
def routes(slug):
    spec = importlib.util.spec_from_file_location(f"routes_{slug}", HERE / "routes" / f"{slug}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.ROUTES


@every_drill
def test_same_id_same_problem(id):
    for one in instances(id)[:10]:
        again = make(*ALL[id], one.seed)
        assert again.problem(answers=True) == one.problem(answers=True)


@every_drill
def test_shown_answer_reads_back_and_is_right(id):
    for one in instances(id):
        shown = one.kind.show(one.answer)
        verdict = one.grade(shown)
        assert (verdict.status, verdict.verdict) == ("graded", "right"), (one.id, shown, verdict)
        if one.kind.name not in SYMBOLIC:
            assert one.kind.agrees(one.answer, one.answer), one.id


@every_drill
def test_every_slip_is_caught_under_its_own_name(id):
    seen, applies, offered = set(), {}, {}
    for one in instances(id):
        for name, value in one.wrong.items():
            seen.add(name)
            verdict = one.grade(one.kind.show(value))
            assert (verdict.status, verdict.verdict) == ("graded", "wrong"), (one.id, name, value, verdict)
            assert name in verdict.slips, (one.id, name, value, verdict)
        for slip in one.drill.slips:
            if slip.call({**one.values, "answer": one.answer}) is not None:
                applies[slip.id] = applies.get(slip.id, 0) + 1
                offered[slip.id] = offered.get(slip.id, 0) + (slip.id in one.wrong)
    _, drill = ALL[id]
    assert seen == {s.id for s in drill.slips}
    for name, count in applies.items():
        assert 4 * offered[name] >= count, (name, offered[name], count)


@every_drill
def test_rounding_as_asked_is_right(id):
    """An answer with as many decimals or digits as the problem asks for is never too coarse."""
    for one in instances(id)[:20]:
        asked = re.match(r"(\d) (decimal|significant digit)", one.kind.precision())
        if one.kind.name not in {"number", "vector", "matrix"} or not asked or isinstance(one.answer, str):
            continue
        form = f".{asked[1]}f" if asked[2] == "decimal" else f".{asked[1]}g"
        verdict = one.grade(_typed(one.answer, form))
        assert verdict.right, (one.id, one.answer, verdict)


def _typed(value, form):
    if isinstance(value, list):
        return "[" + ", ".join(_typed(v, form) for v in value) + "]"
    return format(float(value), form)


@every_drill
def test_no_rounding_noise_is_shown(id):
    """Where a sum of decimals is zero, zero is shown, not 4 × 10^-16."""
    for one in instances(id):
        for block, text in render(one).items():
            assert not re.search(r"10\^\{-1[3-9]\}", text), (one.id, block, text)


@every_drill
def test_one_is_singular(id):
    """No `1 of the weights are`, `there are 1 of them`, `the other 1 form`."""
    some = r"(?<![\d.,])\b1 of the (?:\w+ )+(?:are|lie|have)\b"
    plural = rf"are \$?1\$? of them|the other \$?1\$? [a-z]|\b1 sequences|{some}"
    for one in instances(id):
        for block, text in render(one).items():
            assert not re.search(plural, text), (one.id, block, text)


@every_drill
def test_slips_stand_apart_from_the_key(id):
    for one in instances(id):
        for name, value in one.wrong.items():
            assert not one.kind.agrees(one.answer, value, 2.0), (one.id, name)


@every_drill
def test_remarks_teach(id):
    _, drill = ALL[id]
    remarks = [s.remark for s in drill.slips]
    assert len(set(remarks)) == len(remarks)
    for remark in remarks:
        assert 20 <= len(remark) <= 200, remark
        assert remark[0].isupper() or remark[0] in "$1", remark
        assert remark.endswith("."), remark
        typeset_check(remark)


@every_drill
def test_last_step_is_the_answer(id):
    for one in instances(id):
        last = list(one.steps.values())[-1]
        assert plain(last) == plain(one.answer) or one.kind.agrees(one.answer, last, 1e-6), one.id


def _source(card, drill):
    env = environment()
    text, _, _ = env.loader.get_source(env, f"{card.slug}/{drill.name}.md.j2")
    return env, text


def _blocks(env, text):
    tree = env.parse(text)
    return {b.name: b for b in tree.find_all(nodes.Block)}


def _names(env, block):
    return meta.find_undeclared_variables(nodes.Template(block.body).set_environment(env))


@every_drill
def test_template_uses_what_the_drill_declares(id):
    card, drill = ALL[id]
    env, text = _source(card, drill)
    for trap in ("<<-", "->>", "<<+", "+>>"):
        assert trap not in text, f"{trap} is whitespace control and would eat a sign"
    blocks = _blocks(env, text)
    assert set(blocks) == set(BLOCKS)
    values = set(instances(id)[0].values) | ({"options"} if drill.options else set())
    used = _names(env, blocks["problem"])
    assert used <= values, used - values
    derived = (
        {k for v in drill.derive.__code__.co_varnames[: drill.derive.__code__.co_argcount] for k in (v,)}
        if (drill.derive)
        else set()
    )
    for name, domain in drill.params.items():
        brings = set(domain.derive(instances(id)[0].values[name]))
        through_derive = name in derived and bool(used - set(drill.params))
        shown = name in used or bool(brings & used) or name == "options" or through_derive
        assert shown, f"the problem text does not show {name}"
    for name in BLOCKS[1:]:
        extra = {"s", "answer", "answer_show", "options"} if name in ("solution", "hint_3") else {"s"}
        assert _names(env, blocks[name]) <= values | extra, name
    arithmetic = (nodes.Add, nodes.Sub, nodes.Mul, nodes.Div, nodes.FloorDiv, nodes.Mod, nodes.Pow, nodes.Call)
    assert not list(env.parse(text).find_all(arithmetic)), "templates compute nothing: make it a step"


@every_drill
def test_text_typesets_and_is_complete(id):
    for one in instances(id)[:20]:
        for block, text in render(one).items():
            assert text, (one.id, block)
            assert not re.search(r"\bNone\b|\bnan\b|<<|>>|\{\{|<%|\bTrue\b|\bFalse\b|\d\.\d{9,}", text), (
                one.id,
                block,
                text,
            )
            typeset_check(text)
        if hasattr(one.kind, "options"):
            texts = [o.text for o in one.kind.options]
            assert len(set(texts)) == len(texts)
            for o in one.kind.options:
                typeset_check(o.text)


@every_drill
def test_statement_is_short(id):
    for one in instances(id)[:5]:
        words = len(re.sub(r"\$[^$]*\$", "x", render(one, solution=False)["problem"]).split())
        assert words <= 120, (one.id, words)


_NUMBER = re.compile(r"\d(?:[\d]|,(?=\d{3})|\{,\}(?=\d{3}))*(?:\.\d+)?")


def _numbers(text):
    return {float(t.replace("{,}", "").replace(",", "")) for t in _NUMBER.findall(text)}


def _flat(value):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for v in value:
            yield from _flat(v)
    elif isinstance(value, int | float | Fraction) and not isinstance(value, bool):
        yield abs(float(value))
    elif isinstance(value, str):  # a name such as Llama 3 8B
        yield from _numbers(value)


@every_drill
def test_text_does_not_give_the_answer_away(id):
    card, drill = ALL[id]
    if drill.answer.name not in NUMERIC:
        return
    _, text = _source(card, drill)
    for one in instances(id):
        answer = _numbers(one.kind.show(one.answer))
        texts = render(one, solution=False)
        shown = set(_flat(dict(one.values)))
        for block in ("problem", "hint_1", "hint_2"):
            static = _numbers(text)
            leaked = (answer & _numbers(texts[block])) - shown - static
            assert not leaked, (one.id, block, leaked)


@every_drill
def test_closed_form_equals_the_independent_route(id):
    card, drill = ALL[id]
    route = routes(card.slug).get(id)
    assert route or drill.answer.name in {*SYMBOLIC, "multi_choice", "choice"}, "no independent route"
    if route is None:
        return
    for one in instances(id):
        other = plain(route(dict(one.values)))
        assert _close(plain(one.answer), other), (one.id, one.answer, other)


def _close(a, b):
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(_close(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, str) or isinstance(b, str):
        return a == b
    return math.isclose(a, b, rel_tol=1e-7, abs_tol=1e-9)


def golden(id):
    out = []
    for one in instances(id)[:5]:
        problem = one.problem(answers=True)
        out += [f"## {one.id}", "", problem["prompt"]]
        out += [f"- {o['key']}: {o['text']}" for o in problem.get("options", ())]
        out += ["", *(f"hint {i}: {h}" for i, h in enumerate(problem["hints"], 1)), ""]
        out += [f"answer: {problem['answer']['show']}"]
        out += [f"slip {s['id']}: {s['show']}" for s in problem["slips"]]
        out += ["", problem["solution"], ""]
    return "\n".join(out)


@every_drill
def test_golden_text(id):
    """The same id gives the same text for ever; UPDATE_GOLDEN=1 rewrites the files."""
    card, drill = ALL[id]
    path = HERE / "golden" / card.slug / f"{drill.name}.md"
    text = golden(id)
    if os.environ.get("UPDATE_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    assert path.read_text("utf-8") == text, f"{path}: if meant, raise the version, UPDATE_GOLDEN=1"


def test_no_text_is_left_over():
    """Every golden text, template and route belongs to a drill that is there."""
    ids = {(card.slug, drill.name) for card, drill in ALL.values()}
    assert {(p.parent.name, p.stem) for p in (HERE / "golden").glob("*/*.md")} == ids
    texts = {(p.parent.name, p.name.removesuffix(".md.j2")) for p in (HERE.parent / "templates").glob("*/*.md.j2")}
    assert texts - ids == set()
    assert {id for card in catalog.cards() for id in routes(card.slug)} <= set(ALL)


def test_jinja_is_strict():
    with pytest.raises(jinja2.UndefinedError):
        environment().from_string("<< missing >>").render()
