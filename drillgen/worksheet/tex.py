"""LaTeX for pdflatex: one document that needs amsmath, amssymb, geometry and nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from drillgen.typeset import latex
from drillgen.typeset.markdown import read
from drillgen.worksheet.options import Options
from drillgen.worksheet.question import Part, Question, named_slips

if TYPE_CHECKING:
    from drillgen.worksheet.sheets import Sheet

_PREAMBLE = r"""\documentclass[11pt,%s]{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage{textcomp}
\usepackage{amsmath,amssymb}
\usepackage[margin=20mm]{geometry}
\setlength{\parindent}{0pt}
\setlength{\parskip}{0.5em}
\emergencystretch=3em
\providecommand{\lt}{<}
\providecommand{\gt}{>}
%% \mathbb has no digits in these fonts: the indicator is set bold.
\let\plainmathbb\mathbb
\renewcommand{\mathbb}[1]{\ifx1#1\mathbf{1}\else\plainmathbb{#1}\fi}
\begin{document}
"""
_LINE = r"\hrulefill"


def render(sheets: Sequence[Sheet], options: Options, key: bool) -> str:
    """All sheets, or all their keys, as one document."""
    paper = {"a4": "a4paper", "letter": "letterpaper"}[options.paper]
    pages = ["\n".join(_sheet(sheet, options, key)) for sheet in sheets]
    return _PREAMBLE % paper + "\n\\clearpage\n".join(pages) + "\n\\end{document}\n"


@lru_cache(maxsize=4096)
def _typeset(markdown: str) -> str:
    return latex.blocks(read(markdown))


def _sheet(sheet: Sheet, options: Options, key: bool) -> Iterator[str]:
    title = f"Key: {options.title}" if key else options.title
    student = latex.escape(sheet.student.label) if sheet.student else ""
    yield "\\setcounter{page}{1}"
    yield rf"{{\Large\bfseries {latex.escape(title)}\par}}"
    if key:
        yield rf"\textbf{{{student}}}\par" if student else ""
    else:
        name = rf"\textbf{{{student}}}\hfill" if student else _LINE
        yield (
            rf"\vspace{{1em}}Name {name}\quad Date \makebox[30mm]{{{_LINE}}}"
            rf"\quad Score \makebox[12mm]{{{_LINE}}} / {sheet.points}\par"
        )
        for line in options.instructions.splitlines():
            if line.strip():
                yield rf"\emph{{{latex.escape(line)}}}\par"
    yield r"\medskip\hrule\medskip"
    for question in sheet.questions:
        yield from _solved(question, options) if key else _asked(question)
    if not key:
        ids = r"\hskip 1em plus 1em ".join(latex.typed(question.id) for question in sheet.questions)
        yield rf"\vfill\hrule\smallskip{{\scriptsize Key of this sheet: {latex.typed(options.command + ' ID ...')}"
        yield rf"\par\raggedright {ids}\par}}"


def _whole(body: str, indent: str = "0pt") -> str:
    """A block that no page break splits."""
    width = rf"\dimexpr\linewidth-{indent}\relax"
    opening = f"\\par\\hspace*{{{indent}}}\\begin{{minipage}}[t]{{{width}}}\\parskip=0.5em"
    return f"{opening}\n{body}\n\\end{{minipage}}\\par\\bigskip"


def _small(left: str, right: str) -> str:
    return rf"{{\scriptsize {left}\hfill {right}\par}}"


def _asked(question: Question) -> Iterator[str]:
    id = latex.typed(f"{question.id}") + rf" \textperiodcentered{{}} {question.minutes} min"
    if not question.parts[0].name:
        yield _whole(rf"\textbf{{{question.number}.}} {_part(question.parts[0], id)}")
        return
    yield _whole(rf"\textbf{{{question.number}.}} {_typeset(question.lead)}" + "\n\n" + _small("", id))
    for part in question.parts:
        yield _whole(rf"\textbf{{({latex.escape(part.name)})}} {_part(part, '')}", "7mm")


def _part(part: Part, id: str) -> str:
    out = [_typeset(part.prompt), ""]
    out += [rf"\textbf{{{c.letter}.}} {_option(c.text, c.plain, part)}\par" for c in part.choices]
    if part.space:
        out.append(rf"\vspace{{{part.space:g}mm}}")
    if not part.choices:
        out.append(rf"\par\textbf{{Answer}} {_LINE}\par")
    out.append(_small(latex.escape(part.format), id))
    return "\n".join(out)


def _option(text: str, plain: bool, part: Part) -> str:
    if not plain:
        return _typeset(text)
    return latex.typed(text) if part.code else latex.escape(text)


def _solved(question: Question, options: Options) -> Iterator[str]:
    id = rf"{{\scriptsize {latex.typed(question.id)}}}"
    for number, part in enumerate(question.parts):
        name = f"({latex.escape(part.name)}) " if part.name else ""
        right = [c for c in part.choices if c.right]
        shown = latex.typed(part.answer) if part.code and not right else rf"\textbf{{{latex.escape(part.answer)}}}"
        note = (
            r" \textperiodcentered{} ".join(_option(c.text, c.plain, part) for c in right)
            or rf"\emph{{{latex.escape(part.precision)}}}"
        )
        start = rf"\textbf{{{question.number}.}} " if number == 0 else ""
        yield rf"\par {start}{name}{shown} \quad {note}" + (rf" \hfill {id}\par" if number == 0 else r"\par")
    if options.solutions:
        yield _typeset(str(question.problem["solution"])) + r"\par"
        slips = named_slips(question)
        if slips:
            items = "\n".join(
                rf"\item {{}}{latex.escape(s.mark)}{latex.typed(s.show)}: {_typeset(s.remark)}" for s in slips
            )
            yield rf"{{\small\emph{{Known slips}}\begin{{itemize}}{items}\end{{itemize}}}}"
    yield r"\medskip"
