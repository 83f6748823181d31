"""The glyphs: which LaTeX command is which character, how much room it takes and how it is read out."""

from __future__ import annotations

from drillgen.typeset.nodes import Role, Symbol

GREEK: dict[str, str] = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ϵ", "varepsilon": "ε", "zeta": "ζ",
    "eta": "η", "theta": "θ", "vartheta": "ϑ", "iota": "ι", "kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν",
    "xi": "ξ", "pi": "π", "rho": "ρ", "varrho": "ϱ", "sigma": "σ", "tau": "τ", "upsilon": "υ", "phi": "ϕ",
    "varphi": "φ", "chi": "χ", "psi": "ψ", "omega": "ω", "Gamma": "Γ", "Delta": "Δ", "Theta": "Θ",
    "Lambda": "Λ", "Xi": "Ξ", "Pi": "Π", "Sigma": "Σ", "Upsilon": "Υ", "Phi": "Φ", "Psi": "Ψ", "Omega": "Ω",
}  # fmt: skip
LETTERS: dict[str, str] = {**GREEK, "ell": "ℓ", "hbar": "ℏ"}
LETTER_NAMES: dict[str, str] = {
    char: name.removeprefix("var").lower() if name.islower() else "capital " + name.lower()
    for name, char in GREEK.items()
} | {"ℓ": "ell", "ℏ": "h bar"}

_TABLE: dict[Role, str] = {
    "big": """
        sum ∑ the sum, prod ∏ the product, coprod ∐ the coproduct, int ∫ the integral, bigcup ⋃ the union,
        bigcap ⋂ the intersection, bigoplus ⨁ the direct sum, bigotimes ⨂ the tensor product""",
    "bin": """
        cdot ⋅ times, times × times, div ÷ divided by, pm ± plus or minus, mp ∓ minus or plus,
        odot ⊙ entrywise times, otimes ⊗ tensor, oplus ⊕ circled plus, circ ∘ composed with, ast ∗ star,
        cup ∪ union, cap ∩ intersection, setminus ∖ without, wedge ∧ and, land ∧ and, vee ∨ or, lor ∨ or,
        bullet ∙ bullet, star ⋆ star""",
    "rel": """
        le ≤ is at most, leq ≤ is at most, ge ≥ is at least, geq ≥ is at least, ne ≠ is not equal to,
        neq ≠ is not equal to, approx ≈ is approximately, sim ∼ is distributed as, simeq ≃ is similar to,
        cong ≅ is congruent to, equiv ≡ is identical to, propto ∝ is proportional to, ll ≪ is much less than,
        gg ≫ is much greater than, in ∈ in, ni ∋ contains, notin ∉ not in, subset ⊂ is a subset of,
        subseteq ⊆ is a subset of, supset ⊃ contains, supseteq ⊇ contains, mid ∣ given,
        perp ⟂ is independent of, parallel ∥ is parallel to, to → to, rightarrow → to, gets ← from,
        leftarrow ← from, leftrightarrow ↔ if and only if, longrightarrow ⟶ to, Rightarrow ⇒ implies,
        implies ⟹ implies, Longrightarrow ⟹ implies, Leftarrow ⇐ is implied by,
        Leftrightarrow ⇔ if and only if, iff ⟺ if and only if, mapsto ↦ maps to, uparrow ↑ up,
        downarrow ↓ down, succeq ⪰ succeeds or equals, preceq ⪯ precedes or equals, succ ≻ succeeds,
        prec ≺ precedes, lt < is less than, gt > is greater than, models ⊨ models, vdash ⊢ proves,
        lesssim ≲ is at most about, gtrsim ≳ is at least about""",
    "ord": """
        infty ∞ infinity, partial ∂ partial, nabla ∇ gradient of, top ⊤ transpose, bot ⊥ bottom,
        emptyset ∅ the empty set, varnothing ∅ the empty set, forall ∀ for all, exists ∃ there is,
        neg ¬ not, lnot ¬ not, prime ′ prime, angle ∠ angle, dagger † dagger, ldots … and so on,
        dots … and so on, dotsc … and so on, cdots ⋯ and so on, dotsb ⋯ and so on, vdots ⋮ and so on,
        ddots ⋱ and so on, backslash \\ backslash, checkmark ✓ check, vert | bar, Vert ‖ double bar,
        Re ℜ the real part of, Im ℑ the imaginary part of, square □ square""",
    "open": """
        lbrace { open brace, langle ⟨ open angle, lvert | the absolute value of, lVert ‖ the norm of,
        lfloor ⌊ the floor of, lceil ⌈ the ceiling of, lbrack [ open bracket""",
    "close": """
        rbrace } close brace, rangle ⟩ close angle, rvert | end absolute value, rVert ‖ end norm,
        rfloor ⌋ end floor, rceil ⌉ end ceiling, rbrack ] close bracket""",
    "punct": "colon : such that",
}
"""Command, character and what is read out, by the role that decides the space around."""


