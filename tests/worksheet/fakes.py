"""Problems written by hand, one of each kind, with the least grader that can judge them; not a test file itself."""

from __future__ import annotations

from typing import Any

from grading.verdict import Verdict

_MATRIX = r"\begin{pmatrix} 1 & -2 \\ 3 & 4 \end{pmatrix}"
ROWS: list[tuple[str, str, str, Any, dict[str, Any]]] = [
    ("quantity", "A cache takes $2 L H_{\\text{kv}} d_h b$ bytes a token. How much is that?", "128 KiB", 131072, {}),
    ("number", "Give $\\frac{1}{\\sqrt{d_k}}$ for $d_k = 64$.", "0.125", 0.125, {}),
    ("integer", "How many pairs does a causal mask allow for $T = 4$?", "10", 10, {}),
    ("vector", "Give $\\operatorname{softmax}(0, 2, 1)$.", "(0.09, 0.665, 0.245)", [0.09, 0.665, 0.245], {}),
    ("matrix", f"Transpose\n$$A = {_MATRIX}.$$", "[[1, 3], [-2, 4]]", [[1, 3], [-2, 4]], {}),
    ("table", "Fill in:\n\n| step | $m$ |\n|---|--:|\n| 1 | ? |", "1 2; 3 4", [[1, 2], [3, 4]], {}),
    ("shape", "What is the shape of $QK^\\top$?", "(B, h, T, T)", ["B", "h", "T", "T"], {}),
    ("set", "Which keys are visible?", "{1, 2}", [1, 2], {}),
    ("choice", "Which is right?", "b", "b",
     {"options": [{"key": "a", "text": "$x$ grows"}, {"key": "b", "text": "*it* stays"}, {"key": "c", "text": "no"}]}),
    ("multi_choice", "Which are right?", "a, c", ["a", "c"],
     {"options": [{"key": "a", "text": "one"}, {"key": "b", "text": "two"}, {"key": "c", "text": "three"}]}),
    ("expression", "Give $\\ln(e^s + e^{s+\\Delta})$.", "s + ln(1 + e^Delta)", "s + ln(1 + e^Delta)", {}),
    ("indexed", "Give $\\partial p_i/\\partial s_j$.", "p_i*(delta_ij - p_j)", "p_i*(delta_ij - p_j)", {}),
    ("matrix_expression", "Give $dS$.", "P o (dP - rowsum(P o dP))", "P o (dP - rowsum(P o dP))", {}),
    ("parts", "Two sums.", "3; 7", [3, 7],
     {"parts": [{"name": n, "kind": "number", "prompt": f"${p}$", "answer_format": "a number", "precision": "exact",
                 "tolerance": {"exact": True}}
                for n, p in (("a", "1 + 2"), ("b", "3 + 4"))]}),
]  # fmt: skip
KINDS = [row[0] for row in ROWS]


class Fake:
    """Looks like an instance: an id, `problem(answers)` and `grade(text)`."""

    def __init__(self, kind: str, seed: int = 1, refuses: bool = False, slips: int = 3) -> None:
        self.kind, self.seed, self.refuses = kind, seed, refuses
        _, self.prompt, self.show, self.value, self.rest = next(row for row in ROWS if row[0] == kind)
        self.id = f"fake.{kind}@1/{seed}"
        self.slips = [(f"slip_{n}", f"{self.show} wrong {n}", f"You did *this* {n}: $x_{n}$.") for n in range(slips)]

    def problem(self, answers: bool = False) -> dict[str, Any]:
        out: dict[str, Any] = {
            "schema": "drillgen.problem/1", "id": self.id, "drill": f"fake.{self.kind}", "version": 1,
            "seed": self.seed, "card": 13, "stars": 1, "moves": ["S"], "minutes": 5, "kind": self.kind, "params": {},
            "prompt": self.prompt, "answer_format": "what is asked", "precision": "3 significant digits",
            "tolerance": {"rel": 0.01}, "hints": ["one $x$", "two", "three"], **self.rest,
        }  # fmt: skip
        if answers:
            out["answer"] = {"value": self.value, "show": self.show}
            out["slips"] = [{"id": i, "value": s, "show": s, "remark": r} for i, s, r in self.slips]
            out["solution"] = f"Work it out: $a^2 + b^2$.\n\nThe answer is {self.show.replace('*', chr(92) + '*')}."
        return out

    def grade(self, text: str) -> Verdict:
        right = text == self.show
        if "options" in self.rest:
            keys = [o["key"] for o in self.rest["options"]]
            letters = {"ABC"[keys.index(k)] for k in (self.value if isinstance(self.value, list) else [self.value])}
            right = right or set(text.replace(",", " ").split()) == letters
        right = right and not self.refuses
        return Verdict("graded", "right" if right else "wrong", float(right), detail="" if right else "not the key")


def everything(seed: int = 1) -> list[Fake]:
    """One problem of each kind."""
    return [Fake(kind, seed) for kind in KINDS]
