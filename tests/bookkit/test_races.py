"""Chapter 15's decoders, how they are trained, and what the records say of them."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import pytest
import torch
from torch import nn

from benchmarks.modern import attend
from bookkit.modern import INGREDIENTS, Shape, classic, modern
from bookkit.muon import Muon, orthogonalised
from bookkit.plans import Plan, losses_on, optimizer_for, race, train
from bookkit.race_figures import draw_gaps, draw_race
from bookkit.races import finishers, gaps, seed_deviation
from bookkit.recorded import recorded
from solutions.feed_forward import FeedForward, SwiGLU
from solutions.minigpt import count_parameters
from solutions.modern import LlamaBlock

SMALL = Shape(11, d_model=32, n_layers=2, max_seq=12)


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


def has(model, ingredient):
    """Whether a decoder really works with an ingredient."""
    block, heads = model.blocks[0], SMALL.n_heads
    if ingredient == "RMSNorm":
        norms = [type(norm) for norm in (block.norm1, block.norm2, model.norm)]
        assert norms in ([nn.RMSNorm] * 3, [nn.LayerNorm] * 3)
        return norms[0] is nn.RMSNorm
    if ingredient == "SwiGLU":
        assert isinstance(block.ff, SwiGLU | FeedForward)
        return isinstance(block.ff, SwiGLU)
    if ingredient == "RoPE":
        return model.pos_embed is None
    key_heads = heads * block.attn.W_k.out_features // block.attn.W_q.out_features
    return key_heads < heads


@pytest.mark.parametrize("without", [None, *INGREDIENTS])
def test_a_decoder_lacks_what_it_is_without_and_nothing_else(without):
    model = modern(LlamaBlock, SMALL, without)
    assert [i for i in INGREDIENTS if not has(model, i)] == [without] * bool(without)
    whole = count_parameters(modern(LlamaBlock, Shape(65)))
    assert count_parameters(classic(Shape(65))) == pytest.approx(whole, rel=0.01)
    large = count_parameters(modern(LlamaBlock, Shape(65), without))
    assert large == pytest.approx(whole, rel=0.011)


@pytest.mark.parametrize("without", [None, *INGREDIENTS])
def test_a_decoder_is_causal_and_knows_the_order(without):
    model = modern(LlamaBlock, SMALL, without)
    for p in model.blocks.parameters():
        nn.init.normal_(p, std=0.3)  # far from the quiet start
    tokens = torch.tensor([[1, 2, 3, 4, 5, 6]])
    other = torch.tensor([[1, 2, 3, 4, 9, 9]])
    swapped = torch.tensor([[2, 1, 3, 4, 5, 6]])
    logits = model(tokens)
    assert torch.allclose(logits[:, :4], model(other)[:, :4], atol=1e-5)
    assert not torch.allclose(logits[:, -1], model(swapped)[:, -1], atol=1e-3)


def test_without_rope_nothing_turns():
    one_layer = Shape(11, d_model=32, n_layers=1, max_seq=12)
    tokens, swapped = torch.tensor([[1, 2, 3, 4]]), torch.tensor([[3, 1, 2, 4]])
    for without, same in (("RoPE", True), (None, False)):
        model = modern(LlamaBlock, one_layer, without)
        for p in model.blocks.parameters():
            nn.init.normal_(p, std=0.3)
        if model.pos_embed is not None:
            nn.init.zeros_(model.pos_embed.weight)  # then only RoPE could tell
        last = model(tokens)[:, -1], model(swapped)[:, -1]
        assert torch.allclose(*last, atol=1e-4) is same


def test_an_ingredient_that_there_is_not_is_named():
    with pytest.raises(ValueError, match="without 'Rope': not among RMSNorm, RoPE"):
        modern(LlamaBlock, SMALL, "Rope")


def test_muon_makes_the_step_push_in_all_directions_alike():
    generator = torch.Generator().manual_seed(0)
    matrix = torch.randn(24, 8, generator=generator)
    assert torch.linalg.cond(matrix) > 2
    values = torch.linalg.svdvals(orthogonalised(matrix))
    assert values.shape == (8,)
    assert 0.6 < values.min() < values.max() < 1.3
    straight = torch.linalg.svd(matrix, full_matrices=False)
    nearest = straight.U @ straight.Vh
    cosine = (orthogonalised(matrix) * nearest).sum() / nearest.norm()
    assert cosine / orthogonalised(matrix).norm() > 0.98


@pytest.mark.skipif(not hasattr(torch.optim, "Muon"), reason="needs torch 2.9")
def test_muon_steps_as_torchs_own_does():
    generator = torch.Generator().manual_seed(0)
    start = torch.randn(12, 20, generator=generator)
    ours, theirs = nn.Parameter(start.clone()), nn.Parameter(start.clone())
    mine = Muon([ours], 0.1)
    other = torch.optim.Muon([theirs], 0.1, adjust_lr_fn="match_rms_adamw")
    for _ in range(3):
        ours.grad = torch.randn(12, 20, generator=generator)
        theirs.grad = ours.grad.clone()
        mine.step()
        other.step()
    moved, expected = ours.detach() - start, theirs.detach() - start
    assert (moved - expected).norm() < 0.03 * expected.norm()  # theirs is in bfloat16


def test_muon_wants_matrices():
    with pytest.raises(ValueError, match=r"has shape \(3,\)"):
        Muon([nn.Parameter(torch.zeros(3))])


def test_muon_has_the_blocks_matrices_and_adamw_has_the_rest():
    model = modern(LlamaBlock, SMALL)
    first, *others = optimizer_for(model, Plan(muon=0.01)).optimizers[0].param_groups
    assert not others
    assert len(first["params"]) == 2 * 7  # four of attention, three of SwiGLU
    together = optimizer_for(model, Plan(muon=0.01))
    ids = [id(p) for group in together.param_groups for p in group["params"]]
    assert sorted(ids) == sorted(id(p) for p in model.parameters())


def test_rates_rise_and_fall_as_planned():
    plan = Plan(steps=30, warmup=10, schedule="linear", last=0.0)
    shares = [plan.share(step) for step in range(30)]
    assert shares[0] == pytest.approx(0.1)
    assert max(shares) == shares[10] == 1
    assert shares[20] == pytest.approx(0.5)
    assert Plan(steps=30, warmup=10).share(20) == pytest.approx(0.55)


def test_the_loss_on_a_text_is_that_of_every_piece():
    text = torch.arange(11).repeat(20)
    model = modern(LlamaBlock, SMALL)
    losses = losses_on(model, text, 12)
    assert len(losses) == 18  # (220 - 1) // 12
    inputs, targets = text[12:24], text[13:25]
    second = nn.functional.cross_entropy(model(inputs[None])[0], targets)
    assert losses[1].item() == pytest.approx(second.item(), abs=1e-5)
    assert losses_on(model, text, 12, 6).tolist() == losses[::3].tolist()


def test_both_decoders_learn_from_the_same_batches():
    text = torch.arange(11).repeat(40)
    plan = Plan(steps=40, batch_size=4, seq_len=12, rate=1e-2, warmup=4)
    muon = Plan(steps=40, batch_size=4, seq_len=12, rate=1e-2, warmup=4, muon=0.02)
    found = race(
        {"a": (classic(SMALL), plan), "b": (modern(LlamaBlock, SMALL), muon)}, text
    )
    for rows in found.values():
        assert [step for step, _ in rows] == [5, 10, 15, 20, 25, 30, 35, 40]
        assert rows[-1][1] < 0.5 < rows[0][1]
    seen = []
    for model in (classic(SMALL), modern(LlamaBlock, SMALL)):
        model.register_forward_pre_hook(lambda _, tokens: seen.append(tokens[0]))
        next(train(model, plan, text))
    assert torch.equal(*seen)


def record(losses, noise=0.001):
    """A record of decoders with these losses, by name and seed."""
    runs = {
        name: {
            str(seed): {
                "plan": {"batch_size": 2, "seq_len": 5, "steps": 10},
                "parameters": 7,
                "loss": loss,
                "parts": [loss + noise * (-1) ** k for k in range(20)],
                "checks": [[5, loss + 1], [10, loss]],
            }
            for seed, loss in enumerate(some)
        }
        for name, some in losses.items()
    }
    return {"seconds": dict.fromkeys(losses, 0.1), "runs": runs}


def test_gaps_are_between_runs_of_one_seed():
    losses = {"x": [1.0, 2.0], "near": [1.02, 1.99], "far": [1.2, 2.21, 3.0]}
    found = finishers(record(losses))
    assert found["x"].tokens == [50, 100]
    assert (found["x"].loss, found["x"].spread) == (1.5, 1)
    between = gaps(found["x"], [found["near"], found["far"]], deviation=0.01)
    assert between["far"].by_seed == pytest.approx([0.2, 0.21])
    assert between["far"].error == pytest.approx(0.01)
    assert between["far"].told_apart
    assert not between["near"].told_apart


def test_how_much_seeds_matter_is_taken_from_all_decoders():
    found = finishers(record({"a": [1.0, 1.2], "b": [3.0, 3.2, 3.4], "c": [5.0]}))
    # The squares from the means: 0.02 of a, 0.08 of b, for one and two degrees.
    assert seed_deviation(found.values()) == pytest.approx((0.1 / 3) ** 0.5)
    with pytest.raises(ValueError, match="two seeds: give --seeds 2"):
        seed_deviation([found["c"]])


def test_what_cannot_be_told_apart_is_said_so():
    losses = {"x": [1.0, 2.0], "near": [1.02, 1.99], "far": [1.2, 2.2]}
    found = finishers(record(losses))
    between = gaps(found["x"], [found["near"], found["far"]], deviation=0.01)
    said = [text.get_text() for text in draw_gaps(between, "what it costs").texts]
    assert said == ["can't be told apart", "+0.200"]


def test_the_recorded_runs_are_comparable_and_drawn():
    found = finishers()
    sizes = {one.parameters for one in found.values()}
    assert max(sizes) < 1.02 * min(sizes)
    short = {name for name in found if "time" in name or "without" in name}
    budgets = [{one.tokens[-1] for one in found.values() if one.name in short}]
    budgets += [{one.tokens[-1] for one in found.values() if one.name not in short}]
    assert [len(budget) for budget in budgets] == [1, 1]
    assert budgets[1] == {12 * 64 * 2000}
    read = {
        run["read"]
        for runs in recorded("modern")["runs"].values()
        for run in runs.values()
    }
    assert len(read) == 1  # all were asked about the same text
    fig = draw_race(list(found.values())[:4], "title")
    names = [text.get_text() for text in fig.axes[1].texts]
    assert names == list(found)[:4]


def test_the_benchmarks_attention_is_the_blocks_own():
    block = LlamaBlock(32, 4, 2, 40)
    x, positions = torch.randn(2, 12, 32), torch.arange(3, 15)
    own = block.attn(x, positions)
    assert torch.allclose(attend(block.attn, x, positions), own, atol=1e-5)
