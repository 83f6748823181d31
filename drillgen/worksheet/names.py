"""Names and titles in any script: whether the fonts at hand cover them, and what is printed where they do not.

Typst itself is asked: under PDF/UA-1 it refuses a text that no font covers.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from drillgen.worksheet.options import Options

if TYPE_CHECKING:
    from drillgen.worksheet.sheets import Sheet


@dataclass(frozen=True)
class Fonts:
    """folder: of --fonts. system: whether the machine's own fonts take part. Without both: the embedded ones."""

    folder: str | None = None
    system: bool = False


@cache
def load(fonts: Fonts) -> Any:
    """Typst's font set."""
    import typst

    return typst.Fonts(include_system_fonts=fonts.system, font_paths=[fonts.folder] if fonts.folder is not None else [])


EMBEDDED = Fonts()


@dataclass(frozen=True)
class Fitted:
    """What can be printed, with which fonts, whether all of it is there, and what to warn of."""

    sheets: tuple[Sheet, ...]
    options: Options
    fonts: Fonts
    whole: bool
    warnings: tuple[str, ...]


def fit(sheets: Sequence[Sheet], options: Options) -> Fitted:
    """Labels, title and instructions as the fonts can set them."""
    texts = [options.title, options.instructions, *(s.student.label for s in sheets if s.student)]
    rare = _rare(texts)
    fonts, missing = _choose(rare, options)
    if not missing:
        return Fitted(tuple(sheets), options, fonts, True, ())
    warnings: list[str] = []
    shown = options
    if missing & set(options.title + options.instructions):
        shown = replace(options, title=_kept(options.title, missing) or "Worksheet",
                        instructions=_kept(options.instructions, missing))  # fmt: skip
        warnings.append("the title or the instructions hold characters that no font at hand covers; left out")
    fitted: list[Sheet] = []
    for sheet in sheets:
        student = sheet.student
        if student is None or not missing & set(student.label):
            fitted.append(sheet)
            continue
        mark = student.id if student.id and not missing & set(student.id) else f"row {student.row}"
        label = " ".join(part for part in (_kept(student.name, missing), f"({mark})") if part)
        warnings.append(
            f"row {student.row}: no font at hand covers the whole name; printed as {label!r} "
            "(--fonts DIR names a folder of fonts)"
        )
        fitted.append(replace(sheet, student=replace(student, label=label)))
    return Fitted(tuple(fitted), shown, fonts, False, tuple(warnings))


def _rare(texts: Iterable[str]) -> frozenset[str]:
    """The characters that the embedded text font may lack; it has the Latin, Greek and Cyrillic of Europe."""
    return frozenset(c for text in texts for c in text if not _common(c))


def _common(char: str) -> bool:
    return " " <= char <= "~" or "À" <= char <= "ſ" or "А" <= char <= "я" or char in "\n\N{NO-BREAK SPACE}’‘“”–—…"


def _kept(text: str, missing: frozenset[str]) -> str:
    kept = "".join(c for c in text if c not in missing and unicodedata.category(c) not in ("Mn", "Cf", "Sk"))
    return " ".join(kept.split()) if "\n" not in text else kept


def _choose(rare: frozenset[str], options: Options) -> tuple[Fonts, frozenset[str]]:
    """The first font set that covers most, and what it leaves uncovered."""
    best, missing = EMBEDDED, uncovered(rare, EMBEDDED)
    folder = str(options.fonts) if options.fonts is not None else None
    for fonts in ([Fonts(folder)] if folder else []) + [Fonts(folder, True)]:
        if not missing:
            break
        left = uncovered(missing, fonts)
        if len(left) < len(missing):
            best, missing = fonts, left
    return best, missing


@cache
def uncovered(chars: frozenset[str], fonts: Fonts) -> frozenset[str]:
    """Those of the characters that no font of the set can show."""
    if not chars or _covers("".join(sorted(chars)), fonts):
        return frozenset()
    return frozenset(c for c in chars if not _covers(c, fonts))


def _covers(text: str, fonts: Fonts) -> bool:
    import typst

    from drillgen.typeset.typst import string

    # A letter in front carries combining marks, and joiners stand between letters.
    source = f'#set document(title: "x")\n#set text(font: "Libertinus Serif", lang: "en")\n#{string("o" + text + "o")}'
    try:
        typst.compile(source.encode(), font_paths=load(fonts), pdf_standards=["ua-1"])
    except typst.TypstError:
        return False
    return True
