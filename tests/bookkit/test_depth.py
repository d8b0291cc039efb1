"""A stack is built as it is told, and what is measured on it is what its name says."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import pytest
import torch
from torch import nn

from bookkit.depth import (
    Stack,
    deal,
    gradient_by_layer,
    likeness,
    loss_of,
    losses_without,
    moved_by_one_step,
    scales,
    train,
    turns,
)
from bookkit.depth_figures import (
    HUES,
    draw_by_depth,
    draw_placements,
    draw_training,
    shade,
    spread,
)
from bookkit.token_bars import draw_bars
from solutions.multihead import MultiHeadAttention
from solutions.norms import post_norm, pre_norm


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


def build(place, depth=3, norm=nn.LayerNorm, final_norm=False):
    torch.manual_seed(0)
    return Stack(depth, place, norm, MultiHeadAttention, final_norm=final_norm)


def replace(x, sublayer, norm):
    return sublayer(x)


def keep(x, sublayer, norm):
    return x


def double(x, sublayer, norm):
    return 2 * x


def test_the_answer_is_the_sequence_read_backwards():
    tokens, targets = deal(torch.Generator().manual_seed(0))
    assert tokens.shape == targets.shape == (16, 8)
    assert torch.equal(tokens.flip(1), targets)
    assert tokens.unique().tolist() == list(range(8))


def test_each_layer_is_an_attention_and_an_mlp_with_a_norm_each():
    stack = build(pre_norm, depth=3)
    kinds = [type(sublayer) for sublayer in stack.sublayers]
    assert kinds == [MultiHeadAttention, nn.Sequential] * 3
    assert len(stack.norms) == 6
    assert isinstance(stack.final, nn.Identity)
    assert isinstance(build(pre_norm, final_norm=True).final, nn.LayerNorm)


def test_every_sublayer_is_placed_once_in_order_with_its_own_norm():
    seen = []

    def place(x, sublayer, norm):
        seen.append((sublayer, norm))
        return x

    stack = build(place, depth=2)
    logits = stack(deal(torch.Generator().manual_seed(0))[0])
    assert logits.shape == (16, 8, 8)
    assert seen == list(zip(stack.sublayers, stack.norms, strict=True))


def test_the_final_norm_stands_before_the_read_out():
    stack = build(keep, final_norm=True)
    tokens, _ = deal(torch.Generator().manual_seed(0))
    normed = nn.functional.layer_norm(stack.states(tokens)[-1], (32,))
    torch.testing.assert_close(stack(tokens), stack.head(normed))


def test_gradients_are_those_of_each_layer_s_weights():
    stack = build(pre_norm, depth=3)
    sizes = gradient_by_layer(stack)
    loss_of(stack, *deal(torch.Generator().manual_seed(0))).backward()
    pairs = zip(stack.sublayers[::2], stack.sublayers[1::2], strict=True)
    for size, layer in zip(sizes, pairs, strict=True):
        flat = [w.grad.flatten() for part in layer for w in part.parameters()]
        torch.testing.assert_close(size, torch.cat(flat).norm())


def test_without_skips_less_gradient_reaches_the_first_layer():
    sizes = gradient_by_layer(build(replace, depth=6).double())
    assert sizes[0] < 1e-3 * sizes[-1]
    assert gradient_by_layer(build(replace, depth=6)).requires_grad is False


def test_the_scale_of_a_stream_that_doubles_doubles():
    found = scales(build(double, depth=2))
    torch.testing.assert_close(found / found[0], torch.tensor([1.0, 2, 4, 8, 16]))


def test_a_stream_that_doubles_twice_a_layer_changes_by_three_times_itself():
    torch.testing.assert_close(turns(build(double, depth=3)), torch.full((3,), 3.0))
    assert turns(build(keep)).tolist() == [0, 0, 0]


def test_tokens_that_are_all_the_same_have_likeness_one():
    def first_for_all(x, sublayer, norm):
        return x[:, :1].expand_as(x)

    found = likeness(build(first_for_all, depth=2))
    assert found[0] < 0.5
    torch.testing.assert_close(found[1:], torch.ones(2))


def test_leaving_a_layer_out_skips_its_two_sublayers():
    stack = build(pre_norm, depth=2)
    tokens, targets = deal(torch.Generator().manual_seed(1), 256)
    found = losses_without(stack)
    stack.sublayers, stack.norms = stack.sublayers[:2], stack.norms[:2]
    torch.testing.assert_close(found[1], loss_of(stack, tokens, targets))
    assert found.shape == (2,)
    assert found[0] != found[1]


def test_twice_the_rate_moves_the_output_about_twice_as_far():
    small, large = (moved_by_one_step(build(post_norm), r) for r in (1e-6, 2e-6))
    assert large / small == pytest.approx(2, rel=0.05)


def test_training_lowers_the_loss_and_repeats_itself():
    one, other = (train(build(pre_norm, depth=1), steps=40) for _ in range(2))
    assert len(one) == 40
    assert sum(one[-5:]) < 0.8 * sum(one[:5])
    assert one == other


def test_a_warm_up_makes_the_first_step_small():
    moved = []
    for warmup in (0, 10):
        stack = build(pre_norm, depth=1)
        before = stack.head.weight.detach().clone()
        train(stack, warmup=warmup, rate=1e-3, steps=1)
        moved.append((stack.head.weight - before).abs().max().item())
    assert moved == [pytest.approx(1e-3, rel=0.01), pytest.approx(1e-4, rel=0.01)]


def test_the_watcher_is_called_before_every_step():
    stack, seen = build(pre_norm, depth=1), []
    first = stack.head.bias.tolist()
    train(stack, steps=3, watch=lambda: seen.append(stack.head.bias.tolist()))
    assert len(seen) == 3
    assert seen[0] == first != seen[1]


def test_a_placement_shows_its_boxes_on_branch_and_stream():
    designs = {"post": (["sublayer"], ["norm"]), "both": (["norm", "sublayer"], [])}
    post, both = draw_placements(designs).axes
    assert {t.get_text(): t.get_position()[1] for t in post.texts}["norm"] == 0
    boxes = {t.get_text(): t.get_position() for t in both.texts}
    assert boxes["norm"][1] == boxes["sublayer"][1] > 0
    assert boxes["norm"][0] < boxes["sublayer"][0]


def test_lines_of_any_depth_run_from_first_to_last_and_carry_their_depth():
    lines = {4: [1.0, 2, 3, 4], 2: [1.0, 4]}
    ax, _ = draw_by_depth({"post-norm": lines, "pre-norm": lines}, "size").axes
    assert [line.get_xdata()[-1] for line in ax.lines] == [1, 1]
    assert [text.get_text() for text in ax.texts] == ["4", "2"]
    assert ax.texts[0].get_position() != ax.texts[1].get_position()


def test_labels_too_close_move_apart_and_keep_their_order():
    assert spread([1.0, 1.1, 5.0], gap=1.0) == [1.0, 2.0, 5.0]
    assert spread([1.1, 1.0], gap=0.5) == [1.5, 1.0]


def test_shades_darken_to_the_colour_itself():
    assert shade("#0072b2", 2, 3) == "#0072b2"
    assert shade("#0072b2", 0, 3) != shade("#0072b2", 1, 3)


def test_a_run_is_drawn_in_its_column_and_row():
    runs = {("post-norm", d, w): [float(d), float(w)] for d in (4, 8) for w in (0, 5)}
    axes = draw_training(runs, chance=2.0).axes
    curves = [ax.lines[0] for ax in axes]
    assert [list(c.get_ydata()) for c in curves] == [[4, 0], [8, 0], [4, 5], [8, 5]]
    assert curves[0].get_color() == HUES["post-norm"]
    assert [ax.get_title() for ax in axes[:2]] == ["4 layers", "8 layers"]


def test_bars_go_up_and_down_and_say_their_number():
    body = draw_bars([2.0, -1.0, 0.0], "a token", limit=2).body
    assert "a token" in body
    for said in (">2<", ">\u22121<", ">0<"):
        assert said in body
    assert "y='46' width='26' height='66'" in body  # from 46 down to 0, at 112
    assert "y='112' width='26' height='33'" in body
