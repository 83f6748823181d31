r"""A strict reader of LaTeX mathematics: a formula becomes a tree, or an error with a column; nothing is dropped.

What is read is a subset that pdflatex (amsmath, amssymb) and MathJax set alike, since the same source is passed on
to .tex, Anki, Moodle and notebooks unchanged.

| what | accepted |
|---|---|
| plain | letters, digits, `+ - * / = < > ( ) [ ] | , ; : . ! ?`, primes `f'`, `~`; `1{,}234` is one number |
| scripts | `x_i`, `x^2`, `x_{ij}^{\top}`, `\limits`, `\nolimits`; two or more digits need braces |
| fractions, roots | `\frac \tfrac \dfrac \binom`, `\sqrt{x}`, `\sqrt[n]{x}` |
| fences | `\left( \middle| \right]` with `( ) [ ] | / . < >`, `\{ \} \|` and the named ones below; `\big \Big \bigg \Bigg` and their `l r m` forms |
| named fences | `\lbrace \rbrace \lbrack \rbrack \langle \rangle \lvert \rvert \lVert \rVert \vert \Vert \lfloor \rfloor \lceil \rceil` |
| alphabets | `\mathbf \mathbb \mathcal \mathrm \mathit \mathsf \mathtt \boldsymbol` |
| text | `\text \textbf \textit \textrm \texttt`, `\operatorname{..}`, `\operatorname*{..}`; no maths and no commands in it but `\% \# \$ \_ \& \{ \}` and `\,` |
| functions | `\log \ln \lg \exp \sin \cos \tan \sinh \cosh \tanh \arcsin \arccos \arctan \arg \dim \ker \deg \hom \max \min \sup \inf \lim \limsup \liminf \det \gcd \Pr`, `\bmod` |
| environments | `matrix pmatrix bmatrix vmatrix Vmatrix cases aligned`, `array{l|cr}`, `\substack{..}` |
| around | `\underbrace{..}_{..} \overbrace{..}^{..} \overset \underset \stackrel \xrightarrow[..]{..} \boxed` |
| accents | `\hat \bar \tilde \vec \dot \ddot \widehat \widetilde \overline \underline` |
| spaces | `\, \: \; \! \quad \qquad \enspace \thinspace`, backslash-space |
| style | `\displaystyle \textstyle` |
| Greek | all of it, with `\varepsilon \vartheta \varrho \varphi`; `\ell \hbar` |
| big | `\sum \prod \coprod \int \bigcup \bigcap \bigoplus \bigotimes` |
| operations | `\cdot \times \div \pm \mp \odot \otimes \oplus \circ \ast \star \cup \cap \setminus \wedge \land \vee \lor \bullet` |
| relations | `\le \leq \ge \geq \ne \neq \approx \sim \simeq \cong \equiv \propto \ll \gg \lesssim \gtrsim \in \ni \notin \subset \subseteq \supset \supseteq \mid \perp \parallel \succeq \preceq \succ \prec \lt \gt \models \vdash` |
| arrows | `\to \rightarrow \gets \leftarrow \leftrightarrow \longrightarrow \Rightarrow \implies \Longrightarrow \Leftarrow \Leftrightarrow \iff \mapsto \uparrow \downarrow` |
| other | `\infty \partial \nabla \top \bot \emptyset \varnothing \forall \exists \neg \lnot \prime \angle \dagger \ldots \dots \dotsc \cdots \dotsb \vdots \ddots \Re \Im \square \checkmark \backslash \colon \% \# \$ \_ \& \{ \}` |

Not read, on purpose: macros, `\color`, `\tag`, `\label`, `\\[2pt]`, `\hline`, comments, `\bm` (write \boldsymbol).
"""  # noqa: E501

from __future__ import annotations

import difflib
import re
from functools import lru_cache
from typing import Literal, get_args

from drillgen.typeset.errors import TypesetError
from drillgen.typeset.nodes import (
    Accent,
    AccentKind,
    Aligned,
    Binomial,
    Boxed,
    Brace,
    Cases,
    Environment,
    Fence,
    Fraction,
    Function,
    Grid,
    Letter,
    Middle,
    Node,
    Number,
    Role,
    Root,
    Row,
    Scripts,
    Sized,
    Sizing,
    Space,
    Stack,
    Style,
    Styled,
    Symbol,
    Word,
)
from drillgen.typeset.symbols import (
    CLOSING,
    DELIMITERS,
    ESCAPES,
    FUNCTIONS,
    LETTERS,
    OPENING,
    PLAIN,
    SPACES,
    SYMBOLS,
)

