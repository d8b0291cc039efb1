"""Questions that answer back: their files, their numbers, and how a card behaves."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import nbformat
import pytest
import torch
from einops import einsum
from playwright.sync_api import expect, sync_playwright
from torch import nn
from torch.nn import functional as F

from autograder.exports.policy import Attempt, Policy, count
from bookkit.browser import FLAGS, find
from bookkit.questions import ask, files, formatted, questions_of
from solutions.architectures import mask_tokens
from solutions.attention import attention_scores
from solutions.feed_forward import FeedForward, SwiGLU, gelu
from solutions.generation import filter_logits, kv_cache_bytes
from solutions.inside import induction_score
from solutions.long_sequences import (
    attention_flops,
    feed_forward_flops,
    online_softmax_sum,
)
from solutions.masks import sliding_window_mask
from solutions.minigpt import TransformerBlock
from solutions.multihead import MultiHeadAttention
from solutions.norms import rms_norm
from solutions.parallelism import all_reduce_mean, pipeline_bubble
from solutions.positions import alibi_bias, sinusoidal_positions
from solutions.rnn import path_length
from solutions.training import get_batch, next_token_loss
from solutions.warmup import stable_softmax

ROOT = Path(__file__).resolve().parents[2]
QUESTIONS = {
    name: question for path in files() for name, question in questions_of(path).items()
}
NUMBERS = [name for name, one in QUESTIONS.items() if one.asks_for_a_number]
DUE = datetime(2026, 11, 26, 23, 59, tzinfo=UTC)
CHOICES = [name for name in QUESTIONS if name not in NUMBERS]


def matrices(module):
    return sum(one.numel() for one in module.parameters() if one.ndim == 2)


def spread_of_scores():
    Q, K = 2 * torch.randn(2, 2000, 128, generator=torch.Generator().manual_seed(0))
    return attention_scores(Q, K).std().item()


def read_by_head(number=3):
    """How many features of a token move one head's query."""
    W_q = MultiHeadAttention(512, 8).W_q.weight  # (out, in)
    return (W_q[number * 64 : (number + 1) * 64] != 0).any(dim=0).sum().item()


def reached_by(window, layers):
    sees = sliding_window_mask(40, window).double()
    return 39 - sees.matrix_power(layers)[-1].nonzero().min().item()


def say_of_a_target():
    """What a target on a rank of 10 moves the mean, over one on a rank of 90."""
    targets = [torch.zeros(10, requires_grad=True), torch.zeros(90, requires_grad=True)]
    all_reduce_mean([[one.mean()] for one in targets])[0].backward()
    return (targets[0].grad[0] / targets[1].grad[0]).item()


def hidden_by_bert():
    tokens = torch.zeros(1000, 100, dtype=torch.long)
    inputs, _ = mask_tokens(tokens, 9, 5, 0.15, torch.Generator().manual_seed(0))
    return (inputs == 9).float().mean().item() * 1000


def last_target():
    draws = get_batch(torch.arange(10), 99, 4, torch.Generator().manual_seed(0))
    inputs, targets = draws
    return targets[inputs[:, 0] == 5][0, -1].item()


def clipped():
    weights = nn.Parameter(torch.zeros(3))
    weights.grad = torch.tensor([6.0, 8.0, 0.0])
    nn.utils.clip_grad_norm_([weights], 5.0)
    return weights.grad[0].item()


def perplexity():
    p = torch.tensor([[1 / 2, 1 / 2], [1 / 2, 1 / 2], [1 / 8, 7 / 8]])
    return next_token_loss(p.log(), torch.zeros(3, dtype=torch.long)).exp().item()


def kept_by_top_p():
    chances = torch.tensor([0.45, 0.3, 0.15, 0.1])
    return filter_logits(chances.log(), top_p=0.5).isfinite().sum().item()


