"""The games deal what they say, and the scores are kept by distance."""

import pytest
import torch
from torch import nn

from bookkit.recall import Memory, Player, by_distance, one_letter, play, who_wears_what


def dealt(game, batch=200):
    return game.deal(batch, torch.Generator().manual_seed(0))


def test_the_letter_stands_where_the_distance_says_and_nowhere_else():
    hand = dealt(one_letter(length=10, letters=4, digits=6))
    tokens = hand.tokens.squeeze(-1)
    place = 9 - hand.distance
    assert torch.equal(tokens[torch.arange(200), place], hand.answer)
    assert ((tokens < 4).sum(dim=1) == 1).all()
    assert (tokens[:, -1] == 10).all()
    assert hand.distance.min() == 1
    assert hand.distance.max() == 9


def test_everybody_comes_once_and_the_one_asked_for_wears_the_answer():
    hand = dealt(who_wears_what(people=5, colours=3))
    names, colours = hand.tokens.unbind(dim=-1)
    place = 5 - hand.distance
    rows = torch.arange(200)
    assert torch.equal(names[:, :5].sort(dim=1).values, torch.arange(5).expand(200, 5))
    assert torch.equal(names[rows, place], names[:, 5])
    assert torch.equal(colours[rows, place] - 5, hand.answer)
    assert (colours[:, 5] == 8).all()


@pytest.mark.parametrize("game", [one_letter(6), who_wears_what(3)])
def test_a_player_answers_each_sequence_with_a_logit_an_answer(game):
    player = Player(game, Memory(8), 8)
    assert player(dealt(game, 7).tokens).shape == (7, game.answers)


class LastToken(nn.Module):
    """Looks at the token before the question, and at nothing else."""

    def __init__(self, width):
        super().__init__()

    def forward(self, x):
        return x[:, -2]


def test_a_reader_of_the_last_token_is_right_at_distance_1_alone():
    right, distance = play(one_letter(length=5), LastToken, batches=60)
    assert right[distance == 1].mean() == 1
    assert right[distance > 1].mean() < 0.5


def test_the_same_seed_plays_the_same_game():
    one, other = (play(who_wears_what(2), Memory, batches=3) for _ in range(2))
    assert torch.equal(one[0], other[0])
    assert torch.equal(one[1], other[1])


def test_shares_are_averaged_over_ranges_of_distance():
    distance = torch.tensor([1, 2, 3, 4])
    right = torch.tensor([1.0, 0.0, 1.0, 1.0])
    middles, shares = by_distance(right, distance, bins=2)
    assert middles.tolist() == [1, 3]
    assert shares.tolist() == [0.5, 1.0]
