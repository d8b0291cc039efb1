"""A wrong answer is told what is wrong with it, by name where it has one."""

import linecache

import numpy as np
import pytest
import torch
from torch import nn

from autograder.compare import alike
from autograder.definition import Exercise, Mistake
from autograder.inputs import positive
from autograder.judge import check
from tests.engine.answers import GATE, SCALED, Gate, scaled


def answers(text):
    """The function that a learner's text defines."""
    space = {"torch": torch, "nn": nn}
    lines = text.splitlines(keepends=True)
    linecache.cache["<learner>"] = (len(text), None, lines, "<learner>")
    exec(compile(text, "<learner>", "exec"), space)
    return space["f"]


@pytest.mark.parametrize(
    ("body", "mistakes"),
    [
        ("x @ y.mT", ["unscaled"]),
        ("x @ y.mT / x.shape[-1] ** 0.5 + 1", ["one-more"]),
        ("x @ y.mT + 1", ["unscaled", "one-more"]),
    ],
)
def test_known_mistakes_are_named_alone_and_in_pairs(body, mistakes):
    verdict = check(SCALED, answers(f"def f(x, y):\n    return {body}"))
    assert [one.mistake for one in verdict.diagnosis] == mistakes
    assert "your result is right" in verdict.message


@pytest.mark.parametrize(
    ("body", "mistake", "says"),
    [
        ("(x @ y.mT / x.shape[-1] ** 0.5).mT", "wrong-shape", "(B, L, m, n)"),
        ("x @ y.mT / x.shape[-1]", "constant-factor", "1/√d"),
        ("-(x @ y.mT) / x.shape[-1] ** 0.5", "constant-factor", "-1"),
        ("x @ y.mT / x.shape[-1] ** 0.5 - 2", "constant-offset", "plus -2.00"),
        ("(x @ y.mT / x.shape[-1] ** 0.5).flip(-1)", "reversed", "axis 3"),
        ("(x @ y.mT / x.shape[-1] ** 0.5).roll(1, -2)", "shifted", "axis 2"),
        (
            "(x @ y.mT / x.shape[-1] ** 0.5).mT.reshape(*x.shape[:-1], -1)",
            "relabelled",
            "view, reshape",
        ),
        ("(x @ y.mT / x.shape[-1] ** 0.5).sum(-2)", "wrong-shape", "away (n)"),
        ("torch.einsum('...i,...i->i', x, x)[:5]", "wrong-shape", "some were summed"),
        (
            "torch.einsum('...nd,...md->nm', x, y)",
            "wrong-shape",
            "(B, L, leading axes",
        ),
        ("x @ y.mT / (2 * x.shape[-1]) ** 0.5", "constant-factor", "1/√2"),
        ("x @ y.mT / x.shape[-1]", "constant-factor", "divided by √d)"),
        (
            "(x @ y.mT).masked_fill(torch.ones(5, 7).triu(1) == 1, -torch.inf)",
            "not-finite",
            "above the diagonal",
        ),
        ("(x @ y.mT / x.shape[-1] ** 0.5).double()", "wrong-dtype", "float64"),
        ("(x @ y.mT / x.shape[-1] ** 0.5).log()", "not-finite", "NaN"),
        ("None", "returns-nothing", "`return` missing"),
        ("(x, y)", "result-form", "2 values"),
        ("(x @ y.mT / x.shape[-1] ** 0.5,)", "result-form", "a tuple or list of one,"),
        ('__import__("numpy").ones(3)', "result-form", "returns an ndarray, where"),
        ("torch.zeros(*x.shape[:-1], y.shape[-2])", "all-zero", "zeros"),
        ("x @ y.T", None, "x @ y.T"),
        ("undefined(x)", None, "NameError"),
        ("__import__('random').choice([])", None, "`return __import__('random')"),
    ],
)
def test_what_no_known_mistake_explains_is_described(body, mistake, says):
    verdict = check(SCALED, answers(f"def f(x, y):\n    return {body}"))
    assert verdict.mistake == mistake
    assert says in verdict.message


def test_an_answer_right_in_one_slice_is_told_where():
    def theirs(x, y):
        out = scaled(x, y).clone()
        out[..., 1:, :] = out[..., 1:, :] * torch.arange(1, 8)
        return out

    verdict = check(SCALED, theirs)
    assert verdict.mistake == "partly-right"
    assert "axis 2 at index 0, wrong at index 1, 2, 3, 4" in verdict.message


