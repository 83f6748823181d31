"""Names: declared ones, functions, arrays with their indices, sums; and runs of letters that fall into several."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from grading.errors import Unreadable
from grading.reading import applied, subscripts
from grading.reading.literals import Literals, literal
from grading.reading.machine import SUM
from grading.reading.names import MODULES, split, unknown, whole_arrays
from grading.reading.tokens import GREEK_NAMES
from grading.reading.tree import Add, Call, Entry, Indexed, Mul, Neg, Node, Number, Sub, Sum, Symbol, Transpose

WHOLE = (Call, Entry, Transpose, Add, Sub, Mul, Neg)
"""What an index may follow: a function's value, or a bracket around an expression of whole arrays."""


class Words(Literals):
    """The part of the grammar that begins with a letter."""

    __slots__ = ()

    def name(self) -> Node:
        """A declared name, a function with its arguments, a sum, a constant; or a run that falls into several."""
        kind, word, start, end, _ = self.tokens[self.at]
        declared = self.declared
        if word in MODULES and self.tokens[self.at + 1][1] == "." and not declared.knows(word):
            while self.tokens[self.at][1] in MODULES and self.tokens[self.at + 1][1] == ".":
                self.at += 2
            kind, word, start, end, _ = self.tokens[self.at]
            if kind != "name" or (declared.function(word) is None and not (word == "sum" and declared.matrices)):
                raise self.unexpected()
        run, after, last = self.run(self.at)
        if run != word and declared.function(run) is not None and not declared.knows(run):
            self.tokens[self.at : after] = [("name", run, start, last, False)]  # row_sum
            return applied.function(self)
        if run != word and declared.knows(run) and run not in declared.arrays:
            self.at = after
            return self.made(Symbol(run, start=start, end=last))
        if word in declared.functions or (declared.function(word) is not None and not declared.knows(word)):
            return applied.function(self)
        if word == "sum" and not declared.knows("sum"):
            if declared.matrices and self.tokens[self.at + 1][:2] == ("op", "("):
                return applied.sum_function(self)
            self.at += 1
            return self.sum(start, product=False)
        following = self.tokens[self.at + 1]
        if word == "prod" and not declared.knows("prod") and (following[0] == "sub" or following[1] == "_"):
            self.at += 1
            return self.sum(start, product=True)
        if word in declared.arrays or (word in ("delta", "I") and declared.indexed and not declared.knows(word)):
            found = self.array(word)
            if found is not None:
                return found
        if word in declared.arrays and run == word:
            self.at += 1
            return self.made(Symbol(word, start=start, end=end))
        special = applied.special(self, word)
        if special is not None:
            return special
        pieces = split(run, declared)
        if pieces is None and self.tokens[after][:2] == ("op", "_") and after == self.at + 1:
            pieces, after, last = self.braced_run(run, after)
        if pieces is None:
            if run == word and word in ("pi", "e"):
                self.at += 1
                return self.made(Symbol(word, start=start, end=end))
            glued = self.glued_function(word, start, end)
            if glued is not None:
                return glued
            pieces = whole_arrays(run, declared)
        if pieces is None:
            raise unknown(run, declared, start)
        return self.spread(pieces, after, start, last)

    def glued_function(self, word: str, start: int, end: int) -> Node | None:
        """lnT, sqrtd_k: a function name that touches the declared name it is applied to."""
        declared = self.declared
        for name in ("ln", "log", "exp", "sqrt", "sin", "cos", "tan"):
            rest = word[len(name) :]
            if rest and word.startswith(name) and not rest[0].isdigit():
                at = start + len(name)
                self.tokens[self.at : self.at + 1] = [
                    ("name", name, start, at, False),
                    ("name", rest, at, end, True),
                ]
                if split(self.run(self.at + 1)[0], declared) is not None:
                    return applied.function(self)
                self.tokens[self.at : self.at + 2] = [("name", word, start, end, False)]
        return None

    def run(self, at: int) -> tuple[str, int, int]:
        """A name with the subscripts that touch it: "d" "_k" -> "d_k"; a power before the subscript is passed over."""
        tokens = self.tokens
        _, text, _, end, _ = tokens[at]
        at += 1
        while tokens[at][0] == "sub":
            text += "_" + tokens[at][1]
            end = tokens[at][3]
            at += 1
        if tokens[at][:2] == ("op", "_") and tokens[at + 1][0] == "name" and tokens[at + 1][1] in GREEK_NAMES:
            text += f"_{tokens[at + 1][1]}"  # h_ with a greek command
            end = tokens[at + 1][3]
            at += 2
        if tokens[at][:2] == ("op", "^"):
            text, at, end = self.turned(text, at, end)
        elif tokens[at][:2] == ("op", "_") and not self.declared.arrays:
            braced = self.subscript_text(at)
            if braced is not None and self.declared.knows(f"{text}_{braced[0]}"):
                return f"{text}_{braced[0]}", braced[1], tokens[braced[1] - 1][3]
        return text, at, end

    def turned(self, text: str, at: int, end: int) -> tuple[str, int, int]:
        """x^2_k is x_k^2: the power is moved behind the subscript."""
        tokens = self.tokens
        stop = at + 1
        if tokens[stop][:2] == ("op", "{"):
            depth = 0
            while tokens[stop][0] != "end":
                depth += (tokens[stop][:2] == ("op", "{")) - (tokens[stop][:2] == ("op", "}"))
                stop += 1
                if depth == 0:
                    break
        elif tokens[stop][0] in ("num", "name"):
            stop += 1
        else:
            return text, at, end
        if tokens[stop][0] == "sub":
            sub, after = tokens[stop][1], stop + 1
        elif tokens[stop][:2] == ("op", "_"):
            braced = self.subscript_text(stop)
            if braced is None:
                return text, at, end
            sub, after = braced
        else:
            return text, at, end
        if not self.declared.knows(f"{text}_{sub}"):
            return text, at, end
        power = tokens[at:stop]
        width = after - at
        tokens[at:after] = [("gone", "", end, end, False)] * (width - len(power)) + power
        return f"{text}_{sub}", at + width - len(power), tokens[at][3]

    def subscript_text(self, at: int) -> tuple[str, int] | None:
        """The text of _{ … } or of _\text{ … } if it is plain letters and digits, and the place after it."""
        tokens = self.tokens
        if tokens[at + 1][0] in ("name", "num"):
            return tokens[at + 1][1], at + 2  # H_\text{kv}
        if tokens[at + 1][:2] != ("op", "{"):
            return None
        at += 2
        text = ""
        while tokens[at][0] in ("num", "name", "sub"):
            text += ("_" if tokens[at][0] == "sub" else "") + tokens[at][1]
            at += 1
        if tokens[at][:2] != ("op", "}") or not text:
            return None
        return text, at + 1

    def braced_run(self, run: str, at: int) -> tuple[list[tuple[str, str]] | None, int, int]:
        """A run that ends in a braced subscript: Td_{ff} is T d_ff."""
        braced = self.subscript_text(at)
        if braced is None:
            return None, at, at
        sub, after = braced
        return split(f"{run}_{sub}", self.declared), after, self.tokens[after - 1][3]

    def spread(self, pieces: list[tuple[str, str]], after: int, start: int, end: int) -> Node:
        """Put the pieces of a run in its place as atoms and read the first."""
        nodes: list[Node] = []
        place = start
        for what, text in pieces:
            if what == "array":
                name, _, letters = text.partition("|")
                indices = tuple(self.index_letter(letter, place) for letter in letters.split(","))
                width = len(name) + 1 + len(indices)
                nodes.append(Indexed(name, indices, start=place, end=min(end, place + width)))
            elif what == "number":
                width = len(text)
                nodes.append(Number(literal(text), text, start=place, end=place + width))
            else:
                width = len(text)
                nodes.append(Symbol(text, start=place, end=end if len(pieces) == 1 else min(end, place + width)))
            place += width
        if len(nodes) == 1:
            self.at = after
            return self.made(nodes[0])
        atoms = [("atom", node, node.start, node.end, False) for node in nodes[1:]]
        self.tokens[self.at : after] = [("atom", nodes[0], start, nodes[0].end, False), *atoms]
        self.at += 1
        return self.made(nodes[0])

    def index_letter(self, letter: str, start: int) -> Node:
        """One index typed as a letter or a digit."""
        if letter.isdigit():
            return Number(Fraction(int(letter)), letter, start=start, end=start + 1)
        return Symbol(letter, start=start, end=start + 1)

    def array(self, word: str) -> Node | None:
        """p_{ij}, p_{i,j}, p[i,j]: an array with bracketed indices; None where it is followed by something else."""
        tokens = self.tokens
        start = tokens[self.at][2]
        after = tokens[self.at + 1]
        if (
            after[0] == "op"
            and not after[4]
            and (
                after[1] == "["
                or (after[1] == "(" and word == "delta")
                or (after[1] == "_" and tokens[self.at + 2][1] in ("{", "("))
            )
        ):
            self.at += 1
            indices, end = subscripts.indices(self, self.declared.arrays.get(word, 2))
            word = "delta" if word == "I" and not self.declared.knows("I") else word  # the identity matrix
            return self.made(Indexed(word, indices, start=start, end=end))
        if after[0] == "sub":
            return None
        if after[0] == "op" and after[1] == "_":
            raise Unreadable("an index is expected after the underscore", after[3])
        return None

    def entry(self, base: Node) -> Node:
        """softmax(s)_j, diag(p)_{ij}: one entry of what a function gives."""
        if not self.declared.indexed or not isinstance(base, WHOLE):
            raise self.unexpected()
        indices, end = subscripts.indices(self, None)
        return self.made(Entry(base, indices, start=base.start, end=end))

    def sum(self, start: int, product: bool) -> Node:
        """sum_r …, \\sum_{r=1}^{T} …, \\sum_{j \\ne i} …; the body runs to the next + or − of its level."""
        heads = subscripts.sum_heads(self, start)
        if not self.declared.indexed and any(low is None or high is None for _, low, high, _ in heads):
            raise Unreadable("this sum needs its bounds: \\sum_{i=1}^{4}", start)
        self.enter()
        outside, fresh = self.declared, {head[0] for head in heads if not self.declared.knows(head[0])}
        if fresh:
            # inside the sum its index is a name of its own
            self.declared = replace(outside, symbols=outside.symbols | fresh)
        body = self.expression(SUM)
        self.declared = outside
        self.depth -= 1
        for index, lower, upper, skip in reversed(heads):
            body = self.made(Sum(index, body, lower, upper, skip, product, start=start, end=body.end))
        return body
