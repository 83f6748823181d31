"""The writers: each knows every node, loses no glyph, and lets no text act as source."""

from __future__ import annotations

import io
import json
import re
import unicodedata
from collections.abc import Callable, Mapping
from typing import Any

import pytest
import typst as engine
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree
from pypdf import PdfReader

from drillgen.typeset import blocks as b
from drillgen.typeset import html, latex, mathml, nodes, speech, terminal, typst
from drillgen.typeset.markdown import read
from drillgen.typeset.parse import parse

from .samples import FORMULAS, TEXTS
from .test_parse import walk

SCOPE = (
    "#let m(alt, e) = math.equation(block: e.block, alt: alt, e.body)\n"
    "#let tall(alt, e) = m(alt, e)\n"
    "#let short(alt, e) = box(m(alt, e))\n"
    "#let boxed(alt, e) = box(stroke: 0.5pt, m(alt, e))\n"
    '#set document(title: "t")\n#set text(lang: "en")\n'
)


def compile_typst(body: str) -> bytes:
    made = engine.compile(
        (SCOPE + body).encode(), font_paths=engine.Fonts(include_system_fonts=False), pdf_standards=["ua-1"]
    )
    assert isinstance(made, bytes)
    return made


@pytest.mark.parametrize("table", [typst._WRITERS, mathml._WRITERS, speech._WRITERS, terminal._WRITERS])
def test_every_formula_writer_has_every_node(table: Mapping[type, Callable[..., str]]) -> None:
    assert set(table) == set(nodes.NODE_TYPES)


@pytest.mark.parametrize("writer", [typst, html, latex, terminal])
def test_every_text_writer_has_every_inline_and_block(writer: Any) -> None:
    assert set(writer._INLINES) == set(b.INLINE_TYPES)
    assert set(writer._BLOCKS) == set(b.BLOCK_TYPES)


def test_all_samples_compile_in_typst_as_accessible_pdf() -> None:
    body = [f"#{typst.equation(b.Math(source, parse(source), display))}\n" for source in FORMULAS for display in (0, 1)]
    body += [f"#{typst.blocks(read(text))}\n" for text in TEXTS]
    assert compile_typst("\n".join(body)).startswith(b"%PDF")


def spoken_in_print(body: str) -> list[str]:
    """The spoken forms of the formulas that Typst really lays out, in their order."""
    source = (SCOPE + body).encode()
    found = engine.query(source, "math.equation", font_paths=engine.Fonts(include_system_fonts=False))
    return [equation["alt"] for equation in json.loads(found)]


def formulas_of(item: Any) -> list[b.Math]:
    """The formulas of blocks or inlines, in their order."""
    if isinstance(item, b.Math):
        return [item]
    if isinstance(item, tuple):
        return [found for one in item for found in formulas_of(one)]
    names = [name for name in getattr(type(item), "__slots__", ()) if name != "align"]
    return [found for name in names for found in formulas_of(getattr(item, name))]


@pytest.mark.parametrize(
    "text", [*TEXTS, "$$a$$", "$$a$$ and $b$ $$c$$\n\n$d$", "- $$a$$\n- x $$b$$ y", "| $$a$$ | $b$ |\n|---|---|"]
)
def test_typst_prints_every_formula_of_a_text(text: str) -> None:
    blocks = read(text)
    wanted = [speech.speak(math.tree) for math in formulas_of(blocks)]
    assert spoken_in_print(f"#{typst.blocks(blocks)}") == wanted
    assert spoken_in_print(f"#{typst.phrase(blocks)}") == wanted


@pytest.mark.parametrize("source", FORMULAS)
@pytest.mark.parametrize("display", [False, True])
def test_typst_prints_every_letter_and_digit(source: str, display: bool) -> None:
    tree = parse(source)
    page = PdfReader(io.BytesIO(compile_typst(f"#{typst.equation(b.Math(source, tree, display))}"))).pages[0]
    printed = re.sub(r"\s", "", unicodedata.normalize("NFKD", page.extract_text()))
    for node in walk(tree):
        if isinstance(node, nodes.Letter | nodes.Symbol | nodes.Sized | nodes.Middle):
            assert unicodedata.normalize("NFKD", node.char) in printed
        if isinstance(node, nodes.Number | nodes.Word):
            assert re.sub(r"\s", "", node.text) in printed
        if isinstance(node, nodes.Function):
            assert node.name.replace(" ", "") in printed