def looked_at_from_20(period=7):
    """The one place to which position 20 must look for a perfect score."""
    rows = torch.arange(21)
    kept = (rows - period + 1).clamp(min=0)
    return next(
        j
        for j in range(21)
        if induction_score(
            F.one_hot(torch.where(rows == 20, j, kept), 21)[None, None].float(), period
        )
        == 1
    )


RECOMPUTED = {
    "a-single-query": lambda: (
        attention_scores(torch.randn(1, 4), torch.randn(10, 4))
        .softmax(dim=-2)
        .unique()
        .item()
    ),
    "share-of-the-second": lambda: stable_softmax(
        torch.tensor([2, 2 + torch.tensor(3.0).log()])
    )[1].item(),
    "thirty-hours-late": lambda: (
        count(Attempt("ben", 8, DUE + timedelta(hours=30)), Policy(DUE, 10, 2)).points
    ),
    "a-course-of-many": lambda: timedelta(seconds=12_000 * 0.3) / timedelta(hours=1),
    "steps-that-wait": lambda: path_length("rnn", 0, 1000),
    "halved-at-every-step": lambda: next(n for n in range(99) if 0.5**n <= 1 / 1000),
    "four-times-as-long": lambda: (4 * 7) ** 2 / 7**2,
    "spread-of-the-scores": spread_of_scores,
    "what-a-head-reads": read_by_head,
    "divided-by-what": lambda: (
        (torch.ones(1, 64) @ torch.ones(64, 1)).item()
        / attention_scores(torch.ones(1, 64), torch.ones(1, 64)).item()
    ),
    "a-slow-hand": lambda: sinusoidal_positions(101, 4)[100, 3].item(),
    "a-slope-of-one-half": lambda: (
        # with 8 heads the first slope is 1/2
        alibi_bias(8, 2)[0].softmax(dim=-1)[1, 1].item()
    ),
    "how-many-means": lambda: torch.randn(4, 10, 512).mean(dim=-1).numel(),
    "the-last-of-four": lambda: rms_norm(torch.tensor([1.0, 1, 1, 5]), torch.ones(4))[
        -1
    ].item(),
    "gelu-of-minus-two": lambda: gelu(torch.tensor(-2.0)).item(),
    "the-price-of-a-gate": lambda: (
        matrices(SwiGLU(16, 64)) / matrices(FeedForward(16, 64))
    ),
    "how-far-a-window-carries": lambda: reached_by(window=4, layers=5),
    "how-many-masks": hidden_by_bert,
    "twice-the-text": lambda: (2 * 9) ** 2 / 9**2,
    "weights-of-a-block": lambda: matrices(TransformerBlock(100, 4, 400)),
    "pairs-that-overlap": lambda: len(list(zip("aaaa", "aaaa"[1:], strict=False))),
    "the-last-target": last_target,
    "how-unsure": perplexity,
    "clipped-to-five": clipped,
    "how-many-stay": kept_by_top_p,
    "where-induction-looks": looked_at_from_20,
    "how-many-keys": lambda: (
        kv_cache_bytes(1, 32, 128, 64) / kv_cache_bytes(1, 4, 128, 64)
    ),
    "a-cache-in-gigabytes": lambda: kv_cache_bytes(32, 8, 128, 8192) / 1e9,
    "where-they-cross": lambda: next(
        n
        for n in range(1, 9999)
        if attention_flops(n, 512) >= feed_forward_flops(n, 2048, 512)
    ),
    "a-higher-score-comes": lambda: (
        online_softmax_sum(
            # three keys with the score 1, then two more; a value for the denominator
            [torch.ones(1, 3), torch.tensor([[3.0, 1.0]])],
            [torch.zeros(3, 1), torch.tensor([[1.0], [0.0]])],
        ).item()
        ** -1
    ),
    "a-window-or-all": lambda: (
        sum(range(1, 131_073)) / sum(min(i, 4096) for i in range(1, 131_073))
    ),
    "mean-of-means": say_of_a_target,
    "bubble-of-eight": lambda: min(
        m for m in range(99) if pipeline_bubble(8, m) <= 1 / 8
    ),
}
DRAWN = {"spread-of-the-scores": 0.1, "how-many-masks": 2}  # uncertain by a little


