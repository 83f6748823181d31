"""Grading scenarios: each part against its key, then against what follows from the learner's own earlier answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from grading.errors import Unreadable

if TYPE_CHECKING:
    from drillgen.scenario import Part, ScenarioInstance
    from grading.verdict import Verdict


def grade_part(
    instance: ScenarioInstance, name: str, text: str, given: Mapping[str, str], decimal_comma: bool = False
) -> Verdict:
    """One part's verdict. given: the learner's texts for other parts, by name.

    Right by reference, or right because it follows from the learner's own earlier answer: then the verdict says so
    (`follows_own` in its `parts` entry).
    """
    from drillgen.instance import points

    one = instance.parts[name]
    verdict = one.grade(text, decimal_comma=decimal_comma)._replace(part=name)
    part = next(p for p in instance.scenario.parts if p.name == name)
    if verdict.verdict != "wrong" or part.follow is None:
        return verdict
    expected = _expected(instance, part, given, decimal_comma)
    if expected is None:
        return verdict
    answer = one.kind.parse(points(text) if decimal_comma else text)
    if not one.kind.compare(answer, expected).right:
        return verdict
    started = " and ".join(part.needs)
    entry = {"name": name, "verdict": "right", "score": 1.0, "method": verdict.method, "follows_own": True}
    return verdict._replace(
        verdict="right",
        score=1.0,
        slips=(),
        remarks=(),
        findings=(),
        witness=None,
        detail=f"consistent with your part {started}, which itself differs from the key",
        parts=(entry,),
    )


def _expected(instance: ScenarioInstance, part: Part, given: Mapping[str, str], decimal_comma: bool) -> Any:
    """What follows from the learner's earlier answers; None where nothing does."""
    from drillgen.instance import points

    carried: dict[str, Any] = {}
    own = False
    for name in part.needs:
        if name not in given:
            carried[name] = instance.parts[name].answer
            continue
        kind = instance.parts[name].kind
        try:
            read = kind.parse(points(given[name]) if decimal_comma else given[name])
        except Unreadable:
            return None
        carried[name] = kind.plain(read)
        own = own or not kind.compare(read, instance.parts[name].answer).right
        if carried[name] is None:
            return None
    if not own or part.follow is None:
        return None
    try:
        return part.follow(instance.parts[part.name].values, carried)
    except (ArithmeticError, ValueError, IndexError, TypeError):
        # The carried value left the domain (weights that do not sum to one, negative room): nothing follows from it.
        return None


def grade_all(instance: ScenarioInstance, text: str, decimal_comma: bool = False) -> Verdict:
    """All parts typed in one text, in order or by name; a part that is missing is unreadable for itself alone."""
    from grading.kinds.parts import Part, Parts
    from grading.verdict import Verdict

    names = list(instance.parts)
    try:
        texts = Parts(parts=tuple(Part(n, one.kind) for n, one in instance.parts.items())).texts(text)
    except Unreadable as error:
        return Verdict(status="invalid", kind="parts", detail=error.message)
    entries, details, given = [], [], dict[str, str]()
    for name in names:
        if name not in texts:
            entries.append({"name": name, "status": "invalid", "verdict": None, "score": None})
            continue
        verdict = grade_part(instance, name, texts[name], given, decimal_comma)
        entry: dict[str, Any] = {"name": name, "verdict": verdict.verdict, "score": verdict.score}
        if verdict.status != "graded":
            entry["status"] = verdict.status
        else:
            given[name] = texts[name]
        entry.update({"method": verdict.method} if verdict.method else {})
        entry.update({"slips": list(verdict.slips)} if verdict.slips else {})
        if any(p.get("follows_own") for p in verdict.parts):
            entry["follows_own"] = True
        if verdict.remarks or verdict.detail:
            details.append(f"part {name}: {' '.join(verdict.remarks) or verdict.detail.splitlines()[0]}")
        entries.append(entry)
    if not given:
        return Verdict(status="invalid", kind="parts", detail="\n".join(details) or "no part could be read")
    score = sum(float(e["score"] or 0) for e in entries) / len(entries)
    right = all(e["verdict"] == "right" and "follows_own" not in e for e in entries)
    return Verdict(
        status="graded",
        verdict="right" if right else "wrong",
        score=score,
        method="tolerance",
        detail="\n".join(details),
        parts=tuple(entries),
        kind="parts",
    )
