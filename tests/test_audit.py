"""The quality of the items: every drill meets its gates, and a bad drill does not."""

import json
from dataclasses import replace
from functools import cache

import pytest

from drillgen import catalog
from drillgen.audit import EXCEPTIONS, FIXED, audit, strangers, symbols
from drillgen.instance import make
from drillgen.main import main
from drillgen.render import render
from grading.kinds.number import Number
from grading.tolerance import rel, within
from solvers.domains import Ints, OneOf
from solvers.drill import Drill, Slip

ALL = {d.id: (c, d) for c, d in catalog.drills()}
REMARK = "The wrong thing was done; the right thing is another."


@cache
def report(id):
    return audit(*ALL[id])


@pytest.mark.parametrize("id", sorted(ALL))
def test_every_drill_meets_its_gates(id):
    found = report(id)
    missed = {g: found.metrics.get(g) for g, met in found.gates.items() if not met and g not in found.excused}
    assert found.ok, missed
    assert not missed


def test_exceptions_are_few_needed_and_reasoned():
    assert len(EXCEPTIONS) <= 5
    for id, gates in EXCEPTIONS.items():
        found = report(id)
        for gate, reason in gates.items():
            assert not found.gates[gate], f"{id} meets {gate}: the exception is not needed"
            figure, _, why = reason.partition(":")
            assert abs(float(figure.split()[0]) - found.metrics[gate]) <= 0.05, (id, gate, found.metrics[gate])
            assert len(why) > 20


@pytest.mark.parametrize("id", ["kv_cache.total", "softmax.shift", "gqa.statements", "jacobian.entry"])
def test_metrics_are_sane(id):
    found = report(id)
    m = found.metrics
    assert m["slip_is_key"] == 0
    assert 1 <= m["distinct"] <= 300
    assert 0 <= m["entropy_bits"] <= 8.23
    assert 0 <= m["answer_entropy_bits"] <= m["entropy_bits"] + 0.01
    assert 1 / 300 <= m["top_item"] <= 1
    assert m["top_item"] - 1e-3 <= m["top_answer"] <= 1
    assert 5 < m["words"] <= 120
    assert m["symbols"] >= 1
    assert m["fixed"] == (m["instances"] is not None and m["instances"] < FIXED)
    json.dumps(found.to_json())


def test_fixed_drills_answer_for_everything_but_the_entropy():
    found = report("gqa.ridge")
    assert found.metrics["fixed"]
    assert {"entropy_bits", "distinct", "top_item", "answer_entropy_bits", "top_answer"}.isdisjoint(found.gates)
    assert {"slip_is_key", "undefined", "words", "rounding", "trivial_key", "decades"} <= set(found.gates)


def printed(capsys, *args):
    with pytest.raises(SystemExit) as ended:
        main(["audit", *args])
    assert ended.value.code == 0
    return capsys.readouterr().out


def test_the_command_prints_the_same(capsys):
    line = json.loads(printed(capsys, "gqa.ridge", "--json"))
    assert line == json.loads(json.dumps(report("gqa.ridge").to_json()))
    out = printed(capsys, "parameters.head_change")
    assert "excused trivial_key" in out
    assert "MISSED" not in out


class Unchecked(Drill):
    """A drill that offers a slip whether or not it would pass for right."""

    def wrong(self, values, answer, kind):
        return {s.id: s.call({**values, "answer": answer}) for s in self.slips}


# The card and the drill whose template a planted drill borrows.
CARD, HOST = ALL["rank_collapse.uniform_variance"]


def planted(made=Drill, **changes):
    """uniform_variance, σ²/T, with one thing bent."""
    good = {
        "id": HOST.id, "asks": "", "stars": 1, "moves": ("T",),
        "params": {"T": Ints(10, 99), "sigma_v": OneOf(1.5, 2.5, 3.5, 4.5, 5.5)},
        "solve": lambda T, sigma_v: sigma_v**2 / T,
        "answer": Number(tolerance=rel(0.01)),
        "steps": lambda sigma_v, answer: {"one": sigma_v**2, "variance": answer},
        "slips": (Slip("doubled", lambda answer: 2 * answer, REMARK),),
    }  # fmt: skip
    return audit(CARD, made(**{**good, **changes}))


def missed(found):
    assert found.ok == all(found.gates.values())
    return {g for g, met in found.gates.items() if not met}