@pytest.mark.parametrize("source", FORMULAS)
def test_mathml_is_well_formed_and_keeps_every_letter_and_digit(source: str) -> None:
    tree = parse(source)
    made = etree.fromstring(mathml.math(tree, True).replace("&#x2061;", ""))
    # Compatibility folding turns the mathematical alphabets back into plain letters.
    drawn = re.sub(r"\s", "", unicodedata.normalize("NFKC", "".join(made.itertext())))
    for node in walk(tree):
        if isinstance(node, nodes.Letter):
            assert unicodedata.normalize("NFKC", node.char) in drawn
        if isinstance(node, nodes.Number | nodes.Word):
            assert re.sub(r"\s", "", node.text) in drawn
        if isinstance(node, nodes.Function):
            assert node.name.replace(" ", "") in drawn
        if isinstance(node, nodes.Symbol | nodes.Sized):
            assert unicodedata.normalize("NFKC", node.char) in drawn


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (r"p_{ij} = \frac{e^{s_{ij}}}{\sum_r e^{s_{ir}}}",
         "p sub i j equals the fraction e to the s sub i j over the sum over r of e to the s sub i r, end fraction"),
        (r"\sigma_s^2", "sigma sub s squared"),
        (r"\frac{\mathbf q^\top\mathbf k}{\sqrt{d_k}}",
         "the fraction bold q transpose bold k over the square root of d sub k, end fraction"),
        (r"\sum_{j=1}^{T} p_j", "the sum from j equals 1 to T of p sub j"),
        (r"\max_j s_j", "the maximum over j of s sub j"),
        (r"\arg\max_j s_j", "arg the maximum over j of s sub j"),
        (r"\tfrac12", "one half"),
        (r"(2,\,-1)", "open paren 2, negative 1 close paren"),
        (r"a - b", "a minus b"),
        (r"\lVert\mathbf q\rVert^2", "the norm of bold q end norm squared"),
        (r"\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}", "the 2 by 2 matrix, row 1: 1, 2; row 2: 3, 4; end matrix"),
        (r"\lim_{\tau \to 0} x", "the limit as tau goes to 0 of x"),
        (r"e^{s - m}", "e to the s minus m, end power"),
        (r"\mathbb E[X]", "the expectation open bracket X close bracket"),
        (r"A^{-1}", "A to the minus 1"),
        (r"x \ge 1{,}024", "x is at least 1,024"),
    ],
)  # fmt: skip
def test_spoken(source: str, said: str) -> None:
    assert speech.speak(parse(source)) == said


@pytest.mark.parametrize("source", FORMULAS)
def test_speech_is_words_without_markup(source: str) -> None:
    said = speech.speak(parse(source))
    assert said and not set(said) & set("\\{}^_$")
    assert "  " not in said and ",," not in said


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        (r"\mathbf q^\top\mathbf k/\sqrt{d_k}", "qᵀk/√d_k"),
        (r"\sum_j p_{ij}\,\mathbf v_j", "Σ_j p_ij v_j"),
        (r"\frac{QK^\top}{\sqrt{d_k}} + M", "QKᵀ/√d_k + M"),
        (r"\frac{a + b}{2T}", "(a + b)/(2T)"),
        (r"\sqrt{1 - \rho^2}", "√(1 − ρ²)"),
        (r"e^{s_j - m}", "e^(s_j−m)"),
        (r"\begin{pmatrix} 1 & -2 \\ 3 & 4 \end{pmatrix}", "[[1, −2], [3, 4]]"),
        (r"2\,L\,H_{\text{kv}}\,d_h", "2 L H_kv d_h"),
        (r"H_{\text{kv}}d_h", "H_kv d_h"),
        (r"2\ln T", "2 ln T"),
        (r"\sum_{r=1}^{T} x_r", "Σ_(r=1)^T x_r"),
        (r"10^{-3}", "10⁻³"),
        (r"\hat q", "q̂"),
        (r"x \in \mathbb R^{T \times d}", "x ∈ ℝ^(T×d)"),
        (r"4{,}096", "4,096"),
    ],
)
def test_terminal(source: str, shown: str) -> None:
    assert terminal.formula(parse(source)) == shown


