"""Words that a question invites stand for numbers there alone; the last word of an option's key names it."""

from drillgen import catalog
from drillgen.instance import build, make
from grading.kinds.integer import Integer
from grading.kinds.number import Number
from grading.kinds.vector import Vector


def test_vector_of_directions():
    kind = Vector(words=(("up", 1), ("down", -1)))
    assert kind.compare(kind.parse("up, down, up"), [1, -1, 1]).right
    assert kind.compare(kind.parse("(Up, down, +1)"), [1, -1, 1]).right
    assert kind.compare(kind.parse("up, up, up"), [1, -1, 1]).right is False


def test_none_is_zero_only_where_it_is_invited():
    invited = Integer(words=(("none", 0),))
    assert invited.compare(invited.parse("none"), 0).right
    assert invited.compare(invited.parse("None."), 5).right is False
    for kind in (Integer(), Number()):
        try:
            kind.parse("none")
        except ValueError:
            continue
        raise AssertionError(kind)


def test_drills_take_their_words():
    card, drill = catalog.drill("backward.descent_signs")
    for seed in range(20):
        one = make(card, drill, seed)
        said = ", ".join({1: "up", -1: "down", 0: "0"}[x] for x in one.answer)
        assert one.grade(said).right, one.id
        assert not one.grade(said.replace("up", "down")).right or "up" not in said
    card, drill = catalog.drill("parameters.head_change")
    for seed in range(20):
        one = make(card, drill, seed)
        assert one.grade("none").right == (one.answer == 0)


def test_last_word_of_a_key():
    card, drill = catalog.drill("softmax.safe_schemes")
    for seed in range(20):
        one = make(card, drill, seed)
        short = ", ".join(key.rpartition("_")[2] for key in one.answer)
        assert one.grade(short).right, one.id
    assert not build("softmax.safe_schemes@1/3").grade("median").right
