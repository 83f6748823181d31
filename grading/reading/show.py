"""Trees as text and as LaTeX, as they were typed."""

from __future__ import annotations

from grading.reading.tree import (
    Add,
    Call,
    Div,
    Entry,
    Indexed,
    Indicator,
    Listing,
    Mul,
    Neg,
    Node,
    Number,
    Pow,
    Sub,
    Sum,
    Symbol,
    Transpose,
)

# ------------------------------------------------------------------------------------------------------------ trees

_SUM, _PRODUCT, _SIGN, _POWER, _ATOM = 1, 2, 3, 4, 5
_SIGNS = {"space": " ", "dot": "·", "star": "*", "at": " @ ", "entry": " ∘ "}
_LATEX_SIGNS = {"space": " ", "dot": r" \cdot ", "star": r" \cdot ", "at": r" \, ", "entry": r" \odot "}
_RELATIONS = {"=": "=", "!=": "≠", "<": "<", "<=": "≤", ">": ">", ">=": "≥"}


def show(tree: Node) -> str:
    """A tree as plain text, in the learner's own order; it reads back to the same tree."""
    return _plain(tree)[0]


def _plain(node: Node) -> tuple[str, int]:
    """The text of a node and how tightly it holds together."""
    match node:
        case Number():
            return _literal(node)
        case Symbol(name=name):
            return name, _ATOM
        case Indexed(name=name, indices=indices):
            return f"{name}_{{{','.join(map(show, indices))}}}", _ATOM
        case Entry(arg=arg, indices=indices):
            return f"{_held(arg, _ATOM)}_{{{','.join(map(show, indices))}}}", _ATOM
        case Neg(arg=arg):
            return f"-{_held(arg, _SIGN)}", _SIGN
        case Add(left=left, right=right):
            return f"{_held(left, _SUM)} + {_held(right, _PRODUCT)}", _SUM
        case Sub(left=left, right=right):
            return f"{_held(left, _SUM)} - {_held(right, _PRODUCT)}", _SUM
        case Mul():
            return _product(node), _PRODUCT
        case Div(left=left, right=right):
            return f"{_dividend(left)}/{_held(right, _POWER)}", _PRODUCT
        case Pow(base=base, exponent=exponent):
            return f"{_held(base, _ATOM)}^{_held(exponent, _ATOM)}", _POWER
        case Transpose(arg=arg):
            return f"{_held(arg, _ATOM)}^T", _POWER
        case Call(name="abs", args=(arg,)):
            return f"abs({show(arg)})", _ATOM
        case Call(name="factorial", args=(arg,)):
            return f"{_held(arg, _ATOM)}!", _POWER
        case Call(name=name, args=args):
            return f"{name}({', '.join(map(show, args))})", _ATOM
        case Sum():
            return _total(node), _SUM
        case Indicator(left=left, relation=relation, right=right):
            return f"1[{show(left)}{_RELATIONS[relation]}{show(right)}]", _ATOM
        case Listing(items=items, brackets=brackets):
            pair = brackets if len(brackets) == 2 else "()"
            return f"{pair[0]}{', '.join(map(show, items))}{pair[1]}", _ATOM
    raise TypeError(f"{type(node).__name__} cannot be shown")


def _held(node: Node, least: int) -> str:
    """A node, in brackets where it holds together less tightly than `least`."""
    text, tightness = _plain(node)
    return text if tightness >= least else f"({text})"


def _literal(node: Number) -> tuple[str, int]:
    """A number as typed where that reads back alone, else as a decimal or fraction."""
    text = node.text
    if text and text[-1] not in "∛∜":
        return text, _ATOM if text[-1] != "%" else _POWER
    value = node.value
    if value.denominator == 1 and value >= 0:
        return str(value.numerator), _ATOM
    return f"({value})", _ATOM


def _product(node: Mul) -> str:
    left = _held(node.left, _PRODUCT) if not isinstance(node.left, Sum) else f"({show(node.left)})"
    right = _held(node.right, _POWER)
    if node.how == "space" and (right[0].isdigit() or right[0] in "|½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞[." or _opens_call(node.left)):
        right = right if right[0] == "(" else f"({right})"
    return f"{left}{_SIGNS[node.how]}{right}"


def _opens_call(node: Node) -> bool:
    """Whether a factor's text would take a bracket after it for its arguments or index."""
    return isinstance(node, Number) and node.text == "1"


def _dividend(node: Node) -> str:
    """What stands above a slash: a product that ends in a literal is kept from forming a fraction with the divisor."""
    if isinstance(node, Mul | Neg) and isinstance(_last(node), Number):
        return f"({show(node)})"
    return _held(node, _PRODUCT)


def _last(node: Node) -> Node:
    while isinstance(node, Mul | Neg):
        node = node.right if isinstance(node, Mul) else node.arg
    return node


def _total(node: Sum) -> str:
    head = "prod" if node.product else "sum"
    if node.skip is not None:
        head += f"_{{{node.index}≠{show(node.skip)}}}"
    elif node.lower is not None:
        head += f"_{{{node.index}={show(node.lower)}}}"
    else:
        head += f"_{node.index}"
    if node.upper is not None:
        head += f"^{{{show(node.upper)}}}"
    return f"{head} {_held(node.body, _PRODUCT)}"


def latex(tree: Node) -> str:
    """A tree as LaTeX, in the learner's own order."""
    return _latex(tree)[0]


