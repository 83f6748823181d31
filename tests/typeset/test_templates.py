"""Every formula and text of every shipped template goes through every writer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import typst as engine
from lxml import etree

from drillgen import catalog
from drillgen.instance import make
from drillgen.typeset import TypesetError, html, latex, speech, terminal, typst
from drillgen.typeset.markdown import read

from .test_writers import compile_typst, formulas_of, spoken_in_print

SEEDS = (1, 2)


def texts(problem: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Where a Markdown text stands in a problem, and the text."""
    for name in ("prompt", "solution"):
        yield name, problem[name]
    for number, hint in enumerate(problem["hints"], 1):
        yield f"hint_{number}", hint
    for option in problem.get("options", ()):
        yield f"option {option['key']}", option["text"]
    for part in problem.get("parts", ()):
        yield f"part {part['name']}", part["prompt"]
    for slip in problem["slips"]:
        yield f"remark of {slip['id']}", slip["remark"]


@pytest.mark.parametrize("slug", catalog.slugs().values())
def test_every_text_of_a_card_in_every_writer(slug: str) -> None:
    card = catalog.by_slug(slug)
    found = {f"$${formula}$$": f"{slug}: card formula" for formula in card.formulas}
    found[card.statement] = f"{slug}: statement"
    for drill in card.drills:
        for seed in SEEDS:
            for where, text in texts(make(card, drill, seed).problem(True)):
                found.setdefault(text, f"{slug}/{drill.name}.md.j2, seed {seed}: {where}")
    sources, wanted = [], []
    for text, where in found.items():
        try:
            blocks = read(text)
        except TypesetError as error:
            pytest.fail(f"{where}: {error}")
        assert terminal.write(text, 88).strip(), where
        assert latex.blocks(blocks).strip(), where
        for formula in (html.as_mathml, html.as_mathjax):
            etree.fromstring(f"<div>{html.Html(formula).blocks(blocks)}</div>")
        sources.append((where, f"#{typst.blocks(blocks)}"))
        wanted += [speech.speak(math.tree) for math in formulas_of(blocks)]
    try:
        compile_typst("\n\n".join(source for _, source in sources))
    except engine.TypstError:
        for where, source in sources:
            try:
                compile_typst(source)
            except engine.TypstError as error:
                pytest.fail(f"{where}: {error.message}")
        raise
    assert spoken_in_print("\n\n".join(source for _, source in sources)) == wanted