def _read() -> dict[str, Symbol]:
    table: dict[str, Symbol] = {}
    for role, text in _TABLE.items():
        for entry in text.split(","):
            name, char, spoken = entry.split(maxsplit=2)
            table[name] = Symbol(char, role, spoken)
    return table


SYMBOLS: dict[str, Symbol] = _read()
ESCAPES: dict[str, Symbol] = {
    "%": Symbol("%", "ord", "percent"),
    "#": Symbol("#", "ord", "number of"),
    "$": Symbol("$", "ord", "dollar"),
    "_": Symbol("_", "ord", "underscore"),
    "&": Symbol("&", "ord", "and"),
    "{": Symbol("{", "open", "open brace"),
    "}": Symbol("}", "close", "close brace"),
    "|": Symbol("‖", "ord", "double bar"),
}
PLAIN: dict[str, Symbol] = {
    "+": Symbol("+", "bin", "plus"),
    "-": Symbol("−", "bin", "minus"),
    "*": Symbol("∗", "bin", "star"),
    "=": Symbol("=", "rel", "equals"),
    "<": Symbol("<", "rel", "is less than"),
    ">": Symbol(">", "rel", "is greater than"),
    ":": Symbol(":", "rel", "colon"),
    ",": Symbol(",", "punct", "comma"),
    ";": Symbol(";", "punct", "semicolon"),
    "(": Symbol("(", "open", "open paren"),
    ")": Symbol(")", "close", "close paren"),
    "[": Symbol("[", "open", "open bracket"),
    "]": Symbol("]", "close", "close bracket"),
    "|": Symbol("|", "ord", "bar"),
    "/": Symbol("/", "ord", "over"),
    "!": Symbol("!", "close", "factorial"),
    "?": Symbol("?", "close", "question mark"),
    ".": Symbol(".", "ord", "point"),
}
"""What may stand in a formula unescaped, beside letters, digits and braces."""

SPACES: dict[str, float] = {
    ",": 1 / 6, ":": 2 / 9, ";": 5 / 18, "!": -1 / 6, " ": 1 / 4, "quad": 1.0, "qquad": 2.0,
    "thinspace": 1 / 6, "enspace": 0.5,
}  # fmt: skip

_PLAIN_FUNCTIONS = (
    "log", "ln", "lg", "exp", "sin", "cos", "tan", "sinh", "cosh", "tanh", "arcsin", "arccos", "arctan",
    "arg", "dim", "ker", "deg", "hom",
)  # fmt: skip
_LIMIT_FUNCTIONS = ("max", "min", "sup", "inf", "lim", "limsup", "liminf", "det", "gcd", "Pr")
FUNCTIONS: dict[str, bool] = dict.fromkeys(_PLAIN_FUNCTIONS, False) | dict.fromkeys(_LIMIT_FUNCTIONS, True)
"""Named functions; True where a subscript goes below in display."""

DELIMITERS: dict[str, str] = {
    "(": "(", ")": ")", "[": "[", "]": "]", "|": "|", "/": "/", "<": "⟨", ">": "⟩", ".": "",
    "\\{": "{", "\\}": "}", "\\|": "‖",
} | {
    f"\\{name}": SYMBOLS[name].char
    for name in (
        "lbrace", "rbrace", "langle", "rangle", "vert", "Vert", "lvert", "rvert", "lVert", "rVert", "lfloor",
        "rfloor", "lceil", "rceil", "lbrack", "rbrack", "backslash", "uparrow", "downarrow",
    )
}  # fmt: skip
"""What may follow \\left, \\right, \\middle and \\big; the empty delimiter is ""."""

OPENING = frozenset("([{⟨⌊⌈")
CLOSING = frozenset(")]}⟩⌋⌉")
DELIMITER_NAMES: dict[str, str] = {
    "(": "open paren", ")": "close paren", "[": "open bracket", "]": "close bracket", "{": "open brace",
    "}": "close brace", "⟨": "open angle", "⟩": "close angle", "⌊": "the floor of", "⌋": "end floor",
    "⌈": "the ceiling of", "⌉": "end ceiling", "|": "bar", "‖": "double bar", "/": "over", "\\": "backslash",
    "↑": "up", "↓": "down", "": "",
}  # fmt: skip
