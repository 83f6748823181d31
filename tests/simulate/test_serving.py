"""The serving simulation: nothing is lost, one request takes the closed form's time, the same input the same result."""

from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers import facts
from solvers.simulate import serving
from solvers.simulate.blocks import blocks_for
from solvers.simulate.roofline import (
    Machine,
    kv_bytes_per_token,
    max_sequences,
    seconds_per_token,
    step_work,
)
from solvers.simulate.serving import Outcome, Rules, WeightsDoNotFit, simulate
from solvers.simulate.workload import Request, lengths, read_trace, requests

SMALL = facts.model("gpt2-small")
LLAMA = facts.model("llama2-7b")
A100 = facts.accelerator("A100-80GB")


def room_for(blocks: int, block: int = 4) -> Machine:
    """A machine whose pool has that many blocks beside GPT-2 small's weights."""
    return Machine(312e12, 2039e9, 2 * SMALL.N + blocks * block * kv_bytes_per_token(SMALL))


def conserved(outcome: Outcome, load: list[Request], rules: Rules) -> None:
    """No request, token or byte lost or made up."""
    assert Counter([*(s.request for s in outcome.finished), *outcome.rejected]) == Counter(load)
    per_token = outcome.per_token
    pool = outcome.pool_blocks * outcome.block
    for served in outcome.finished:
        assert served.produced == served.request.output
        assert served.first is not None and served.done is not None
        assert served.request.arrival < served.first <= served.done
        # Each admission prefills once and yields one token, every other token is decoded.
    admissions = sum(1 + s.preempted for s in outcome.finished)
    produced = sum(s.produced for s in outcome.finished)
    assert outcome.decoded + admissions == produced
    assert outcome.prefilled - outcome.recomputed == sum(s.request.prompt for s in outcome.finished)
    assert outcome.bytes_moved >= 2 * SMALL.N * len(outcome.moments)
    assert outcome.totals.steps == len(outcome.moments)
    assert outcome.totals.peak_held == max((m.held_tokens for m in outcome.moments), default=0)
    assert outcome.totals.used_seconds == pytest.approx(sum(m.used_tokens * m.seconds for m in outcome.moments))
    for before, after in pairwise(outcome.moments):
        assert after.start >= before.start + before.seconds - 1e-12
    for moment in outcome.moments:
        assert moment.used_tokens <= moment.held_tokens <= pool
        assert moment.seconds > 0 and moment.running <= rules.max_batch
        if rules.policy == "paged":
            assert moment.held_tokens - moment.used_tokens < outcome.block * max(1, moment.running)
    assert outcome.peak_held_bytes <= pool * per_token
    assert 0 <= outcome.waste < 1


@given(
    st.lists(st.tuples(st.floats(0, 0.05), st.integers(1, 60), st.integers(1, 30)), min_size=1, max_size=25),
    st.integers(3, 40), st.integers(1, 6), st.sampled_from(["paged", "reserved"]), st.integers(1, 64),
)  # fmt: skip
@settings(max_examples=80, deadline=None)
def test_nothing_is_lost(load: list[tuple[float, int, int]], blocks: int, batch: int, policy: str, budget: int) -> None:
    given_load = [Request(*r) for r in load]
    rules = Rules(block=4, max_batch=batch, max_tokens=budget, max_len=70, policy=policy)
    outcome = simulate(SMALL, room_for(blocks), given_load, rules)
    conserved(outcome, given_load, rules)
    if policy == "paged":
        fits = [r for r in given_load if r.prompt + r.output - 1 <= min(70, blocks * 4)]
        assert len(outcome.finished) == sum(blocks_for(r.prompt + r.output - 1, 4) <= blocks for r in fits)


def test_preemption_recomputes_and_still_finishes() -> None:
    load = [Request(0.0, 20, 25), Request(0.0, 20, 25), Request(0.0, 20, 25)]
    rules = Rules(block=4, max_len=100)
    outcome = simulate(SMALL, room_for(17), load, rules)
    assert sum(s.preempted for s in outcome.finished) > 0
    assert outcome.recomputed > 0
    assert outcome.finished[0].preempted == 0  # the oldest is never the victim
    conserved(outcome, load, rules)
    roomy = simulate(SMALL, room_for(1000), load, rules)
    assert roomy.recomputed == 0
    assert roomy.seconds < outcome.seconds


def test_one_request_takes_the_closed_forms_time() -> None:
    outcome = simulate(LLAMA, Machine.of(A100), [Request(1.5, 4096, 2)], Rules(max_len=8192))
    (served,) = outcome.finished
    assert served.first is not None and served.done is not None
    step = served.done - served.first
    assert step == pytest.approx(seconds_per_token(LLAMA, 2**31, A100.bandwidth), rel=1e-12)
    assert step * 1e3 == pytest.approx(6.61 + 1.05, abs=0.01)
    flops, _ = step_work(LLAMA, outcome.per_token, [4096], 0, 0)
    assert served.first - 1.5 == pytest.approx(flops / A100.flops, rel=1e-12)  # a long prefill is bound by arithmetic
    slow = simulate(LLAMA, Machine.of(A100, bandwidth_share=0.5), [Request(0, 4096, 2)], Rules(max_len=8192)).finished[
        0
    ]
    assert slow.first is not None and slow.done is not None
    assert slow.done - slow.first == pytest.approx(2 * step, rel=1e-9)


