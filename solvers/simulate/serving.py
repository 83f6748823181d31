"""Serving many requests from one KV cache: a discrete-event simulation with continuous batching.

Each step decodes one token of every running request and prefills whatever is newly admitted, and takes the time its
roofline allows at least (`roofline`). Blocks come from a `BlockPool`. Two policies: `paged` takes blocks as tokens
come (and, when none is left, preempts the youngest request, which later recomputes its cache); `reserved` sets the
longest allowed length aside at admission, as systems before paging did. Deterministic: no clock, no randomness.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from solvers.simulate.blocks import BlockPool, OutOfBlocks, blocks_for
from solvers.simulate.roofline import WEIGHT_BYTES, Machine, kv_bytes_per_token, step_work
from solvers.simulate.workload import Request

POLICIES = ("paged", "reserved")
KEPT = 20_000
"""Moments kept of a run; a longer one keeps every second, fourth, … of them."""


@dataclass(frozen=True, slots=True)
class Rules:
    """block: tokens a block. max_batch: requests at once. max_tokens: tokens a step works on (a longer prompt goes
    alone).

    max_len: longest prompt plus output served. watermark: share of blocks kept free when admitting beside others.
    """

    block: int = 16
    max_batch: int = 256
    max_tokens: int = 8192
    max_len: int = 4096
    watermark: float = 0.01
    policy: str = "paged"

    def __post_init__(self) -> None:
        if min(self.block, self.max_batch, self.max_tokens, self.max_len) < 1:
            raise ValueError("block, max_batch, max_tokens and max_len are at least 1")
        if not 0 <= self.watermark < 1 or self.policy not in POLICIES:
            raise ValueError(f"a watermark lies in [0, 1) and the policy is one of {', '.join(POLICIES)}")


@dataclass(slots=True)
class Served:
    """A request on its way: what it has produced, when, and the blocks it holds. Times are seconds of the
    simulation.
    """

    request: Request
    produced: int = 0
    cached: int = 0
    blocks: list[int] = field(default_factory=list)
    first: float | None = None
    done: float | None = None
    preempted: int = 0


@dataclass(frozen=True, slots=True)
class Moment:
    """The state during one step: start and length in seconds, token slots, requests."""

    start: float
    seconds: float
    held_tokens: int
    used_tokens: int
    running: int
    waiting: int


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over all steps: how many, token slots held and used times seconds, and the most of each at once."""

    steps: int = 0
    held_seconds: float = 0.0
    used_seconds: float = 0.0
    peak_held: int = 0
    peak_used: int = 0

    def after(self, held: int, used: int, seconds: float) -> Totals:
        """With one more step."""
        return Totals(
            self.steps + 1, self.held_seconds + held * seconds, self.used_seconds + used * seconds,
            max(self.peak_held, held), max(self.peak_used, used),
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a simulation did. finished and rejected requests are all that were given.

    moments: the steps, thinned evenly in long runs; totals: over all of them. prefilled: prompt tokens computed,
    recomputation after preemption included; bytes_moved: weights and cache traffic; pool_blocks, per_token: size of
    the pool and bytes of a cached token.
    """

    finished: list[Served]
    rejected: list[Request]
    moments: list[Moment]
    totals: Totals
    pool_blocks: int
    per_token: int
    block: int
    prefilled: int
    recomputed: int
    decoded: int
    bytes_moved: float
    flops: float

    @property
    def seconds(self) -> float:
        """When the last request finished."""
        return max((s.done or 0.0 for s in self.finished), default=0.0)

    @property
    def peak_held_bytes(self) -> int:
        """Most bytes of blocks held at once."""
        return self.per_token * self.totals.peak_held

    @property
    def peak_used_bytes(self) -> int:
        """Most bytes of tokens cached at once."""
        return self.per_token * self.totals.peak_used

    @property
    def waste(self) -> float:
        """Share of the held bytes, over time, that held no token."""
        held = self.totals.held_seconds
        return 1 - self.totals.used_seconds / held if held else 0.0


class WeightsDoNotFit(ValueError):
    """The weights leave no memory for a cache."""


def simulate(
    model: Any,
    machine: Machine,
    requests: Sequence[Request],
    rules: Rules | None = None,
    *,
    dtype: str = "fp16",
    progress: Callable[[int, int], None] | None = None,
) -> Outcome:
    """Serve the requests in order of arrival until all are finished or rejected.

    progress(done, all) is called after every step. `WeightsDoNotFit` where no block fits beside the weights.
    A request is rejected when it is longer than max_len or than the whole pool.
    """
    return _Server(model, machine, rules or Rules(), dtype).run(requests, progress)


class _Server:
    def __init__(self, model: Any, machine: Machine, rules: Rules, dtype: str) -> None:
        self.model, self.machine, self.rules = model, machine, rules
        self.per_token = kv_bytes_per_token(model, dtype)
        room = machine.memory - WEIGHT_BYTES * model.N
        blocks = int(room // (self.per_token * rules.block))
        if blocks < 1:
            raise WeightsDoNotFit(
                f"{model.id} needs {WEIGHT_BYTES * model.N:,} bytes of weights and at least one block of cache; "
                f"the memory is {machine.memory:,.0f} bytes"
            )
        self.pool = BlockPool(blocks)
        self.now = 0.0
        self.waiting: deque[Served] = deque()
        self.running: list[Served] = []
        self.finished: list[Served] = []
        self.rejected: list[Request] = []
        self.moments: list[Moment] = []
        self.totals, self.stride = Totals(), 1
        self.prefilled = self.recomputed = self.decoded = 0
        self.moved = self.flops = 0.0

    def run(self, requests: Sequence[Request], progress: Callable[[int, int], None] | None) -> Outcome:
        coming = deque(sorted(requests, key=lambda r: r.arrival))
        while coming or self.waiting or self.running:
            while coming and coming[0].arrival <= self.now:
                self._arrive(coming.popleft())
            if not self.waiting and not self.running:
                if coming:
                    self.now = max(self.now, coming[0].arrival)
                continue
            self._make_room()
            admitted = self._admit()
            if not admitted and not self.running:
                raise RuntimeError(f"no request fits although none runs: {self.pool.held} blocks were never given back")
            self._step(admitted)
            if progress is not None:
                progress(len(self.finished) + len(self.rejected), len(requests))
        return Outcome(
            self.finished, self.rejected, self.moments, self.totals, self.pool.count, self.per_token,
            self.rules.block,
            self.prefilled, self.recomputed, self.decoded, self.moved, self.flops,
        )  # fmt: skip

    def _arrive(self, request: Request) -> None:
        # The last token produced is never cached: nothing comes after it.
        longest = request.prompt + request.output - 1
        whole = self.rules.max_len if self.rules.policy == "reserved" else longest
        if longest > self.rules.max_len or blocks_for(whole, self.rules.block) > self.pool.count:
            self.rejected.append(request)
        else:
            self.waiting.append(Served(request))

    def _make_room(self) -> None:
        """A slot for the next token of every running request; preempts the youngest ones where there is none."""
        if self.rules.policy == "reserved":
            return
        for served in list(self.running):
            if served.cached == 0:  # preempted a moment ago
                continue
            while blocks_for(served.cached + 1, self.rules.block) > len(served.blocks):
                try:
                    served.blocks += self.pool.take()
                except OutOfBlocks:
                    victim = self._preempt()
                    if victim is served:
                        break

    def _preempt(self) -> Served:
        """The youngest running request gives its blocks back and waits, first in line."""
        victim = self.running.pop()
        self.pool.release(victim.blocks)
        victim.blocks, victim.cached = [], 0
        victim.preempted += 1
        self.waiting.appendleft(victim)
        return victim

    def _admit(self) -> list[Served]:
        """Waiting requests, in order, that fit beside the running ones."""
        admitted: list[Served] = []
        budget = self.rules.max_tokens - len(self.running)
        while self.waiting and len(self.running) + len(admitted) < self.rules.max_batch:
            served = self.waiting[0]
            tokens = served.request.prompt + served.produced
            alone = not (self.running or admitted)
            reserve = 0 if alone else int(self.rules.watermark * self.pool.count)
            size = self.rules.max_len if self.rules.policy == "reserved" else tokens
            need = blocks_for(size, self.rules.block)
            if (tokens > budget and admitted) or need + reserve > self.pool.free:
                break
            self.waiting.popleft()
            served.blocks = self.pool.take(need)
            budget -= tokens
            admitted.append(served)
        return admitted

    def _record(self, seconds: float) -> None:
        held, used = self.pool.held * self.rules.block, sum(s.cached for s in self.running)
        self.totals = self.totals.after(held, used, seconds)
        if (self.totals.steps - 1) % self.stride == 0:
            self.moments.append(Moment(self.now, seconds, held, used, len(self.running), len(self.waiting)))
            if len(self.moments) >= 2 * KEPT:
                self.moments, self.stride = self.moments[::2], 2 * self.stride

    def _step(self, admitted: list[Served]) -> None:
        """One forward step: time passes, every request in it produces one token."""
        prefills = [s.request.prompt + s.produced for s in admitted]
        contexts = sum(s.cached for s in self.running)
        flops, moved = step_work(self.model, self.per_token, prefills, contexts, len(self.running))
        seconds = self.machine.seconds(flops, moved)
        self.flops += flops
        self.moved += moved
        self.decoded += len(self.running)
        self.prefilled += sum(prefills)
        self.recomputed += sum(n for n, s in zip(prefills, admitted, strict=True) if s.preempted)
        for served, tokens in zip(admitted, prefills, strict=True):
            served.cached = tokens
        for served in self.running:
            served.cached += 1
        self.running += admitted
        self._record(seconds)
        self.now += seconds
        for served in self.running:
            served.produced += 1
            served.first = self.now if served.first is None else served.first
            if served.produced == served.request.output:
                served.done = self.now
                self.pool.release(served.blocks)
                self.finished.append(served)
        self.running = [s for s in self.running if s.done is None]
