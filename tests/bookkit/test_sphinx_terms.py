"""Which words of a chapter's prose are terms of the glossary, and which aren't."""

import pytest
from docutils import nodes

from bookkit.sphinx_terms import FORMS, find, finder, section_of

NAMES = dict.fromkeys(
    [
        *(*FORMS, "softmax", "causal mask", "attention", "self-attention", "RoPE"),
        *("BPE", "gradient", "gradient clipping", "token", "grouped-query attention"),
    ]
)


def linked(text, chapter):
    return [(text[a:b], name) for a, b, name in find(text, *finder(NAMES, chapter))]


@pytest.mark.parametrize(
    ("text", "chapter", "found"),
    [
        ("Each query meets all keys", 2, [("query", "query"), ("keys", "key")]),
        ("Under a causal mask", 7, [("causal mask", "causal mask")]),
        ("Self-attention, attentions", 2, [("attentions", "attention")]),
        ("in self-attention", 2, [("self-attention", "self-attention")]),
        ("Softmax of two tokens", 5, [("Softmax", "softmax"), ("tokens", "token")]),
        ("RoPE turns", 4, [("RoPE", "RoPE")]),
        ("keys and values", 3, [("keys", "key"), ("values", "value")]),
        ("gradient clipping", 10, [("gradient clipping", "gradient clipping")]),
        ("Tensor parallelism", 13, [("Tensor parallelism", "tensor parallel")]),
        ("each rank waits", 13, [("rank", "rank")]),
        (
            "grouped-query\nattention",
            3,
            [("grouped-query\nattention", "grouped-query attention")],
        ),
    ],
)
def test_terms_are_found(text, chapter, found):
    if text.startswith("Self-"):  # a capital begins a sentence
        found = [("Self-attention", "self-attention"), *found]
    assert linked(text, chapter) == found


@pytest.mark.parametrize(
    ("text", "chapter"),
    [
        ("The keys to the old cabinet by the door", 1),
        ("the key idea, the key question", 2),
        ("A key is a pattern that it looks for", 6),
        ("in your head", 9),
        ("twelve masks filled all at once", 8),
        ("the token [MASK]", 8),
        ("the values of a table", 3),
        ("a building block", 9),
        ("batch norm", 5),
        ("rope and bpe", 4),
        ("tokenise, untoken, token_id, multi-token", 5),
        ("(B, h, T, d_k)", 3),
    ],
)
def test_false_friends_are_left_alone(text, chapter):
    found = [name for _, name in linked(text, chapter) if name != "token"]
    assert found == []


def in_a_section(*nodes_around):
    text = nodes.Text("token")
    inner = nodes.paragraph("", "", text)
    for outer in nodes_around:
        inner = outer("", inner)
    section = nodes.section("", inner)
    return text, section


def test_prose_belongs_to_the_section_it_stands_in():
    text, section = in_a_section()
    assert section_of(text) is section
    text, section = in_a_section(nodes.list_item, nodes.bullet_list)
    assert section_of(text) is section


@pytest.mark.parametrize("around", [nodes.table, nodes.container, nodes.caption])
def test_tables_cells_and_captions_are_no_prose(around):
    text, _ = in_a_section(around)
    assert section_of(text) is None


def test_code_and_headings_are_no_prose():
    for kind in (nodes.literal, nodes.title, nodes.reference):
        text = nodes.Text("token")
        nodes.section("", kind("", "", text))
        assert section_of(text) is None
