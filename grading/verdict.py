"""What a grader says about one answer (design 4.4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from grading.kinds.base import Finding

SCHEMA = "drillgen.verdict/1"

Status = Literal["graded", "invalid", "timeout", "crash", "unknown_id", "bad_key", "bad_row"]


class Verdict(NamedTuple):
    """One answer's verdict. `status` says whether there was anything to judge, `verdict` and `score` how it went.

    verdict: "right", "wrong", or None where nothing was decided. score: 0..1 or None; a failure of the grader is
    never a 0. slips and remarks: ids of the mistakes whose value this is, and what to say about them. findings:
    what can be said when no slip matches. reading: what the grader understood. detail: where it differs, or for an
    unreadable text what is wrong, with a caret line.
    """

    status: Status
    verdict: Literal["right", "wrong"] | None = None
    score: float | None = None
    method: str = ""
    slips: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    reading: str = ""
    detail: str = ""
    witness: Mapping[str, Any] | None = None
    parts: tuple[Mapping[str, Any], ...] = ()
    kind: str = ""
    id: Any = None
    student: str | None = None
    part: str | None = None

    @property
    def right(self) -> bool:
        """True only for a graded, right answer."""
        return self.verdict == "right"

    def to_json(self) -> dict[str, Any]:
        """The object of design 4.4; fields that do not apply are left out, verdict and score always stay."""
        out: dict[str, Any] = {"schema": SCHEMA}
        if self.id is not None:
            out["id"] = self.id
        if self.student is not None:
            out["student"] = self.student
        if self.part is not None:
            out["part"] = self.part
        if self.kind:
            out["kind"] = self.kind
        out["status"] = self.status
        out["verdict"] = self.verdict
        out["score"] = self.score
        if self.method:
            out["method"] = self.method
        if self.slips:
            out["slips"] = list(self.slips)
        if self.remarks:
            out["remarks"] = list(self.remarks)
        if self.findings:
            out["findings"] = [{"id": f.id, "text": f.text} for f in self.findings]
        if self.reading:
            out["reading"] = self.reading
        if self.detail:
            out["detail"] = self.detail
        if self.witness is not None:
            out["witness"] = dict(self.witness)
        if self.parts:
            out["parts"] = [dict(part) for part in self.parts]
        return out
