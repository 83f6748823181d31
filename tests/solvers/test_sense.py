"""`solve` on values without sense: a line that names the parameter, never a traceback, never an endless loop."""

import json

import pytest
from click.testing import CliRunner

from drillgen import catalog
from drillgen.cli.solve import command
from drillgen.instance import make, plain
from grading.kinds.number import Number
from grading.tolerance import rel
from solvers.domains import Ints, Matrix, OneOf, Vector
from solvers.draws import Draws
from solvers.drill import BOUND_TRIES, Drill
from solvers.errors import BadParameter
from solvers.sense import check

ALL = {d.id: (c, d) for c, d in catalog.drills() if d.params}


def typed(value):
    value = plain(value)
    return json.dumps(value) if isinstance(value, list) else str(value)


def example(id, seed=1):
    card, drill = ALL[id]
    one = make(card, drill, seed)
    return {n: typed(one.values[n]) for n in drill.params}


def solve(id, values):
    """The answer's JSON, or the `BadParameter` that was raised; any other error is a bug."""
    found = CliRunner().invoke(command, [id, *(f"{k}={v}" for k, v in values.items()), "--json"], standalone_mode=False)
    if found.exception is None:
        return json.loads(found.stdout)
    if not isinstance(found.exception, BadParameter | LookupError):
        raise found.exception
    return found.exception


@pytest.mark.parametrize("id", sorted(ALL))
def test_what_is_drawn_makes_sense(id):
    card, drill = ALL[id]
    for seed in range(15):
        one = make(card, drill, seed)
        check(drill.params, {n: one.values[n] for n in drill.params})


@pytest.mark.parametrize("id", sorted(ALL))
def test_every_parameter_bent(id):
    base = example(id)
    assert solve(id, base)["drill"] == id
    for name in base:
        for bent in ("0", "-1", "1e9", "2^40", "0.5", "[]", "[1]", "[0, 0]", "[1, 2, 3, 4, 5, 6, 7]", "[[0]]", "x"):
            found = solve(id, {**base, name: bent})
            assert isinstance(found, dict | BadParameter | LookupError), (name, bent)
            if isinstance(found, Exception):
                assert len(str(found)) > 10, (name, bent)
                assert "zip()" not in str(found), (name, bent)


@pytest.mark.parametrize(
    ("id", "bent", "said"),
    [
        ("scaling.dot_variance", {"d_k": "0"}, "d_k=0: at least 1"),
        ("attention.score_matrix", {"d_k": "0"}, "d_k=0: at least 1"),
        ("kernel_smoothing.estimate", {"lam": "0"}, "lam=0: a number above 0"),
        ("scaling.entropy_gaussian", {"T": "0"}, "T=0: at least 1"),
        ("gqa.cache_ratio", {"h": "32", "H_kv": "5"}, "H_kv=5: the KV heads must divide the h=32"),
        ("gqa.head_map", {"h": "32", "H_kv": "8", "n": "32"}, "n=32: the 32 heads are counted from 0"),
        ("parameters.mha_total", {"d": "768", "h": "7"}, "h=7: the heads must share the width d=768"),
        ("parameters.gqa_total", {"d": "100", "h": "8", "H_kv": "2", "d_h": "64"}, "must make up the width"),
        ("causal_mask.triu_visible", {"T": "4", "i": "9"}, "i=9: there are only T=4 places"),
        ("softmax.temperature", {"tau": "0"}, "tau=0: a number above 0"),
        ("softmax.temperature_solve", {"w": "0.4"}, "between 1/2 and 1"),
        ("sinks.share", {"T": "-3"}, "T=-3: at least 1"),
        ("jacobian.quadratic_form", {"p": "[0.5, 0.6]", "u": "[1, 2]"}, "add up to 1"),
        ("permutation.permuted_output", {"T": "3", "O": "[[1, 2], [3, 4], [5, 6]]", "pi": "[1, 1, 2]"}, "wanted once"),
        ("causal_mask.masked_row", {"T": "5", "i": "2", "scores": "[1, 2]"}, "scores holds 2 numbers, 5 are wanted"),
        ("alignment.mean_logit", {"rho": "1.5"}, "rho=1.5"),
        ("score_memory.recompute_weight", {"scores": "[1, 2]", "j": "5"}, "beyond the end"),
        ("kv_cache.max_sequences", {"T": "-1"}, "T=-1: at least 0"),
    ],
)
def test_it_is_said_what_is_wrong(id, bent, said):
    found = solve(id, {**example(id), **bent})
    assert isinstance(found, BadParameter)
    assert said in str(found)


def test_an_empty_cache_is_one():
    values = {"model": "llama2-7b", "accelerator": "A100-80GB", "T": "0", "B": "1", "dtype": "fp16"}
    assert solve("kv_cache.tokens_per_second", values)["answer"]["value"] > 100


def test_options_with_or_without_quotes():
    plainly = {"options": "keys, values, queries"}
    quoted = {"options": '["keys", "values", "queries"]'}
    assert solve("kv_cache.contents", plainly)["answer"] == solve("kv_cache.contents", quoted)["answer"]


def test_lengths_of_lists():
    domains = {"T": Ints(1, 9), "scores": Vector("T", Ints(0, 9)), "W": Matrix("T", 2, Ints(0, 9))}
    check(domains, {"T": 2, "scores": [1, 2], "W": [[1, 2], [3, 4]]})
    with pytest.raises(BadParameter, match="scores holds 1 number, 2 are wanted"):
        check(domains, {"T": 2, "scores": [1], "W": [[1, 2], [3, 4]]})
    with pytest.raises(BadParameter, match="W holds 1 row, 2 are wanted"):
        check(domains, {"T": 2, "scores": [1, 2], "W": [[1, 2]]})
    with pytest.raises(BadParameter, match="rows of 3 numbers, 2 are wanted"):
        check(domains, {"T": 2, "scores": [1, 2], "W": [[1, 2, 3], [4, 5, 6]]})


def bound_drill(counted):
    def require(a, b):
        counted.append(a)
        return a > 1 and b > 2

    return Drill(
        id="x.y", asks="", stars=1, moves=("S",), params={"a": OneOf(1, 2, 3), "b": Ints(1, 9)},
        require=require, solve=lambda a, b: a / b, answer=Number(tolerance=rel(0.01)),
        steps=lambda answer: {"answer": answer},
    )  # fmt: skip


def test_a_bound_value_wins_over_require_soon():
    counted = []
    values, _, _ = bound_drill(counted).draw(Draws("k"), {"a": 1})
    assert values["a"] == 1
    assert len(counted) <= BOUND_TRIES + 1


def test_a_bound_value_keeps_the_rest_within_require():
    for seed in range(50):
        values, _, _ = bound_drill([]).draw(Draws(f"k{seed}"), {"a": 2})
        assert values["a"] == 2
        assert values["b"] > 2