def test_terminal_text_is_wrapped_but_words_are_whole() -> None:
    text = (
        "A long line with $d_k = 128$ and a formula $\\frac{a}{b}$ that goes on and on.\n\n- an item that wraps as well"
    )
    made = terminal.write(text, 30)
    assert max(map(len, made.split("\n"))) <= 30
    assert (
        re.sub(r"\s+", " ", made)
        == "A long line with d_k = 128 and a formula a/b that goes on and on. - an item that wraps as well"
    )


def test_terminal_tables_line_up() -> None:
    assert terminal.write("| a | $x_i$ |\n|---|--:|\n| 100 | 2 |") == "a    x_i\n---  ---\n100    2"


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=60))
def test_a_typst_string_is_that_text_and_nothing_else(text: str) -> None:
    source = f"#metadata({typst.string(text)})<x>".encode()
    (found,) = json.loads(engine.query(source, "<x>", font_paths=engine.Fonts(include_system_fonts=False)))
    assert found["value"] == text


HOSTILE = ['"; panic("x"); "', "#panic()", "\\end{document}", "$x$", "<script>alert(1)</script>", "`x`", "@ref", "// c",
           "https://a.b", "\\input{/etc/passwd}", "^^5cinput", "{{ 7*7 }}", "%", "&lt;"]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_are_only_text(text: str) -> None:
    inline = b.Text(text)
    assert compile_typst(f"#{typst.inlines([inline])}")
    made = etree.fromstring(f"<p>{html.Html().inlines([inline])}</p>")
    assert len(made) == 0
    assert (made.text or "").replace("“", '"').replace("”", '"') == text
    tex = latex.inlines([inline])
    assert not re.search(r"(?<!\\)[%#&$_^]", re.sub(r"\\[a-z]+\{\}", "", tex))
    assert not re.search(r"\\(?!text|[#%&_{}$])", tex)


def test_formulas_pass_through_to_latex_and_mathjax_as_typed() -> None:
    (paragraph,) = read(r"Let $a < b$ & $$\frac{1}{2}$$")
    assert isinstance(paragraph, b.Paragraph)
    assert latex.inlines(paragraph.body) == "Let $a < b$ \\& \\[ \\frac{1}{2} \\]"
    assert html.Html(html.as_mathjax).inlines(paragraph.body) == r"Let \(a &lt; b\) &amp; \[\frac{1}{2}\]"


def test_mathml_of_some_formulas_in_full() -> None:
    row = mathml._Writer().write
    assert row(parse("x_i^2")) == "<msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup>"
    assert row(parse(r"\mathbf q")) == "<mi>𝐪</mi>"
    assert row(parse(r"\Sigma")) == '<mi mathvariant="normal">Σ</mi>'
    assert row(parse(r"\mathrm{KV}")) == "<mi>KV</mi>"
    assert row(parse(r"\ln T")) == '<mi>ln</mi><mspace width="0.1667em"></mspace><mi>T</mi>'
    assert row(parse("-x")) == '<mo form="prefix" lspace="0" rspace="0">−</mo><mi>x</mi>'


@pytest.mark.parametrize(
    ("text", "setter"),
    [
        (r"$N = 7{,}241{,}732{,}096$", "short"),
        (r"$\ln T - \sigma^2/2$", "short"),
        (r"$d_k$", "m"),
        (r"$2Td\,(2d + 2H_{\text{kv}}d_h) + 4T^2d + 6Td\,d_{\text{ff}}$", "m"),
        (r"$T = \dfrac{3}{5}$", "tall"),
        (r"$$T = \dfrac{3}{5}$$", "m"),
    ],
)
def test_short_formulas_stay_whole_and_tall_ones_get_room(text: str, setter: str) -> None:
    assert f" {setter}(" in typst.blocks(read(text))


def test_a_number_keeps_its_unit() -> None:
    made = typst.blocks(read("It reads $4{,}800$ GB/s, 12 KiB and 3 keys of B."))
    assert "\u00a0GB/s" in made
    assert "12\u00a0KiB" in made
    assert "3 keys" in made