def test_every_number_is_recomputed():
    assert set(RECOMPUTED) == set(NUMBERS)


@pytest.mark.parametrize("name", NUMBERS)
def test_the_right_number_comes_out_of_the_code(name):
    allowed = max(QUESTIONS[name].tolerance, DRAWN.get(name, 1e-6))
    assert RECOMPUTED[name]() == pytest.approx(QUESTIONS[name].number, abs=allowed)


@pytest.mark.parametrize("name", NUMBERS)
def test_a_slip_is_told_from_the_right_number(name):
    question = QUESTIONS[name]
    for slip in question.slips:
        allowed = max(question.tolerance, 0.005 * abs(slip.number))
        assert abs(slip.number - question.number) > allowed + question.tolerance


def fitting():
    fits = []
    for shape in [(3,), (2,), (7, 1), (3, 1, 1)]:
        try:
            torch.broadcast_shapes((2, 1, 3), shape)
            fits.append(True)
        except RuntimeError:
            fits.append(False)
    return fits


def ways_of_multiplying():
    A, B = torch.randn(4, 3), torch.randn(4, 3)  # square results, so that all compare
    asked = einsum(A, B, "n k, m k -> m n")
    return [False, torch.equal(asked, A @ B.mT), torch.allclose(asked, B @ A.mT), False]


def words_of_a_row():
    x = torch.arange(4 * 10 * 8).reshape(4, 10, 8)
    row = x.reshape(10, 4, 8)[0]
    return [torch.equal(row, x[:, 0]), torch.equal(row, x[0, :4]), False]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("which-shapes-fit", fitting),
        ("axes-in-another-order", ways_of_multiplying),
        ("sentences-reshaped", words_of_a_row),
    ],
)
def test_the_right_choice_is_what_the_code_does(name, found):
    assert [option.right for option in QUESTIONS[name].options] == found()


@pytest.mark.parametrize("name", CHOICES)
def test_every_option_has_a_reply_of_its_own(name):
    replies = [option.reply for option in QUESTIONS[name].options]
    assert len(replies) == len(set(replies)) >= 3
    assert min(map(len, replies)) > 20


CHAPTERS = [path for path in files() if path.stem != "pages"]


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_a_chapter_asks_each_of_its_questions_once(path):
    notebook = nbformat.read(ROOT / "chapters" / f"{path.stem}.ipynb", as_version=4)
    code = "\n".join(cell.source for cell in notebook.cells if "ask(" in cell.source)
    asked = re.findall(r'^ask\("([^"]+)"\)$', code, re.MULTILINE)
    assert sorted(asked) == sorted(questions_of(path))
    assert 3 <= len(asked) <= 5


def test_the_other_pages_ask_each_of_theirs_once():
    pages = [ROOT / "index.md", ROOT / "closing.md", *(ROOT / "teaching").glob("*.md")]
    asked = []
    for page in pages:
        names = re.findall(r"^```{ask} (\S+)$", page.read_text("utf-8"), re.MULTILINE)
        assert names, page
        asked += names
    (path,) = (path for path in files() if path.stem == "pages")
    assert sorted(asked) == sorted(questions_of(path))


def test_the_cell_and_the_plain_text_keep_the_answers_to_themselves():
    for question in QUESTIONS.values():
        said = repr(question)
        assert "Right" not in said
        for option in question.options:
            assert option.reply not in said


def test_the_same_question_is_shown_alike_each_time():
    name = "ninety-per-cent"
    assert ask(name)._repr_html_() == ask(name)._repr_html_()