def test_a_good_planted_drill_is_clean():
    assert missed(planted()) == set()


def test_a_slip_that_passes_for_right_is_seen():
    found = planted(Unchecked, slips=(Slip("same", lambda answer: answer * 1.001, REMARK),))
    assert missed(found) == {"slip_is_key"}
    assert found.metrics["slip_is_key"] == 300


def test_a_constant_answer_is_seen():
    found = planted(solve=lambda: 0.25)
    assert {"top_answer"} <= missed(found)
    assert found.metrics["answer_entropy_bits"] == 0


def test_a_lopsided_answer_is_seen():
    found = planted(solve=lambda T, sigma_v: 0.3 if T < 70 else sigma_v / T)
    assert {"top_answer", "answer_entropy_bits"} <= missed(found)


def test_an_answer_that_is_shown_is_seen():
    assert missed(planted(solve=lambda T: float(T))) == {"trivial_key"}


def test_answers_all_over_the_scale_are_seen():
    assert missed(planted(solve=lambda T, sigma_v: sigma_v * 10.0 ** (T % 7) / 3)) == {"decades"}


def test_a_slip_that_never_comes_up_is_seen():
    assert missed(planted(slips=(Slip("never", lambda: None, REMARK),))) == {"slips_offered"}


def test_a_drill_that_repeats_itself_is_seen():
    once = 0.9
    lopsided = OneOf(*[1.5] * 30, *(1 + k / 8 for k in range(30)))
    found = planted(params={"T": OneOf(16), "sigma_v": lopsided}, solve=lambda sigma_v: once * sigma_v)
    assert "top_item" in missed(found)


def test_a_tolerance_finer_than_the_shown_inputs_is_seen():
    found = planted(
        params={"T": Ints(10, 99), "sigma_v": OneOf(1.23456789, 2.3456789, 3.456789)},
        answer=Number(tolerance=within(1e-9)),
    )
    assert "rounding" in missed(found)


UNKNOWN = [
    (r"Compute $\kappa$ for $T = 4$ keys.", {"\\kappa"}),
    (r"What is the variance of $z_1 + \mu$?", {"z_1", "\\mu"}),
    (r"The weight is $e^{-\gamma t}$.", {"\\gamma", "t"}),
    (r"A row has temperature $\tau$. Give $\tau^2 w$.", {"w"}),
]
KNOWN = [
    r"A row has temperature $\tau$. Give $\tau^2$.",
    r"The sums $\alpha$, $\beta$ and $\gamma$ are given. Compute $\alpha \beta \gamma$.",
    r"Let $\mathbf z = 2 \mathbf q$. Compute $\mathbf z \cdot \mathbf k$.",
    r"Of $T$ keys, key $j$ has the score $s_j$; give $\sum_r e^{s_r}$ and $\ln \frac{T}{d_k}$.",
    r"By the $\mu$P rule, what divides $QK^\top$?",
]


@pytest.mark.parametrize(("text", "found"), UNKNOWN)
def test_undefined_symbols_are_seen(text, found):
    assert strangers(text) == found


@pytest.mark.parametrize("text", KNOWN)
def test_defined_symbols_are_known(text):
    assert strangers(text) == set()


def test_what_the_drill_names_is_known():
    assert strangers(r"Give it in $\lambda$ and $a$.") == {"\\lambda", "a"}
    assert strangers(r"Give it in $\lambda$ and $a$.", {"lambda", "a"}) == set()


def test_symbols_as_latex_spells_them():
    assert list(symbols(r"\frac{H_{\text{kv}}}{h}\,d_k")) == ["H_kv", "h", "d_k"]
    assert list(symbols(r"\operatorname{softmax}(\mathbf s/\tau)")) == ["s", "\\tau"]


def test_every_statement_is_read_whole():
    """The count of words is that of the statement as it is shown."""
    one = make(*ALL["kv_cache.total"], 0)
    text = render(one, solution=False)["problem"]
    assert audit(*ALL["kv_cache.total"], draws=5).metrics["words"] <= len(text.split())


def test_a_report_says_what_is_excused():
    found = report("rank.score_rank")
    assert found.ok
    assert found.to_json()["excused"] == EXCEPTIONS["rank.score_rank"]
    assert not replace(found, excused={}).ok
