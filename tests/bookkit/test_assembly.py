"""Looking inside a model: what its parts put out, its stream, its silence."""

import pytest
import torch

from bookkit.assembly import follow, silenced, size, streams
from bookkit.blueprint import blueprint
from solutions.minigpt import MiniGPT, count_parameters


@pytest.fixture
def model():
    torch.manual_seed(0)
    return MiniGPT(50, 16, n_layers=2, n_heads=4, max_seq=8).eval()


TOKENS = torch.arange(10).view(2, 5)


def test_every_part_is_followed_with_its_shape_and_parameters(model):
    steps = {step.name: step for step in follow(model, TOKENS)}
    assert steps["embed"].shape == (2, 5, 16)
    assert steps["pos_embed"].shape == (5, 16)
    assert steps["blocks.1.attn.softmax"].shape == (2, 4, 5, 5)
    assert steps["blocks.0.ff.W_1"].shape == (2, 5, 64)
    assert steps["head"].parameters == 50 * 16
    assert steps[""].shape == (2, 5, 50)
    assert steps[""].parameters == count_parameters(model)


def test_following_leaves_no_hook_behind(model):
    before = model(TOKENS)
    follow(model, TOKENS)
    assert not any(part._forward_hooks for part in model.modules())
    assert torch.equal(model(TOKENS), before)


def test_steps_come_in_the_order_in_which_parts_finish(model):
    names = [step.name for step in follow(model, TOKENS)]
    assert names.index("embed") < names.index("blocks.0.attn.softmax")
    assert names.index("blocks.0.attn.softmax") < names.index("blocks.0.attn")
    assert names[-1] == ""


def test_the_stream_is_the_sum_of_what_was_written(model):
    steps = {step.name: step.output for step in follow(model, TOKENS)}
    x = streams(model, TOKENS)
    assert len(x) == 3
    assert torch.equal(x[0], steps["embed"] + steps["pos_embed"])
    written = steps["blocks.0.attn"] + steps["blocks.0.ff"]
    assert torch.allclose(x[1], x[0] + written, atol=1e-6)


def test_a_silenced_part_writes_nothing_until_the_end_of_the_block(model):
    block, x = model.blocks[0], torch.randn(2, 5, 16)
    with silenced(block.attn, block.ff):
        assert torch.equal(block(x), x)
    assert not torch.equal(block(x), x)


def test_size_is_the_root_mean_square():
    assert size(torch.tensor([3.0, -3.0, 3.0, 3.0])) == 3.0


def test_the_blueprint_says_the_shapes_that_were_seen(model):
    drawn = blueprint(follow(model, TOKENS), (2, 5), blocks=2).svg()
    for said in ("(2, 5)", "(2, 4, 5, 5)", "(2, 5, 64)", "(2, 5, 50)", "1 more like"):
        assert said in drawn
    assert drawn.count("<circle") == 4  # two embeddings, attention, feed-forward


class ByName(MiniGPT):
    """In another style: rows of the positions' matrix, and blocks called by name."""

    def forward(self, tokens):
        T = tokens.shape[1]
        x = self.embed(tokens) + self.pos_embed.weight[:T]
        for block in self.blocks:
            x = block(x=x, mask=torch.ones(T, T).tril())
        return self.head(self.norm(x))


def test_a_model_in_another_style_is_followed_and_drawn():
    torch.manual_seed(0)
    model = ByName(50, 16, n_layers=2, n_heads=4, max_seq=8).eval()
    steps = follow(model, TOKENS)
    assert "pos_embed" not in {step.name for step in steps}
    assert "head puts out (2, 5, 50)" in blueprint(steps, (2, 5), 2, lit=12).words
    assert len(streams(model, TOKENS)) == 3