MAX_DEPTH = 40
MAX_LENGTH = 20_000

_TOKEN = re.compile(r"\\(?:[A-Za-z]+|.)|[0-9]+(?:\{,\}[0-9]{3})*(?:\.[0-9]+)?|\.[0-9]+|\s+|.", re.DOTALL)
_STYLES: dict[str, Style] = {
    "mathbf": "bf", "mathbb": "bb", "mathcal": "cal", "mathrm": "rm", "mathit": "it", "mathsf": "sf",
    "mathtt": "tt", "boldsymbol": "bs",
}  # fmt: skip
_TEXTS: dict[str, Style | None] = {
    "text": None, "textrm": None, "textbf": "bf", "textit": "it", "texttt": "tt",
}  # fmt: skip
_ACCENTS: dict[str, AccentKind] = {name: name for name in get_args(AccentKind)}
_FRACTIONS: dict[str, Literal["", "text", "display"]] = {"frac": "", "tfrac": "text", "dfrac": "display", "binom": ""}
_STACKS = {"overset", "underset", "stackrel", "xrightarrow"}
_GRIDS: dict[str, Environment] = {name: name for name in get_args(Environment) if name != "substack"}
_SIZED: dict[str, tuple[int, str]] = {
    f"{size}{side}": (level, side)
    for level, size in enumerate(("big", "Big", "bigg", "Bigg"), 1)
    for side in ("", "l", "r", "m")
}
_SIDES: dict[str, Role] = {"l": "open", "r": "close", "m": "rel"}
_OTHERS = {"left", "right", "middle", "begin", "end", "sqrt", "operatorname", "underbrace", "overbrace",
           "boxed", "limits", "nolimits", "displaystyle", "textstyle", "substack", "bmod"}  # fmt: skip
_ESCAPED_IN_TEXT = {"\\" + c: c for c in "%#$_&{}"} | {"\\,": " ", "\\ ": " "}
_INSTEAD = {
    "bm": r"\boldsymbol", "mathds": r"\mathbf", "argmax": r"\operatorname*{arg\,max}",
    "argmin": r"\operatorname*{arg\,min}", "softmax": r"\operatorname{softmax}", "norm": r"\lVert..\rVert",
    "abs": r"\lvert..\rvert", "rm": r"\mathrm{..}", "bf": r"\mathbf{..}", "cal": r"\mathcal{..}",
    "over": r"\frac{..}{..}", "T": r"\top", "transpose": r"\top", "mbox": r"\text{..}", "hspace": r"\quad",
}  # fmt: skip
_KNOWN = sorted(
    {*SYMBOLS, *LETTERS, *FUNCTIONS, *_STYLES, *_TEXTS, *_ACCENTS, *_FRACTIONS, *_STACKS, *_SIZED, *_OTHERS}
    | {name for name in SPACES if name.isalpha()}
)


@lru_cache(maxsize=8192)
def parse(source: str) -> Node:
    """The tree of one formula, given without its dollars.

    Raises TypesetError with the column of whatever is not in the module's table.
    """
    if len(source) > MAX_LENGTH:
        raise TypesetError(f"a formula of more than {MAX_LENGTH} characters", 0, source[:80])
    reader = _Reader(source)
    tree = reader.row("")
    if not source.strip():
        raise TypesetError("an empty formula", 0, source)
    return tree