def test_the_cards_budgets() -> None:
    per_token = kv_bytes_per_token(LLAMA)
    assert per_token == 512 * 1024
    assert max_sequences(LLAMA, A100.memory, per_token, 4096) == 30
    big = facts.model("llama2-70b")
    assert max_sequences(big, 2 * A100.memory, kv_bytes_per_token(big), 4096) == 16
    assert max_sequences(big, A100.memory, kv_bytes_per_token(big), 4096) == 0  # the weights alone are larger
    assert kv_bytes_per_token(LLAMA, "int8") == 256 * 1024
    assert Machine.of(A100).ridge == pytest.approx(153, abs=0.1)
    with pytest.raises(WeightsDoNotFit, match="137,953,296,384 bytes of weights"):
        simulate(big, Machine.of(A100), [])
    assert simulate(big, Machine.of(A100, 2), []).finished == []


def test_reserving_the_longest_length_wastes_what_paging_does_not() -> None:
    load = requests(60, 20.0, lengths("lognormal:200:0.8"), lengths("exp:100"), 1)
    found = {
        policy: simulate(LLAMA, Machine.of(A100), load, Rules(policy=policy, max_len=2048))
        for policy in ("paged", "reserved")
    }
    assert found["paged"].waste < 0.04  # what vLLM reports for paging
    assert 0.6 < found["reserved"].waste < 0.95  # and 60 to 80 % and more for what came before
    assert found["paged"].peak_held_bytes < found["reserved"].peak_held_bytes


def test_the_same_seed_serves_the_same() -> None:
    def run(seed: int) -> Outcome:
        load = requests(30, 5.0, lengths("uniform:10:90"), lengths("exp:20"), seed)
        return simulate(SMALL, room_for(40), load, Rules(block=4, max_len=400))

    assert run(7) == run(7)
    assert run(7) != run(8)


def test_long_runs_keep_some_moments_and_all_totals(monkeypatch: pytest.MonkeyPatch) -> None:
    load = [Request(0.0, 4, 300), Request(0.1, 4, 300)]
    whole = simulate(SMALL, room_for(200), load, Rules(max_len=400))
    monkeypatch.setattr(serving, "KEPT", 20)
    thin = simulate(SMALL, room_for(200), load, Rules(max_len=400))
    assert thin.totals == whole.totals and thin.waste == whole.waste
    assert 20 <= len(thin.moments) < 40
    assert thin.moments[0] == whole.moments[0] and set(thin.moments) <= set(whole.moments)


def test_progress_counts_to_the_end() -> None:
    seen: list[tuple[int, int]] = []
    simulate(SMALL, room_for(9), [Request(0, 5, 5), Request(0, 999, 1)], Rules(block=4, max_len=50),
             progress=lambda *x: seen.append(x))  # fmt: skip
    assert seen[-1] == (2, 2)


@pytest.mark.parametrize(
    ("text", "low", "high", "mean"),
    [
        ("512", 512, 512, 512),
        ("uniform:10:20", 10, 20, 15),
        ("exp:300", 1, 10**5, 300),
        ("lognormal:200:0.5", 1, 10**5, 226),
    ],
)
def test_lengths(text: str, low: int, high: int, mean: float) -> None:
    draw = random.Random(0)
    found = [lengths(text)(draw) for _ in range(4000)]
    assert low <= min(found) and max(found) <= high
    assert sum(found) / len(found) == pytest.approx(mean, rel=0.05)


@pytest.mark.parametrize("text", ["", "0", "-3", "foo", "uniform:3", "uniform:9:3", "exp:nan", "exp:-1", "normal:1:2"])
def test_lengths_that_are_none(text: str) -> None:
    with pytest.raises(ValueError, match="lengths are"):
        lengths(text)


def test_traces(tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("\ufeffarrival,prompt,output\n2,10,3\n0.5,7,1\n", encoding="utf-8")
    lines = tmp_path / "rows.jsonl"
    lines.write_text(
        '{"arrival": 2, "prompt": 10, "output": 3}\n\n{"arrival": 0.5, "prompt": 7, "output": 1}\n', encoding="utf-8"
    )
    assert read_trace(rows) == read_trace(lines) == [Request(0.5, 7, 1), Request(2.0, 10, 3)]
    rows.write_text("arrival,prompt,output\n0,1,1\n0,0,3\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"rows\.csv, request 2"):
        read_trace(rows)


def test_rules_are_checked() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        Rules(block=0)
    with pytest.raises(ValueError, match="policy"):
        Rules(policy="lru")
