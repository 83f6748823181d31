"""Words: one Jinja template a drill, compiled once, rendered block by block.

Delimiters are << >>, <% %> and <# #>, since braces belong to LaTeX. Templates see the parameters and what derives from
them by name, the worked solution's values as `s.name`, the answer as `answer` (a value) and `answer_show` (as a person
would type it), and `options` (key, letter, text) where the drill has options. They compute nothing: numbers pass
through the filters below, and any other operation is refused by a test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import jinja2

    from drillgen.instance import Instance

BLOCKS = ("problem", "hint_1", "hint_2", "hint_3", "solution")


def decimal_of(value: Any) -> Decimal:
    """The value with its last bits dropped, so that rounding below cannot hang on them."""
    if isinstance(value, Fraction):
        return Decimal(value.numerator) / Decimal(value.denominator)
    return Decimal(value) if isinstance(value, int) else Decimal(f"{value:.12g}")


def _group(digits: str) -> str:
    """Thousands grouped, in a way that reads in text and in LaTeX maths alike: 4,096 becomes 4{,}096 in maths."""
    if len(digits) < 4:
        return digits
    whole, point, rest = digits.partition(".")
    if len(whole) < 4:
        return digits
    sign = "-" if whole.startswith("-") else ""
    return f"{sign}{int(whole.lstrip('-') or 0):,}{point}{rest}"


def num(value: Any, sig: int = 4) -> str:
    """A number as text: integers whole with thousands grouped, others to `sig` significant digits."""
    if isinstance(value, str):
        return value
    if type(value) is int and -1000 < value < 1000:
        return str(value)
    return _num(value, sig)


@lru_cache(maxsize=8192, typed=True)
def _num(value: int | float | Fraction, sig: int) -> str:
    if isinstance(value, float) and value != value:
        return "NaN"
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return "∞" if value > 0 else "−∞"
    if type(value) is float:
        short = f"{value:.12g}"
        if "e" not in short and len(short.lstrip("-0.").replace(".", "")) <= sig and not short.endswith("0"):
            return _group(short)  # already short: nothing to round
    number = decimal_of(value)
    if number == number.to_integral_value() and abs(number) < 10**15:
        return _group(str(int(number)))
    if isinstance(value, int):
        return _group(str(value))
    shown = _round_sig(number, sig)
    if shown != 0 and not -5 <= shown.adjusted() < 15:
        mantissa, _, exponent = f"{shown:.{sig - 1}E}".partition("E")
        return f"{_trim(mantissa)}e{int(exponent)}"
    return _group(_trim(f"{shown:f}"))


def _round_sig(number: Decimal, sig: int) -> Decimal:
    if number == 0:
        return number
    quantum = Decimal(1).scaleb(number.adjusted() - sig + 1)
    if quantum > 1 and number.adjusted() < 15:
        quantum = Decimal(1)  # whole digits are never rounded away: 12,345.6 is 12,346 at four digits
    return number.quantize(quantum, rounding=ROUND_HALF_EVEN)


def _trim(digits: str) -> str:
    return digits.rstrip("0").rstrip(".") if "." in digits else digits


def fix(value: Any, places: int = 3) -> str:
    """A number with a fixed count of decimals."""
    number = decimal_of(value).quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_EVEN)
    if number == 0:
        number = abs(number)
    return _group(f"{number:f}")


def tex(text: Any, sig: int = 4) -> str:
    """A number for LaTeX maths: grouping commas braced, e-notation as a power of ten."""
    shown = text if isinstance(text, str) else num(text, sig)
    mantissa, e, exponent = shown.partition("e")
    out = mantissa.replace(",", "{,}").replace("∞", r"\infty").replace("−", "-").replace("NaN", r"\mathrm{NaN}")
    if not e or not exponent.lstrip("-").isdecimal():
        return out
    return {"1": "", "-1": "-"}.get(out, rf"{out} \times ") + f"10^{{{exponent}}}"


def par(value: Any, sig: int = 4) -> str:
    """A number for LaTeX maths, bracketed where it is negative."""
    shown = tex(value, sig)
    return f"({shown})" if shown.startswith("-") else shown


def plus(value: Any, sig: int = 4) -> str:
    """A number for LaTeX maths with its sign as an operator: `+ 3`, `- 3`."""
    shown = tex(value, sig)
    return f"- {shown[1:]}" if shown.startswith("-") else f"+ {shown}"


def vec(values: Iterable[Any], sig: int = 4) -> str:
    """A row of numbers for LaTeX maths: (1, -2, 3)."""
    return "(" + r",\, ".join(tex(v, sig) for v in values) + ")"


def row(values: Iterable[Any], sig: int = 4) -> str:
    """Numbers for LaTeX maths, separated by commas, without brackets."""
    return r",\; ".join(tex(v, sig) for v in values)


def mat(rows: Iterable[Iterable[Any]], sig: int = 4) -> str:
    """A matrix for LaTeX maths."""
    body = r" \\ ".join(" & ".join(tex(v, sig) for v in r) for r in rows)
    return rf"\begin{{pmatrix}} {body} \end{{pmatrix}}"


def frac(value: Any) -> str:
    """A rational for LaTeX maths: 3/4 as a fraction, whole numbers plain."""
    number = Fraction(value).limit_denominator(10**6) if isinstance(value, float) else Fraction(value)
    if number.denominator == 1:
        return tex(number.numerator)
    sign = "-" if number < 0 else ""
    return rf"{sign}\frac{{{tex(abs(number.numerator))}}}{{{tex(number.denominator)}}}"


def percent(value: Any, sig: int = 3) -> str:
    """A share as a percentage, as text: 14.2 %."""
    return f"{num(float(value) * 100, sig)} %"


def iec(value: Any, sig: int = 4) -> str:
    """Bytes as text with a binary unit: 128 KiB."""
    return _scaled(value, 1024, ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB"), sig)


def si(value: Any, unit: str, sig: int = 4) -> str:
    """A quantity as text with a decimal prefix: 549.8 GFLOP, 80 GB (unit "B"), 7.66 ms (unit "s")."""
    size = abs(float(value))
    if 0 < size < 1 and unit == "s":
        for factor, prefix in ((1e3, "m"), (1e6, "µ"), (1e9, "n")):
            if size * factor >= 1:
                return f"{num(float(value) * factor, sig)} {prefix}{unit}"
    return _scaled(
        value, 1000, tuple(p + unit for p in ("", "K" if unit == "B" else "k", "M", "G", "T", "P", "E")), sig
    )


def _scaled(value: Any, base: int, units: tuple[str, ...], sig: int) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    k = 0
    while abs(value) >= base ** (k + 1) and k < len(units) - 1:
        k += 1
    scale = base**k
    whole = isinstance(value, int) and value % scale == 0
    return f"{num(value // scale if whole else value / scale, sig)} {units[k]}"


FILTERS: dict[str, Callable[..., str]] = {
    "num": num, "fix": fix, "tex": tex, "par": par, "plus": plus, "vec": vec, "row": row, "mat": mat,
    "frac": frac, "percent": percent, "iec": iec, "si": si,
}  # fmt: skip


@cache
def environment() -> jinja2.Environment:
    """The one Jinja environment: strict, without autoescape (templates write Markdown with LaTeX)."""
    import jinja2

    import templates

    assert templates.__file__ is not None
    env = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(templates.__file__).parent),
        block_start_string="<%", block_end_string="%>", variable_start_string="<<", variable_end_string=">>",
        comment_start_string="<#", comment_end_string="#>", undefined=jinja2.StrictUndefined,
        trim_blocks=True, lstrip_blocks=True, autoescape=False, auto_reload=False, cache_size=-1,
    )  # fmt: skip
    env.filters.update(FILTERS)
    return env


@cache
def template(slug: str, name: str) -> jinja2.Template:
    """The compiled template of one drill."""
    return environment().get_template(f"{slug}/{name}.md.j2")


def render(instance: Instance, solution: bool = True) -> dict[str, str]:
    """The problem, three hints and, where wanted, the worked solution, as Markdown with LaTeX."""
    found = template(instance.card.slug, instance.drill.name)
    names: dict[str, Any] = {**instance.values, "s": instance.steps, "answer": instance.answer}
    names["answer_show"] = instance.kind.show(instance.answer)
    if hasattr(instance.kind, "options"):
        names["options"] = [
            {"key": o.key, "letter": "ABCDEFGHIJKLMNOP"[i], "text": o.text, "right": o.key in _chosen(instance)}
            | ({"reason": o.reason} if o.reason else {})
            for i, o in enumerate(instance.kind.options)
        ]
    context = found.new_context(names, shared=False)
    return {block: "".join(found.blocks[block](context)).strip() for block in BLOCKS if solution or block != "solution"}


def _chosen(instance: Instance) -> Iterable[str]:
    answer = instance.answer
    return answer if isinstance(answer, list) else (answer,)
