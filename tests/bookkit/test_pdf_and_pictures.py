"""The book on paper and in pictures, made of two small pages."""

import re

import pytest
from pypdf import PdfReader

from bookkit import pdf, pictures

TALL = "<div style='height:90cm;background:linear-gradient(red,blue)'></div>"
THERE = "<h2 id='there'>There</h2>"


@pytest.fixture
def book(tmp_path, monkeypatch):
    """A book whose first page is long and links to a place in the second."""
    first = f"<a href='b.html#there'>to b</a>{TALL}<a href='#top'>up</a>"
    second = f"<a href='a.html'>to a</a>{TALL}{THERE}<a href='#there'>x</a>"
    for name, body in (("a", first), ("b", second)):
        page = f"<html lang=en><article id=top><h1>Page {name}</h1>{body}</article>"
        (tmp_path / f"{name}.html").write_text(f"<!doctype html>{page}")
    for module in (pdf, pictures):
        monkeypatch.setattr(module, "built", lambda: tmp_path)
        monkeypatch.setattr(module, "page_names", lambda: ["a", "b"])
    return tmp_path


def leads_to(reader, link):
    return reader.get_page_number(link["/Dest"][0].get_object())


def test_pdf_numbers_its_pages_throughout_and_keeps_links_inside(book, capsys):
    path = book / "book.pdf"
    assert pdf.main(["--out", str(path)]) == 0
    reader = PdfReader(path)
    count = len(reader.pages)
    assert f"{count} pages" in capsys.readouterr().out
    numbers = [re.match(r"\d+", page.extract_text())[0] for page in reader.pages]
    assert numbers == [str(number) for number in range(1, count + 1)]
    assert [part.title for part in reader.outline if not isinstance(part, list)] == [
        "Page a",
        "Page b",
    ]
    links = [
        link.get_object() for page in reader.pages for link in page.get("/Annots", [])
    ]
    to_b, up, to_a, there = (leads_to(reader, link) for link in links)
    assert (to_b, up, to_a, there) == (count - 1, 0, 0, count - 1)


def test_a_wide_formula_is_printed_whole(tmp_path, monkeypatch):
    wide = f"<span style='white-space:nowrap'>{'wide ' * 40}<i>end</i></span>"
    formula = f"<mjx-container display style='display:block'>{wide}</mjx-container>"
    page = f"<!doctype html><article><h1>A page</h1>{formula}</article>"
    (tmp_path / "a.html").write_text(page)
    monkeypatch.setattr(pdf, "built", lambda: tmp_path)
    monkeypatch.setattr(pdf, "page_names", lambda: ["a"])
    assert pdf.main(["--out", str(tmp_path / "book.pdf")]) == 0
    (paper,) = PdfReader(tmp_path / "book.pdf").pages
    ends = []

    def note(text, user, line, font, size):
        if "end" in text:
            ends.append(user[0] * line[4] + user[4])

    paper.extract_text(visitor_text=note)
    assert 0 < ends[0] < float(paper.mediabox.width)


def test_pictures_show_each_page_in_four_looks(book, capsys):
    out = book / "out"
    assert pictures.main(["--out", str(out)]) == 0
    assert "index.html" in capsys.readouterr().out
    looks = {path.stem.removesuffix("-1") for path in out.glob("*-1.png")}
    wanted = {
        f"{page}-{size}-{scheme}"
        for page in "ab"
        for size in ("desk", "phone")
        for scheme in ("light", "dark")
    }
    assert looks == wanted
    sheet = (out / "index.html").read_text()
    assert all(path.name in sheet for path in out.glob("*.png"))


def test_a_page_that_is_not_there_is_refused_with_those_that_are(book, capsys):
    with pytest.raises(SystemExit) as stop:
        pictures.main(["c"])
    assert stop.value.code == 2
    assert "no page 'c'; choose from a, b" in capsys.readouterr().err


def test_without_a_book_both_say_what_to_do(tmp_path, monkeypatch, capsys):
    def none():
        raise FileNotFoundError("there is no book yet; build it with: make book")

    for module, arguments in ((pdf, []), (pictures, ["--out", str(tmp_path)])):
        monkeypatch.setattr(module, "built", none)
        assert module.main(arguments) == 1
        assert "make book" in capsys.readouterr().err