def test_texts_are_escaped_and_code_is_code():
    assert formatted("`x < 1` & *so*") == "<code>x &lt; 1</code> &amp; <em>so</em>"


def test_an_unknown_question_is_refused():
    with pytest.raises(ValueError, match="no question 'nothing'"):
        ask("nothing")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('[q]\nask = "?"', "neither options nor a number"),
        ('[q]\nask = "?"\n[[q.options]]\nwrong = "a"\nreply = "b"', "no right option"),
    ],
)
def test_a_question_that_cannot_be_answered_is_refused(tmp_path, text, problem):
    (tmp_path / "q.toml").write_text(text)
    with pytest.raises(ValueError, match=problem):
        questions_of(tmp_path / "q.toml")


@pytest.fixture(scope="module")
def page():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find(), args=list(FLAGS))
        yield browser.new_page()
        browser.close()


def shown(page, name):
    page.set_content(QUESTIONS[name]._repr_html_())
    return page.get_by_role("status")


def test_nothing_is_said_before_an_answer_is_chosen(page):
    status = shown(page, "what-adds-up-to-one")
    expect(status).to_be_empty()
    page.get_by_role("button").click()
    expect(status).to_have_text("Choose an answer first.")


def test_arrow_keys_choose_and_enter_checks(page):
    status = shown(page, "what-adds-up-to-one")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    page.keyboard.press("Enter")
    expect(status).to_contain_text("Not this one. That would be a softmax over")
    page.keyboard.press("ArrowDown")
    expect(status).to_be_empty()  # the reply was to another answer
    page.keyboard.press("Enter")
    expect(status).to_contain_text("Right.")


def test_the_group_of_answers_is_named_by_the_question(page):
    shown(page, "what-adds-up-to-one")
    group = page.get_by_role("group", name="Three queries meet five keys.")
    expect(group.get_by_role("radio", name="Each row")).to_be_visible()


def test_all_right_options_have_to_be_ticked(page):
    status = shown(page, "what-rope-turns")
    page.get_by_label("The queries").check()
    page.get_by_role("button").click()
    expect(status).to_contain_text("Not all yet.")
    page.get_by_label("The keys").check()
    page.get_by_role("button").click()
    expect(status).not_to_contain_text("Not all yet.")
    assert status.locator("p.ask-right").count() == 2


@pytest.mark.parametrize(
    ("typed", "reply"),
    [
        ("0.75", "Right."),
        ("3/4", "Right."),
        ("0,75", "Right."),
        ("0.25", "That is the share of the first"),
        ("0.5", "Raise e to each score"),
        ("much", "Type a number"),
        ("", "Type a number"),
        ("1/0", "Type a number"),
    ],
)
def test_a_number_gets_its_reply(page, typed, reply):
    status = shown(page, "share-of-the-second")
    page.get_by_label("Your answer").fill(typed)
    page.keyboard.press("Enter")
    expect(status).to_contain_text(reply)


def test_a_number_may_be_written_with_thousands(page):
    status = shown(page, "weights-of-a-block")
    page.get_by_label("Your answer").fill("120,000")
    page.keyboard.press("Enter")
    expect(status).to_contain_text("Right.")


def test_two_views_of_a_question_do_not_share_their_answer(page):
    html = QUESTIONS["what-adds-up-to-one"]._repr_html_()
    page.set_content(html + html)
    page.get_by_label("Each row").first.check()
    page.get_by_label("Each column").last.check()
    expect(page.get_by_label("Each row").first).to_be_checked()


def test_without_javascript_the_replies_unfold(page):
    bare = re.sub(
        r"<script>.*?</script>", "", QUESTIONS["ninety-per-cent"]._repr_html_()
    )
    page.set_content(bare)
    reply = page.get_by_text("one head of one layer, and what comes through")
    expect(reply).to_be_hidden()
    page.get_by_text("Token 7 decided the prediction.").click()
    expect(reply).to_be_visible()