@pytest.mark.parametrize(
    ("text", "mistake", "says"),
    [
        (
            "def f(x, y):\n    return (x @ y.mT / x.shape[-1] ** 0.5).detach()",
            "no-gradient",
            "`x`, `y`",
        ),
        (
            "def f(x, y):\n    return x @ y.detach().mT / x.shape[-1] ** 0.5",
            "no-gradient",
            "`y`",
        ),
        (
            "def f(x, y):\n    x /= x.shape[-1] ** 0.5\n    return x @ y.mT",
            "input-changed",
            "`x`",
        ),
        (
            "def f(x, y):\n    x -= 1\n    x += 1\n    scores = (x @ y.mT).exp()\n"
            "    x += 1\n    x -= 1\n    return scores.log() / x.shape[-1] ** 0.5",
            "input-changed",
            "`x`",
        ),
        (
            "n = [0]\ndef f(x, y):\n    n[0] += 1\n"
            "    return x @ y.mT / x.shape[-1] ** 0.5 + (n[0] % 2 == 0) * 0.1",
            "differs-when-repeated",
            "second time",
        ),
        (
            "def f(x, y):\n    scores = x @ y.mT\n"
            "    out = torch.zeros(scores.shape, dtype=x.dtype)\n"
            "    return out + x @ y.mT / x.shape[-1] ** 0.5",
            "left-on-cpu",
            "torch.zeros_like",
        ),
        (
            "def f(x, y):\n    return x.float() @ y.float().mT / x.shape[-1] ** 0.5",
            "wrong-dtype",
            "float32, where float64",
        ),
    ],
)
def test_what_every_answer_owes_is_checked(text, mistake, says):
    verdict = check(SCALED, answers(text))
    assert verdict.status == "failed"
    assert verdict.mistake == mistake
    assert says in verdict.message


@pytest.mark.parametrize(
    "text",
    [
        "def f(a, b):\n    return a @ b.mT / a.shape[-1] ** 0.5",
        "def f(x, y):\n    return (x.double() @ y.double().mT"
        " * x.shape[-1] ** -0.5).to(x.dtype)",
        "def f(x, y):\n    return torch.einsum('...nd,...md->...mn', x, y).mT"
        " / x.shape[-1] ** 0.5",
        "def f(x, y, extra=None):\n    print('looking', x.shape)\n"
        "    return torch.cdist(x, x)[..., :1].mul(0) + x @ y.mT / x.shape[-1] ** 0.5",
    ],
)
def test_right_answers_in_any_style_pass(text):
    assert check(SCALED, answers(text)).status == "passed"


class NoProjection(Gate):
    def forward(self, x):
        return torch.tanh(self.W_a(x))


