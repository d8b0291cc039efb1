"""Texts to learn from, and their tokens."""

import hashlib

import pytest

from minigpt import corpus, parts, tokens
from minigpt.corpus import CorpusError

USED = parts.references()
TEXT = "héllo wörld, héllo\n\n  thére"


@pytest.mark.parametrize("kind", tokens.TOKENISERS)
def test_text_comes_back_whole_also_from_a_checkpoint(kind):
    tokeniser = tokens.learned(kind, 10, TEXT * 3, USED)
    again = tokens.rebuilt(tokeniser.kept(), USED)
    ids = again.encode(TEXT)
    assert ids == tokeniser.encode(TEXT)
    assert again.decode(ids) == TEXT
    assert max(ids) < again.vocab_size == tokeniser.vocab_size


def test_merges_make_a_text_shorter():
    text = corpus.standard_library(20_000)
    bpe = tokens.learned("bpe", 100, text, USED)
    assert len(bpe.encode(text)) < 0.8 * len(text.encode())


def test_a_character_that_was_never_seen_is_named():
    with pytest.raises(ValueError, match="the model has never seen 'z'"):
        tokens.learned("chars", 0, "abc", USED).encode("baz")


def test_the_standard_library_is_text_and_always_the_same():
    text = corpus.standard_library(50_000)
    assert len(text) == 50_000
    assert "import" in text
    assert text == corpus.standard_library(50_000)


def test_a_download_is_kept_only_if_it_is_the_right_one(tmp_path, monkeypatch):
    source = tmp_path / "source.txt"
    source.write_text("some other text")
    monkeypatch.setattr(corpus, "SHAKESPEARE", source.as_uri())
    with pytest.raises(CorpusError, match="holds another text than expected"):
        corpus.shakespeare(tmp_path / "cache")
    assert not (tmp_path / "cache").exists()
    right = hashlib.sha256(source.read_bytes()).hexdigest()
    monkeypatch.setattr(corpus, "SHAKESPEARE_SHA256", right)
    assert corpus.shakespeare(tmp_path / "cache") == "some other text"
    source.unlink()  # from now on it comes from the cache
    assert corpus.shakespeare(tmp_path / "cache") == "some other text"


def test_a_download_that_fails_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setattr(corpus, "SHAKESPEARE", (tmp_path / "gone").as_uri())
    with pytest.raises(CorpusError, match=r"could not download .* --data"):
        corpus.shakespeare(tmp_path / "cache")


def test_a_file_that_is_no_text_is_refused(tmp_path):
    (tmp_path / "picture").write_bytes(b"\xff\xd8\xff")
    with pytest.raises(CorpusError, match="is no UTF-8 text"):
        corpus.load(str(tmp_path / "picture"))
