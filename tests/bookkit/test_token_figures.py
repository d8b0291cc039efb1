"""The pictures of tokens say what they are given."""

import json
import re

import matplotlib.pyplot as plt
import pytest

from bookkit import recorded
from bookkit.patients import Chart
from bookkit.token_figures import (
    COLUMNS,
    draw_charts,
    draw_recorded,
    draw_samples,
    draw_shift,
    label_ends,
    pieces,
)


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def texts_of(picture):
    return re.findall(r"<text[^>]*>([^<]*)</text>", picture.body)


def test_pieces_has_a_box_for_each_token_and_dots_for_spaces():
    picture = pieces(["the ", "m", "ill\n"], "3 tokens")
    assert texts_of(picture) == ["the·mill¶"]
    assert picture.words == "3 tokens"
    assert picture.body.count("M") == 3


def test_pieces_breaks_lines_between_tokens():
    picture = pieces(["a" * (COLUMNS - 1), "bc"])
    assert texts_of(picture) == ["a" * (COLUMNS - 1), "bc"]


def test_pieces_escapes_what_svg_would_read():
    assert texts_of(pieces(["<&"])) == ["&lt;&amp;"]


def test_under_each_input_stands_its_successor():
    ax = draw_shift(["a", "b", " "])
    shown = {text.get_position(): text.get_text() for text in ax.texts}
    assert shown[(0.46, 1.4)] == "a"
    assert shown[(0.46, 2.4)] == "b"
    assert shown[(1.46, 2.4)] == "␣"
    assert (2.46, 1.4) not in shown


def test_samples_show_dots_for_what_cannot_be_seen_and_wrap():
    ax = draw_samples({"A": "ab\ufffd\x07cd\n$x$"}, columns=4, lines=3)
    lines = [text.get_text() for text in ax.texts]
    assert lines == ["A", "ab··", "cd", "$x$"]


def test_names_at_the_ends_of_lines_keep_apart():
    _, ax = plt.subplots()
    for end in (1.0, 1.01, 3.0):
        ax.plot([0, 1], [0, end])
    label_ends(ax, ["low", "middle", "high"], gap=0.5)
    heights = {text.get_text(): text.xy[1] for text in ax.texts}
    assert heights == {"low": 1.0, "middle": 1.5, "high": 3.0}


def test_each_chart_has_its_panel_and_name():
    chart = Chart([5.0, 4.0], [1, 2], [5.0, 4.5])
    fig = draw_charts({"A": chart, "B": chart})
    assert [ax.get_title() for ax in fig.axes][:2] == ["A", "B"]
    assert fig.axes[1].lines[0].get_ydata().tolist() == [5.0, 4.0]


def test_a_recorded_run_is_drawn_with_what_it_reached_and_what_was_published(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(recorded, "FOLDER", tmp_path)
    checks = [[100, 3.0, 3.1], [200, 2.5, 2.7], [300, 2.2, 2.4]]
    for name in ("a", "b"):
        record = {"checks": checks, "loss": 2.414}
        (tmp_path / f"{name}.json").write_text(json.dumps(record))
    fig = draw_recorded({"a": ("first", 2.3), "b": ("second", None)})
    first, second = ([text.get_text() for text in ax.texts] for ax in fig.axes)
    assert first == ["batches", "unseen text: 2.41", "published: 2.30"]
    assert second == first[:2]
    assert [ax.get_title() for ax in fig.axes] == ["first", "second"]
    assert fig.axes[1].lines[1].get_ydata().tolist() == [3.1, 2.7, 2.4]