class Renamed(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.first = nn.Linear(d_model, d_model)
        self.W_b = nn.Linear(d_model, d_model, bias=False)


class Listed(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.W_all = [nn.Linear(d_model, d_model, bias=False) for _ in range(2)]


class Unregistered(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.W_a, self.W_b = torch.randn(2, d_model, d_model)


class Shared(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.W_a = nn.Linear(d_model, d_model)
        self.W_b = self.W_a


class Wide(Gate):
    def __init__(self, d_model, num_heads):
        super().__init__(d_model, num_heads)
        self.W_b = nn.Linear(d_model, 2 * d_model, bias=False)


class Unchecked(Gate):
    def __init__(self, d_model, num_heads):
        super().__init__(d_model, 1)
        self.num_heads = num_heads


class Forgetful(Gate):
    def __init__(self, d_model, num_heads):
        super().__init__(d_model, num_heads)
        del self.num_heads


class Mischecked(Gate):
    def __init__(self, d_model, num_heads):
        if d_model % num_heads:
            raise RuntimeError("no")
        super().__init__(d_model, num_heads)


class Exchanged(Gate):
    def __init__(self, num_heads, d_model):
        super().__init__(d_model, num_heads)


class Plain:
    def __init__(self, d_model, num_heads):
        pass


@pytest.mark.parametrize(
    ("theirs", "mistake", "says"),
    [
        (NoProjection, "unused", "`W_b.weight`"),
        (Renamed, "parameter-missing", "`W_a.weight`, `W_a.bias`"),
        (Listed, "parameter-missing", "`W_all` is a plain list"),
        (Unregistered, "parameter-missing", "`W_a` is a plain tensor"),
        (Shared, "parameter-missing", "`W_b.weight` is the same tensor as `W_a."),
        (Wide, "parameter-shape", "(120, 60)"),
        (Unchecked, "not-refused", "10 features in 4 heads"),
        (Forgetful, "attribute-not-kept", "`num_heads`"),
        (Mischecked, "wrong-exception", "RuntimeError"),
        (Plain, "no-module", "nn.Module"),
    ],
)
def test_what_is_wrong_with_a_module_is_said(theirs, mistake, says):
    verdict = check(GATE, theirs)
    assert verdict.mistake == mistake
    assert says in verdict.message


def test_a_constructor_that_takes_its_arguments_in_another_order_fails():
    assert check(GATE, Exchanged).status in ("failed", "error")


def test_a_module_with_buffers_and_attributes_of_its_own_passes():
    class Buffered(Gate):
        def __init__(self, d_model, num_heads):
            super().__init__(d_model, num_heads)
            self.register_buffer("mask", torch.ones(4, 4))
            self.note = "mine"

    assert check(GATE, Buffered).status == "passed"


def rows(x):
    return x / x.sum(-1, keepdim=True)


def doubles(theirs, x):
    """twice the input gives the same"""
    return torch.allclose(theirs(x=2 * x["x"]), theirs(x=x["x"]))


SHARES = Exercise(
    rows,
    inputs={"rows": {"x": positive("B n m")}},
    hints=["one", "two", "three"],
    properties=[doubles],
    mistakes=[
        Mistake("columns", "The columns are normalised.", wrong=lambda x: x / x.sum(-2))
    ],
)


def test_a_property_that_fails_is_said_by_its_name():
    seen = []

    def theirs(x):  # right for the trials' inputs only
        seen.append(x)
        return rows(x) if float(x.detach().max()) <= 2 else rows(x) * 2

    verdict = check(SHARES, theirs)
    assert "twice the input gives the same" in verdict.message
    assert [c.name for c in verdict.checks if not c.passed] == [doubles.__doc__]


def test_rows_that_do_not_add_up_to_one_are_told():
    verdict = check(SHARES, lambda x: x / x.sum(-2, keepdim=True))
    assert verdict.mistake == "rows-not-one"
    assert "the normalised axis is wrong" in verdict.message


def test_a_mistake_seen_in_one_case_only_is_not_said_to_be_all():
    def theirs(x):
        return x / x.sum(-2, keepdim=True) if x.shape[1] == 1 else torch.zeros_like(x)

    assert "Apart from that" not in check(SHARES, theirs).message


def test_the_smallest_example_is_small_and_shows_the_difference():
    example = check(SCALED, lambda x, y: x @ y.mT).example
    assert example.title == "one query, d = 2, one key"
    assert example.rows[0].expected != example.rows[0].yours


def test_the_verdict_is_the_same_twice():
    wrong = answers("def f(x, y):\n    return x @ y.mT")
    assert check(SCALED, wrong) == check(SCALED, wrong)


@pytest.mark.parametrize(
    ("body", "mistake", "says"),
    [
        (
            "x @ y.mT / x.shape[-1] ** 0.5 + (0 * x).sqrt().sum(-1, keepdim=True)",
            "gradient-not-finite",
            "`x`",
        ),
    ],
)
def test_a_gradient_that_is_not_finite_is_told(body, mistake, says):
    verdict = check(SCALED, answers(f"def f(x, y):\n    return {body}"))
    assert verdict.mistake == mistake
    assert says in verdict.message


def above(n):
    """The reference of an exercise whose result is a mask."""
    return torch.ones(n, n, dtype=torch.bool).triu()


def test_a_mask_of_numbers_is_told_to_be_bool():
    exercise = Exercise(above, inputs={"a mask": {"n": 4}}, hints=["1", "2", "3"])
    verdict = check(exercise, answers("def f(n):\n    return torch.ones(n, n).triu()"))
    assert verdict.mistake == "wrong-dtype"
    assert "where bool is asked for" in verdict.message


def test_a_case_with_a_number_for_an_axis_has_an_example():
    exercise = Exercise(
        SCALED.reference,
        inputs={"four": {"x": positive("n 4"), "y": positive("m 4")}},
        hints=["1", "2", "3"],
    )
    verdict = check(exercise, answers("def f(x, y):\n    return x @ y.mT"))
    assert verdict.mistake == "constant-factor"
    assert verdict.example is not None


def test_an_operation_that_torch_lacks_excuses_half_precision_only():
    # torch has no `&` for floating-point numbers
    verdict = check(SCALED, answers("def f(x, y):\n    return 1.0 * (x > 0) & (x < 9)"))
    assert verdict.status == "error"
    assert "not implemented for" in verdict.message


def test_an_operation_that_torch_lacks_in_half_precision_is_nobodys_mistake():
    verdict = check(
        SCALED,
        answers(
            "def f(x, y):\n"
            "    if x.dtype == torch.float16:\n"
            "        raise RuntimeError('\"mm\" not implemented for \\'Half\\'')\n"
            "    return x @ y.mT / x.shape[-1] ** 0.5"
        ),
    )
    assert verdict.passed


def test_what_overflows_in_half_precision_is_said_to_be_right_in_float32():
    # 1e4 * x fits into float16, the products don't
    body = "(1e4 * x) @ y.mT / 1e4 / x.shape[-1] ** 0.5"
    verdict = check(SCALED, answers(f"def f(x, y):\n    return {body}"))
    assert "In float32 the same code is right" in verdict.message
    assert "x.float()" in verdict.message


class Biased(Gate):
    def __init__(self, d_model, num_heads):
        super().__init__(d_model, num_heads)
        self.W_b = nn.Linear(d_model, d_model)


def test_parameters_that_nothing_loads_are_told():
    verdict = check(GATE, Biased)
    assert verdict.mistake == "extra-parameters"
    assert "`W_b.bias`" in verdict.message


class Dropping(Gate):
    def forward(self, x):
        return nn.functional.dropout(super().forward(x), 0.3)


def test_a_dropout_is_told_by_the_second_call():
    verdict = check(GATE, Dropping)
    assert verdict.mistake == "differs-when-repeated"
    assert "drawn at random" in verdict.message


def test_the_search_for_a_small_example_warns_of_nothing(recwarn):
    # `std` warns where a smaller example has one number only
    body = "(x @ y.mT / x.shape[-1] ** 0.5).std(-1, keepdim=True)"
    assert check(SCALED, answers(f"def f(x, y):\n    return {body}")).example
    assert not recwarn.list


def test_a_mistake_that_is_wrong_in_float32_is_no_cause_in_half_precision():
    case = SCALED.inputs["rows and columns"]
    exercise = Exercise(
        scaled,
        inputs={"rows and columns": case, "again": case},
        hints=["one", "two", "three"],
        mistakes=[Mistake("zeros", "All is 0.", wrong=lambda x, y: 0 * scaled(x, y))],
    )
    body = "x @ y.mT / x.shape[-1] ** 0.5 * (x.dtype != torch.half)"
    verdict = check(exercise, answers(f"def f(x, y):\n    return {body}"))
    assert verdict.mistake != "zeros"
    assert "In float32 the same code is right" in verdict.message


def test_a_result_that_is_a_little_off_is_not_called_one_time_the_right_one():
    body = "x @ y.mT / x.shape[-1] ** 0.5 * 1.0001"
    verdict = check(SCALED, answers(f"def f(x, y):\n    return {body}"))
    assert not verdict.passed
    assert "1 times" not in verdict.message


def twice_gives_twice(theirs, x):
    """twice x gives twice the result"""
    return torch.allclose(theirs(**x | {"x": 2 * x["x"]}), 2 * theirs(**x))


def test_what_no_known_mistake_explains_is_held_against_the_properties():
    exercise = Exercise(
        scaled,
        inputs=SCALED.inputs,
        hints=SCALED.hints,
        properties=[twice_gives_twice],
    )
    last = check(exercise, lambda x, y: (x @ y.mT) ** 2).diagnosis[-1]
    assert last.message.startswith("It should hold that twice x gives twice")


def test_numbers_that_are_nearly_right_are_not_called_misplaced():
    verdict = check(SCALED, lambda x, y: scaled(x, y) + 1e-4 * torch.sin(x[..., :1]))
    assert verdict.mistake == "nearly-right"


def test_a_float_of_numpy_is_a_float():
    def half(n):
        """The reference of a small exercise."""
        return n / 2

    exercise = Exercise(half, inputs={"three": {"n": 3}}, hints=["1", "2", "3"])
    assert check(exercise, lambda n: np.float64(1.5)).passed
    assert not check(exercise, lambda n: np.float64(2.5)).passed


def powers(x, exponent=2):
    """The reference of an exercise with a default."""
    return x**exponent


POWERS = Exercise(
    powers,
    inputs={
        "by default": {"x": positive("n 3")},
        "cubes": {"x": positive("n 3"), "exponent": 3},
    },
    hints=["", "", ""],
)


def test_a_wrong_default_is_described():
    verdict = check(POWERS, answers("def f(x, exponent=4):\n    return x**exponent"))
    assert "where `exponent` is left out; its default is 2" in verdict.message


def test_a_result_drawn_at_random_is_described():
    verdict = check(
        SCALED,
        answers("def f(x, y):\n    return x @ y.mT + torch.rand(5, 7)"),
    )
    assert verdict.mistake == "differs-when-repeated"


def test_shapes_with_numbers_are_told():
    # The error's message tells the shapes of the inputs.
    verdict = check(POWERS, answers("def f(x, exponent=2):\n    return x @ x"))
    assert "The inputs were x (5, 3)" in verdict.message


def strict(x):
    """The reference of an exercise that refuses zeros."""
    if bool((x <= 0).any()):
        raise ValueError("not positive")
    return x.log()


def stricter(x, *, most=10.0):
    if bool((x > most).any()):
        raise ValueError("too large")
    return strict(x)


STRICT = Exercise(
    strict,
    inputs={"numbers": {"x": positive("n m")}},
    hints=["", "", ""],
    twin=stricter,
    mistakes=[Mistake("large-refused", "Numbers above 1 are refused.", most=1.0)],
)


def test_a_refusal_is_the_same_in_other_words():
    text = "def f(x):\n    assert x.max() <= 1, 'out of range'\n    return x.log()"
    assert check(STRICT, answers(text)).mistake == "large-refused"


class Renamed(Gate):
    def __init__(self, d_model, num_heads):
        super().__init__(d_model, num_heads)
        for i in range(9):
            setattr(self, f"V_{i}", nn.Linear(d_model, 1, bias=False))
        for name, _ in list(Gate(d_model, num_heads).named_children()):
            delattr(self, name)


def test_of_many_parameters_the_first_are_told():
    message = check(GATE, Renamed).message
    assert "`V_5.weight` and 3 more" in message
    assert "V_6" not in message


def test_a_number_as_text_is_told():
    def twice(n):
        """The reference of a small exercise."""
        return 2 * n

    exercise = Exercise(twice, inputs={"three": {"n": 3}}, hints=["1", "2", "3"])
    message = check(exercise, lambda n: str(2 * n)).message
    assert "returns the text '6', where the int 6" in message


def test_a_result_without_numbers_is_judged():
    verdict = check(SCALED, answers("def f(x, y):\n    return (x @ y.mT)[..., :0]"))
    assert not verdict.passed
    assert "shape" in verdict.message
    assert "no numbers" in verdict.example.rows[0].yours


def test_complex_numbers_are_told_from_other_complex_numbers():
    near = {"kind": "one tensor", "out": torch.ones(3) + 1j}
    far = {"kind": "one tensor", "out": torch.ones(3) - 1j}
    assert alike(near, near, 1e-5)
    assert not alike(near, far, 1e-5)
    assert not alike(near, near | {"out": torch.ones(3)}, 1e-5)


def test_a_mistake_without_a_parameter_explains_no_answer_that_has_it():
    made = {"kind": "module", "parameters": {"W": [2]}}
    more = {"kind": "module", "parameters": {"W": [2], "b": [2], "own": [3]}}
    assert alike(made, more, 1e-5)
    assert not alike(made, more, 1e-5, asked={"W": [2], "b": [2]})
    assert alike(made, more, 1e-5, asked={"W": [2]})