class _Reader:
    """Recursive descent over one formula.

    `end` names what closes the present group: "", "}", "]", "right", "cell" or "stack".
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self.at = 0
        self.depth = 0

    # -- tokens ---------------------------------------------------------------------------------------------
    def peek(self, skip: bool = True) -> str:
        """The next token, white space passed over; "" at the end."""
        match = _TOKEN.match(self.source, self.at)
        if match is None:
            return ""
        token = match.group()
        if skip and token.isspace():
            self.at = match.end()
            return self.peek()
        return token

    def take(self) -> str:
        token = self.peek()
        self.at += len(token)
        return token

    def error(self, message: str, at: int | None = None) -> TypesetError:
        return TypesetError(message, self.at if at is None else at, self.source)

    # -- rows -----------------------------------------------------------------------------------------------
    def row(self, end: str) -> Node:
        """Everything up to what closes the group, which stays unread."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.error(f"groups nested more than {MAX_DEPTH} deep")
        items: list[Node] = []
        while not self._closes(self.peek(), end):
            token = self.peek()
            if token in ("\\displaystyle", "\\textstyle"):
                self.take()
                items.append(Sizing(token == "\\displaystyle", self.row(end)))
                break
            items.append(self.scripted())
        self.depth -= 1
        return items[0] if len(items) == 1 else Row(tuple(items))

    def _closes(self, token: str, end: str) -> bool:
        if token == "":
            if end:
                opened = {"}": "{", "]": "[", "right": "\\left", "cell": "\\begin", "stack": "{"}[end]
                raise self.error(f"the formula ends inside a group opened by {opened}")
            return True
        if token == "}":
            if end not in ("}", "stack"):
                raise self.error("a closing brace without its opening one")
            return True
        if token == "]" and end == "]":
            return True
        if token == "\\right":
            if end != "right":
                raise self.error(r"\right without \left")
            return True
        if token in ("&", "\\\\", "\\end"):
            if end == "cell" or (end == "stack" and token == "\\\\"):
                return True
            raise self.error(f"{token} outside an environment")
        return False

    # -- atoms with scripts ---------------------------------------------------------------------------------
    def scripted(self) -> Node:
        base: Node | None = None
        if self.peek() not in ("^", "_", "'"):
            base = self.atom()
        sub: Node | None = None
        sup: Node | None = None
        primes = 0
        limits: bool | None = None
        while True:
            token = self.peek()
            if token in ("\\limits", "\\nolimits"):
                if not isinstance(base, Function | Symbol | Styled | Brace):
                    raise self.error(f"{token} after something that takes no limits")
                limits = token == "\\limits"
                self.take()
            elif token == "_":
                if sub is not None:
                    raise self.error("a second subscript; put braces around the first")
                self.take()
                sub = self.argument("subscript")
            elif token == "^":
                if sup is not None:
                    raise self.error("a second superscript; put braces around the first")
                self.take()
                sup = self.argument("superscript")
            elif token == "'":
                if sup is not None:
                    raise self.error("a prime after a superscript; put braces around the first")
                self.take()
                primes += 1
            else:
                break
        if isinstance(base, Brace):
            base, sub, sup = self._label(base, sub, sup)
        if sub is None and sup is None and not primes:
            if base is None:
                raise self.error("a script without a base")
            return base
        return Scripts(base, sub, sup, primes, limits)

    @staticmethod
    def _label(brace: Brace, sub: Node | None, sup: Node | None) -> tuple[Brace, Node | None, Node | None]:
        if brace.over:
            return Brace(True, brace.body, sup), sub, None
        return Brace(False, brace.body, sub), None, sup

    def argument(self, what: str) -> Node:
        """What a command or script takes: a group, or a single thing."""
        token = self.peek()
        start = self.at
        if token == "":
            raise self.error(f"the formula ends where a {what} should stand")
        if token == "{":
            return self.group()
        if token in ("^", "_", "'", "}", "&", "\\\\", "\\right", "\\end"):
            raise self.error(f"{token} where a {what} should stand")
        if token[0].isdigit() or token[0] == ".":
            if what.endswith("script") and len(token) > 1:
                raise self.error(f"a {what} of several digits needs braces: {{{token}}}")
            # LaTeX takes one digit as an argument and leaves the rest of the number behind.
            self.at += 1
            return Number(token[0]) if token[0].isdigit() else PLAIN["."]
        if token[0] == "\\" and token[1:].isalpha():
            name = token[1:]
            plain = name in SYMBOLS or name in LETTERS or name in _STYLES or name in _TEXTS
            if not plain:
                self.known(name, start)
                raise self.error(f"put braces around {token} where it is a {what}")
        return self.atom()

    def group(self) -> Node:
        if self.take() != "{":
            raise self.error("an opening brace should stand here", self.at - 1)
        body = self.row("}")
        self.take()
        return body

    def atom(self) -> Node:
        self.peek()
        start = self.at
        token = self.take()
        if token == "{":
            self.at = start
            return self.group()
        first = token[0]
        if first.isdigit() or (first == "." and len(token) > 1):
            return Number(token.replace("{,}", ","))
        if first == "\\":
            return self.command(token[1:], start)
        if first.isascii() and first.isalpha():
            return Letter(first)
        if first == "~":
            return Space(1 / 3)
        if first in PLAIN:
            return PLAIN[first]
        advice = {
            "$": "a dollar sign inside a formula; write \\$",
            "%": "an unescaped %; write \\%",
            "#": "an unescaped #; write \\#",
        }
        strange = f"the character {first!r} is not LaTeX mathematics; write its command"
        raise self.error(advice.get(first, strange), start)

    # -- commands -------------------------------------------------------------------------------------------
    def known(self, name: str, at: int) -> None:
        """Fail, with the nearest name, unless \\name is a command of the table."""
        if name in _KNOWN:
            return
        near = [f"\\{match}" for match in difflib.get_close_matches(name, _KNOWN, 1)]
        better = [_INSTEAD[name]] if name in _INSTEAD else near
        hint = f"; did you mean {better[0]}?" if better else ""
        raise self.error(f"\\{name} is not a command this typesetter knows{hint}", at)

    def command(self, name: str, at: int) -> Node:
        if name in LETTERS:
            return Letter(LETTERS[name])
        if name in SYMBOLS:
            return SYMBOLS[name]
        if name in SPACES:
            return Space(SPACES[name])
        if name in ESCAPES:
            return ESCAPES[name]
        if name in FUNCTIONS:
            return Function({"limsup": "lim sup", "liminf": "lim inf"}.get(name, name), FUNCTIONS[name])
        if name in _STYLES:
            return self._styled(_STYLES[name], at)
        if name in _TEXTS:
            word: Node = Word(self.text())
            style = _TEXTS[name]
            return Styled(style, word) if style else word
        if name in _ACCENTS:
            return Accent(_ACCENTS[name], self.argument("letter"))
        if name in _FRACTIONS:
            return self._fraction(name)
        if name in _SIZED:
            level, side = _SIZED[name]
            return self._sized(level, side)
        if name in _STACKS:
            return self._stack(name)
        if name in _OTHERS:
            return self._other(name, at)
        if not name.isalpha():
            raise self.error(f"\\{name} is not a command this typesetter knows", at)
        self.known(name, at)
        raise AssertionError(name)

    def _styled(self, style: Style, at: int) -> Node:
        body = self.argument("letter")
        if style in ("bb", "cal"):
            letters = body.items if isinstance(body, Row) else (body,)
            capitals = all(isinstance(x, Letter) and x.char.isascii() and x.char.isupper() for x in letters)
            if not capitals and not (style == "bb" and body == Number("1")):
                raise self.error(f"{self.source[at : self.at]}: this alphabet has capital letters only", at)
        return Styled(style, body)

    def _fraction(self, name: str) -> Node:
        top, bottom = self.argument("numerator"), self.argument("denominator")
        if name == "binom":
            return Binomial(top, bottom)
        return Fraction(top, bottom, _FRACTIONS[name])

    def _delimiter(self, after: str) -> str:
        self.peek()
        start = self.at
        token = self.take()
        if token not in DELIMITERS:
            raise self.error(f"a delimiter should follow \\{after}", start)
        return DELIMITERS[token]

    def _sized(self, level: int, side: str) -> Node:
        char = self._delimiter("big")
        if char == "":
            raise self.error("the empty delimiter has no size", self.at - 1)
        role: Role = "open" if char in OPENING else "close" if char in CLOSING else "ord"
        return Sized(char, level, _SIDES.get(side, role))

    def _stack(self, name: str) -> Node:
        if name == "xrightarrow":
            below: Node | None = None
            if self.peek() == "[":
                self.take()
                below = self.row("]")
                self.take()
            return Stack(Symbol("→", "rel", "to"), self.argument("label"), below)
        label, base = self.argument("label"), self.argument("base")
        return Stack(base, None, label) if name == "underset" else Stack(base, label)

    def _other(self, name: str, at: int) -> Node:
        if name == "left":
            return self._fence()
        if name == "middle":
            return Middle(self._delimiter(name))
        if name == "begin":
            return self._environment()
        if name == "sqrt":
            index: Node | None = None
            if self.peek() == "[":
                self.take()
                index = self.row("]")
                self.take()
            return Root(self.argument("radicand"), index)
        if name == "operatorname":
            starred = self.peek(skip=False) == "*"
            if starred:
                self.take()
            return Function(self.text(), starred)
        if name in ("underbrace", "overbrace"):
            return Brace(name == "overbrace", self.argument("body"))
        if name == "boxed":
            return Boxed(self.argument("body"))
        if name == "bmod":
            return Symbol("mod", "bin", "modulo")
        if name == "substack":
            return self._substack()
        raise self.error(f"\\{name} is out of place", at)

    def _fence(self) -> Node:
        left = self._delimiter("left")
        body = self.row("right")
        self.take()
        return Fence(left, body, self._delimiter("right"))

    def _substack(self) -> Node:
        if self.peek() != "{":
            raise self.error(r"\substack takes a group")
        self.take()
        rows: list[tuple[Node, ...]] = []
        while True:
            rows.append((self.row("stack"),))
            if self.take() == "}":
                break
        return Grid("substack", tuple(rows))

    def _environment(self) -> Node:
        start = self.at
        name = self.text()
        if name not in _GRIDS and name not in ("cases", "aligned"):
            hint = "; write aligned" if name in ("align", "align*", "split", "gathered", "eqnarray") else ""
            raise self.error(f"the environment {name} is not one this typesetter knows{hint}", start)
        align, rules = self._columns() if name == "array" else ("", ())
        rows = self._rows(name)
        widest = max(len(row) for row in rows)
        if name == "array" and widest > len(align):
            raise self.error(f"the array has {len(align)} columns but a row of {widest} cells", start)
        if name in _GRIDS and len({len(row) for row in rows}) > 1:
            raise self.error(f"the rows of this {name} differ in length", start)
        if name == "cases":
            if widest > 2:
                raise self.error("cases has two columns", start)
            return Cases(rows)
        return Aligned(rows) if name == "aligned" else Grid(_GRIDS[name], rows, align, rules)

    def _columns(self) -> tuple[str, tuple[int, ...]]:
        start = self.at
        spec = self.text().replace(" ", "")
        align = spec.replace("|", "")
        if not align or set(align) - set("lcr"):
            raise self.error("the columns of an array are l, c and r, with | for a rule", start)
        rules: list[int] = []
        column = 0
        for char in spec:
            if char == "|":
                rules.append(column)
            else:
                column += 1
        return align, tuple(rules)

    def _rows(self, name: str) -> tuple[tuple[Node, ...], ...]:
        rows: list[tuple[Node, ...]] = []
        cells: list[Node] = []
        while True:
            cells.append(self.row("cell"))
            start = self.at
            token = self.take()
            if token == "&":
                continue
            rows.append(tuple(cells))
            cells = []
            if token == "\\end":
                break
            if self.peek() == "[":
                raise self.error("row spacing after \\\\ is not read; put braces around a bracket that starts a row")
        ended = self.text()
        if ended != name:
            raise self.error(f"\\begin{{{name}}} is ended by \\end{{{ended}}}", start)
        # A final \\ leaves an empty row, which LaTeX does not print either.
        if len(rows) > 1 and rows[-1] == (Row(()),):
            rows.pop()
        return tuple(rows)

    # -- text -----------------------------------------------------------------------------------------------
    def text(self) -> str:
        """The raw text of a group: no commands but escapes, spaces collapsed as LaTeX does."""
        if self.peek() != "{":
            raise self.error("a group in braces should stand here")
        self.at += 1
        start = self.at
        out: list[str] = []
        while True:
            token = self.peek(skip=False)
            if token == "":
                raise self.error("the formula ends inside a text", start)
            if token == "}":
                break
            if token in _ESCAPED_IN_TEXT:
                out.append(_ESCAPED_IN_TEXT[token])
            elif token.isspace():
                out.append(" ")
            elif token[0] == "\\" or token in ("{", "$", "%", "#", "&", "^", "_"):
                raise self.error(f"{token} inside a text; only plain words and escapes can stand there")
            else:
                out.append("\N{NO-BREAK SPACE}" if token == "~" else token)
            self.at += len(token)
        self.at += 1
        return "".join(out)