def _latex(node: Node) -> tuple[str, int]:
    """The LaTeX of a node and how tightly it holds together."""
    match node:
        case Number():
            text, tightness = _literal(node)
            return _latex_literal(text), tightness
        case Symbol(name=name):
            return latex_name(name), _ATOM
        case Indexed(name=name, indices=indices):
            return f"{latex_name(name)}_{{{_latex_indices(indices)}}}", _ATOM
        case Entry(arg=arg, indices=indices):
            return f"{_latex_held(arg, _ATOM)}_{{{_latex_indices(indices)}}}", _ATOM
        case Neg(arg=arg):
            return f"-{_latex_held(arg, _SIGN)}", _SIGN
        case Add(left=left, right=right):
            return f"{_latex_held(left, _SUM)} + {_latex_held(right, _PRODUCT)}", _SUM
        case Sub(left=left, right=right):
            return f"{_latex_held(left, _SUM)} - {_latex_held(right, _PRODUCT)}", _SUM
        case Mul(left=left, right=right, how=how):
            return _latex_product(left, right, how), _PRODUCT
        case Div(left=left, right=right):
            return rf"\frac{{{latex(left)}}}{{{latex(right)}}}", _POWER
        case Pow(base=base, exponent=exponent):
            return f"{_latex_held(base, _ATOM)}^{{{latex(exponent)}}}", _POWER
        case Transpose(arg=arg):
            return rf"{_latex_held(arg, _ATOM)}^{{\top}}", _POWER
        case Call():
            return _latex_call(node)
        case Sum():
            return _latex_total(node), _SUM
        case Indicator(left=left, relation=relation, right=right):
            sign = {"!=": r"\ne ", "<=": r"\le ", ">=": r"\ge "}.get(relation, relation)
            return rf"\mathbb{{1}}[{latex(left)}{sign}{latex(right)}]", _ATOM
        case Listing(items=items):
            return rf"\left({', '.join(map(latex, items))}\right)", _ATOM
    raise TypeError(f"{type(node).__name__} cannot be shown")


def _latex_held(node: Node, least: int) -> str:
    text, tightness = _latex(node)
    return text if tightness >= least else rf"\left({text}\right)"


def _latex_literal(text: str) -> str:
    return text.replace("%", r"\%")


def _latex_indices(indices: tuple[Node, ...]) -> str:
    short = all(isinstance(i, Symbol) and len(i.name) == 1 for i in indices)
    return ("" if short else ",").join(map(latex, indices))


def _latex_product(left: Node, right: Node, how: str) -> str:
    first = _latex_held(left, _PRODUCT) if not isinstance(left, Sum) else rf"\left({latex(left)}\right)"
    second = _latex_held(right, _POWER)
    if how in ("space", "at") and (
        isinstance(right, Number) or isinstance(_first(right), Number) or second.startswith(r"\frac")
    ):
        second = second if second.startswith(r"\left(") else rf"\left({second}\right)"
    return f"{first}{_LATEX_SIGNS[how]}{second}"


def _first(node: Node) -> Node:
    """The operand that a node's text begins with."""
    while True:
        match node:
            case Mul(left=left) | Add(left=left) | Sub(left=left):
                node = left
            case Pow(base=base):
                node = base
            case Transpose(arg=arg):
                node = arg
            case Call(name="factorial", args=(arg,)):
                node = arg
            case _:
                return node


_LATEX_NAMES = frozenset({"ln", "exp", "min", "max", "sin", "cos", "tan", "cot", "sec", "csc", "sinh", "cosh", "tanh"})


def _latex_call(node: Call) -> tuple[str, int]:
    match node:
        case Call(name="sqrt", args=(arg,)):
            return rf"\sqrt{{{latex(arg)}}}", _ATOM
        case Call(name="abs", args=(arg,)):
            return rf"\left|{latex(arg)}\right|", _ATOM
        case Call(name="factorial", args=(arg,)):
            return f"{_latex_held(arg, _ATOM)}!", _POWER
        case Call(name="floor" | "ceil", args=(arg,)):
            return rf"\l{node.name} {latex(arg)} \r{node.name}", _ATOM
        case Call(name="binomial", args=(n, k)):
            return rf"\binom{{{latex(n)}}}{{{latex(k)}}}", _ATOM
        case Call(name="log", args=(arg, base)):
            return rf"\log_{{{latex(base)}}}\left({latex(arg)}\right)", _ATOM
    name = f"\\{node.name}" if node.name in _LATEX_NAMES else rf"\operatorname{{{node.name}}}"
    return rf"{name}\left({', '.join(map(latex, node.args))}\right)", _ATOM


def _latex_total(node: Sum) -> str:
    head = r"\prod" if node.product else r"\sum"
    if node.skip is not None:
        head += rf"_{{{node.index} \ne {latex(node.skip)}}}"
    elif node.lower is not None:
        head += f"_{{{node.index}={latex(node.lower)}}}"
    else:
        head += f"_{{{node.index}}}"
    if node.upper is not None:
        head += f"^{{{latex(node.upper)}}}"
    return f"{head} {_latex_held(node.body, _PRODUCT)}"


def latex_name(name: str) -> str:
    """A name in LaTeX: greek letters by command, longer words upright, subscripts in braces."""
    stem, _, sub = name.partition("_")
    text = f"\\{stem}" if stem in _greek() else (stem if len(stem) == 1 else rf"\mathrm{{{stem}}}")
    if not sub:
        return text
    inner = f"\\{sub}" if sub in _greek() else (sub if len(sub) == 1 or sub.isdigit() else rf"\text{{{sub}}}")
    return f"{text}_{{{inner}}}"


def _greek() -> frozenset[str]:
    from grading.reading.tokens import GREEK_NAMES

    return GREEK_NAMES
