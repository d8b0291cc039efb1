"""Pictures that chapters move show and say the numbers that they are given."""

import torch

from bookkit.attention_figures import lookup_picture
from bookkit.paints import mix_picture
from bookkit.routes import routes_picture

BOX = {"red": (1.0, -1.0, -1.0), "blue": (-1.0, -1.0, 1.0)}


def test_a_mixture_names_the_largest_share_and_the_distance():
    order, mixture = torch.tensor([1.0, 0.0, 0.0]), torch.tensor([1.0, 0.0, -0.5])
    picture = mix_picture(order, torch.tensor([0.25, 0.75]), mixture, BOX)
    assert picture.words.startswith("blue has the largest share, 75%.")
    assert "0.50 away" in picture.words
    assert "width='26.0'" in picture.body
    assert "width='78.0'" in picture.body


def test_a_route_says_both_counts():
    steps = {"RNN": 2, "attention": 1}
    picture = routes_picture(["a", "b", "c", "d"], 1, 3, steps)
    assert "From b to d: 2 from word to word, 1 by attention." in picture.words
    assert "81% and 90% arrive" in picture.words
    assert [picture.body.count(f">{n} step") for n in (2, 1)] == [1, 1]
    assert picture.body.count("opacity='1'") == 2  # two hops of three


def test_a_lookup_turns_its_query_and_says_what_it_mixes():
    keys, values = torch.eye(2), torch.tensor([10.0, 20.0])
    weights = torch.tensor([0.25, 0.75])
    up = torch.tensor([0.0, 2.0])
    picture = lookup_picture(up, keys, weights, values, ["e", "n"], 17.5)
    assert "rotate(-90)" in picture.svg()
    assert picture.words == "The answer is 17.5: 0.25 of 10, 0.75 of 20."
