"""Chapter 6: slips are caught and named, unusual right answers are accepted."""

import pytest

from tests.mistakes.answers import check_source, slipped

IMPORTS = (
    "import math\nimport torch\nfrom einops import einsum, rearrange\n"
    "from torch import nn\nfrom torch.nn import functional as F\n\n\n"
)


@pytest.mark.parametrize(
    ("body", "mistake"),
    [
        (
            "x / 2 * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))",
            "tanh-approximation",
        ),
        (
            "0.5 * x * (1 + torch.tanh(0.79788456 * (x + 0.044715 * x.pow(3))))",
            "tanh-approximation",
        ),
        (
            "x * torch.sigmoid(1.5957691216 * (x + 0.044715 * x**3))",
            "tanh-approximation",
        ),
        (
            "0.5 * x * (1 + torch.tanh(2 / math.pi * (x + 0.044715 * x**3)))",
            "tanh-without-root",
        ),
        (
            "0.5 * x * (1 + torch.tanh((2 / math.pi) ** 0.5 * (x + 0.044715 * x**2)))",
            "tanh-with-square",
        ),
        ("x * torch.sigmoid(1.702 * x)", "sigmoid-approximation"),
        ("x * torch.sigmoid(x)", "silu"),
        ("F.silu(x)", "silu"),
        ("torch.relu(x)", "relu"),
        ("x.clamp(min=0)", "relu"),
        ("0.5 * x * (1 + torch.erf(x))", "root-two-missing"),
        ("0.5 * x * (1 + torch.erf(x * math.sqrt(2)))", "times-root-two"),
        ("0.5 * x * (1 + torch.erf(x / 2))", "two-without-root"),
        ("0.5 * x * (1 + torch.erf(x / math.sqrt(2 * math.pi)))", "root-of-two-pi"),
        ("0.5 * x * (1 + torch.tanh(x / math.sqrt(2)))", "tanh-for-erf"),
        ("x * (1 + torch.erf(x / math.sqrt(2)))", "half-missing"),
        ("0.5 * x * torch.erf(x / math.sqrt(2))", "one-missing"),
        ("x * torch.erf(x / math.sqrt(2))", "erf-alone"),
        ("0.5 * x * (1 - torch.erf(x / math.sqrt(2)))", "other-tail"),
        ("0.5 * x * torch.erfc(x / math.sqrt(2))", "other-tail"),
        (
            "x * torch.exp(-x**2 / 2) / math.sqrt(2 * math.pi)",
            "density-for-distribution",
        ),
        (
            "x * torch.distributions.Normal(0, 1).log_prob(x).exp()",
            "density-for-distribution",
        ),
        ("0.5 * (1 + torch.erf(x / math.sqrt(2)))", "cdf-alone"),
        ("x + 0.5 * (1 + torch.erf(x / math.sqrt(2)))", "cdf-added"),
        ("0.5 * x * 1 + torch.erf(x / math.sqrt(2))", "bracket-left-out"),
        ("x * (1 + 0.5 * torch.erf(x / math.sqrt(2)))", "bracket-before-the-half"),
        ("0.5 * (x + torch.erf(x / math.sqrt(2)))", "x-in-the-bracket"),
        ("F.softplus(x)", "softplus"),
        ("F.mish(x)", "mish"),
        ("F.elu(x)", "elu"),
        ("F.leaky_relu(x)", "leaky-relu"),
        ("(0.5 * x * (1 + torch.erf(x / math.sqrt(2)))).relu()", "negative-cut-off"),
        ("x * (0.5 * (1 + torch.erf(x / math.sqrt(2)))).detach()", "share-detached"),
        ("0.5 * x * (1 + torch.erf(x / math.sqrt(2))).detach()", "share-detached"),
        ("(0.5 * x * (1 + torch.erf(x / math.sqrt(2)))).detach()", "no-gradient"),
        ("(0.5 * x * (1 + torch.erf(x / math.sqrt(2)))).float()", "wrong-dtype"),
        ("x.mul_(0.5 * (1 + torch.erf(x / math.sqrt(2))))", "input-changed"),
        (
            "torch.tensor([0.5 * v * (1 + math.erf(v / 2**0.5))"
            " for v in x.flatten().tolist()]).reshape(x.shape)",
            "no-gradient",
        ),
        ("F.gelu(x)", "forbidden-built-in"),
        ("F.gelu(x, approximate='tanh')", "forbidden-built-in"),
        ("nn.GELU()(x)", "forbidden-built-in"),
        ("torch.ops.aten.gelu(x)", "forbidden-built-in"),
        ("torch._C._nn.gelu(x)", "forbidden-built-in"),
        ("getattr(F, 'ge' + 'lu')(x.double()).to(x.dtype)", "forbidden-built-in"),
    ],
)
def test_wrong_gelu_is_named(body, mistake):
    verdict = check_source(f"{IMPORTS}def gelu(x):\n    return {body}\n")
    assert not verdict.passed
    assert verdict.mistake == mistake, verdict.message


@pytest.mark.parametrize(
    "body",
    [
        "x * 0.5 * (1.0 + torch.erf(x / math.sqrt(2.0)))",
        "0.5 * x + 0.5 * x * torch.erf(x * 0.7071067811865476)",
        "x * torch.special.ndtr(x)",
        "0.5 * x * torch.erfc(-x / math.sqrt(2))",
        "0.5 * x * torch.special.erfc(-x * 2**-0.5)",
        "x * torch.distributions.Normal(0.0, 1.0).cdf(x)",
        "x * torch.distributions.Normal(torch.tensor(0.0), torch.tensor(1.0)).cdf(x)",
        "(x.double() * (1 + (x.double() / 2**0.5).erf()) / 2).to(x.dtype)",
        "x * torch.exp(torch.special.log_ndtr(x.float())).to(x.dtype)",
        "(x * torch.special.ndtr(x.float())).to(x.dtype)",
        "x - 0.5 * x * torch.erfc(x / math.sqrt(2))",
        "x.relu() - x.abs() * torch.erfc(x.abs() / math.sqrt(2)) / 2",
        "torch.erf(x / torch.tensor(2.0, dtype=x.dtype, device=x.device).sqrt())"
        ".add(1).mul(x).div(2)",
    ],
)
def test_unusual_gelu_is_accepted(body):
    verdict = check_source(f"{IMPORTS}def gelu(x):\n    return {body}\n")
    assert verdict.status == "passed", verdict.message


FEED_FORWARD = f"""
{IMPORTS}
class FeedForward(nn.Module):
    def __init__(self, d_model, ff_dim):
        super().__init__()
        self.W_1 = nn.Linear(d_model, ff_dim)
        self.W_2 = nn.Linear(ff_dim, d_model)

    def forward(self, x):
        h = self.W_1(x)
        h = F.gelu(h)
        return self.W_2(h)
"""

LAST = "return self.W_2(h)"


@pytest.mark.parametrize(
    ("right", "slip", "mistake"),
    [
        ("h = F.gelu(h)", "pass", "no-activation"),
        ("F.gelu(h)", "F.gelu(h, approximate='tanh')", "tanh-approximation"),
        ("F.gelu(h)", "nn.GELU(approximate='tanh')(h)", "tanh-approximation"),
        ("F.gelu(h)", "h * torch.sigmoid(1.702 * h)", "sigmoid-approximation"),
        ("F.gelu(h)", "F.relu(h)", "relu"),
        ("F.gelu(h)", "F.silu(h)", "silu"),
        ("F.gelu(h)", "torch.tanh(h)", "tanh"),
        ("F.gelu(h)", "torch.sigmoid(h)", "sigmoid"),
        ("F.gelu(h)", "F.softmax(h, dim=-1)", "softmax"),
        ("F.gelu(h)", "F.leaky_relu(h)", "leaky-relu"),
        ("F.gelu(h)", "F.gelu(F.gelu(h))", "activation-twice"),
        ("F.gelu(h)", "F.dropout(F.gelu(h), 0.1)", "dropout-inside"),
        ("F.gelu(h)", "F.dropout(F.gelu(h), 0.3)", "differs-when-repeated"),
        ("F.gelu(h)", "F.gelu(h).detach()", "hidden-detached"),
        ("F.gelu(h)", "F.gelu(h.detach())", "hidden-detached"),
        (LAST, "return F.gelu(self.W_2(h))", "activation-after-both"),
        (LAST, "return x + self.W_2(h)", "residual-added"),
        (LAST, "return F.dropout(self.W_2(h), 0.1)", "dropout-in-the-end"),
        (LAST, "return h", "second-matrix-missing"),
        (LAST, "return h @ self.W_2.weight.T", "second-bias-missing"),
        (
            LAST,
            "return F.linear(h, self.W_1.weight.T, self.W_2.bias)",
            "second-matrix-tied",
        ),
        (LAST, "self.W_2(h)", "returns-nothing"),
        ("h = self.W_1(x)", "h = x @ self.W_1.weight.T", "first-bias-missing"),
        (
            "h = self.W_1(x)",
            "h = self.W_1(F.layer_norm(x, x.shape[-1:]))",
            "normed-first",
        ),
        ("nn.Linear(d_model, ff_dim)", "nn.Linear(ff_dim, d_model)", "parameter-shape"),
        (
            "nn.Linear(d_model, ff_dim)",
            "nn.Linear(d_model, 4 * d_model)",
            "parameter-shape",
        ),
        (
            "nn.Linear(d_model, ff_dim)",
            "nn.Linear(d_model, ff_dim, bias=False)",
            "parameter-missing",
        ),
    ],
)
def test_slip_in_the_feed_forward_network_is_named(right, slip, mistake):
    verdict = slipped(FEED_FORWARD, right, slip)
    assert verdict.mistake == mistake, verdict.message


@pytest.mark.parametrize(
    ("lines", "mistake"),
    [
        ("return F.gelu(self.W_2(self.W_1(x)))", "activation-in-the-end"),
        ("return self.W_2(self.W_1(F.gelu(x)))", "activation-first"),
        ("return self.W_1(F.gelu(self.W_2(x)))", "matrices-exchanged"),
        ("return self.W_2(self.W_1(x) * F.gelu(self.W_1(x)))", None),
        ("return self.W_2(F.gelu(self.W_1(x.flatten(0, 1))))", None),
        (
            "return self.W_2(F.gelu(self.W_1(x.mean(-2, True)))).expand(x.shape)",
            None,
        ),
    ],
)
def test_wrong_forward_is_named(lines, mistake):
    source = (
        FEED_FORWARD[: FEED_FORWARD.index("        h = self")] + f"        {lines}\n"
    )
    verdict = check_source(source)
    assert not verdict.passed
    assert verdict.message
    if mistake is not None:
        assert verdict.mistake == mistake, verdict.message


NETWORKS = {
    "by einsum": """
    def __init__(self, d_model, ff_dim):
        super().__init__()
        self.W_1, self.W_2 = nn.Linear(d_model, ff_dim), nn.Linear(ff_dim, d_model)

    def forward(self, x):
        h = einsum(x, self.W_1.weight, "... c, f c -> ... f") + self.W_1.bias
        h = h * 0.5 * (1 + torch.erf(h / 2**0.5))
        return torch.einsum("...f,cf->...c", h, self.W_2.weight) + self.W_2.bias
    """,
    "a module of its own for the activation": """
    def __init__(self, d_model: int, ff_dim: int, dropout: float = 0.0):
        super().__init__()
        self.ff_dim = ff_dim
        self.activation = nn.GELU()
        self.dropout = nn.Dropout(dropout)
        self.W_2 = nn.Linear(ff_dim, d_model)
        self.W_1 = nn.Linear(d_model, ff_dim)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.W_2(self.dropout(self.activation(self.W_1(x))))
    """,
    "in chunks of the hidden features": """
    def __init__(self, d_model, ff_dim):
        super().__init__()
        self.W_1 = nn.Linear(d_model, ff_dim)
        self.W_2 = nn.Linear(ff_dim, d_model)

    def forward(self, x):
        out = self.W_2.bias
        pieces = zip(self.W_1.weight.split(5), self.W_1.bias.split(5),
                     self.W_2.weight.split(5, 1))
        for W, b, V in pieces:
            out = out + F.gelu(x @ W.T + b) @ V.T
        return out
    """,
    "flattened": """
    def __init__(self, d_model, ff_dim):
        super().__init__()
        self.W_1 = nn.Linear(d_model, ff_dim)
        self.W_2 = nn.Linear(ff_dim, d_model)
        nn.init.zeros_(self.W_1.bias)

    def forward(self, x):
        h = torch.addmm(self.W_1.bias, x.reshape(-1, x.shape[-1]), self.W_1.weight.t())
        h = torch.addmm(self.W_2.bias, h * torch.special.ndtr(h.float()).to(h.dtype),
                        self.W_2.weight.t())
        return h.view_as(x)
    """,
    "as convolutions": """
    def __init__(self, d_model, ff_dim):
        super().__init__()
        self.W_1 = nn.Linear(d_model, ff_dim)
        self.W_2 = nn.Linear(ff_dim, d_model)

    def forward(self, x):
        h = x.reshape(1, -1, x.shape[-1]).transpose(1, 2)
        h = F.gelu(F.conv1d(h, self.W_1.weight[..., None], self.W_1.bias))
        h = F.conv1d(h, self.W_2.weight[..., None], self.W_2.bias)
        return h.transpose(1, 2).reshape(x.shape)
    """,
    "parameters registered under the names": """
    def __init__(self, d_model, ff_dim):
        super().__init__()
        self.add_module("W_1", nn.Linear(in_features=d_model, out_features=ff_dim))
        self.add_module("W_2", nn.Linear(in_features=ff_dim, out_features=d_model))
        self.net = nn.Sequential(self.W_1, nn.GELU(), self.W_2)

    def forward(self, x):
        return self.net(x)
    """,
}


@pytest.mark.parametrize("style", NETWORKS)
def test_unusual_feed_forward_network_is_accepted(style):
    verdict = check_source(f"{IMPORTS}class FeedForward(nn.Module):{NETWORKS[style]}\n")
    assert verdict.status == "passed", verdict.message


SWIGLU = f"""
{IMPORTS}
class SwiGLU(nn.Module):
    def __init__(self, d_model, ff_dim):
        super().__init__()
        self.W_gate = nn.Linear(d_model, ff_dim, bias=False)
        self.W_up = nn.Linear(d_model, ff_dim, bias=False)
        self.W_down = nn.Linear(ff_dim, d_model, bias=False)

    def forward(self, x):
        gate = self.W_gate(x)
        up = self.W_up(x)
        hidden = F.silu(gate) * up
        return self.W_down(hidden)
"""

HIDDEN = "F.silu(gate) * up"


@pytest.mark.parametrize(
    ("right", "slip", "mistake"),
    [
        (HIDDEN, "torch.sigmoid(gate) * up", "sigmoid-gate"),
        (HIDDEN, "F.glu(torch.cat([up, gate], -1), -1)", "sigmoid-gate"),
        (HIDDEN, "F.silu(up) * gate", "gate-and-up-exchanged"),
        (HIDDEN, "F.silu(gate * up)", "silu-on-the-product"),
        (HIDDEN, "F.silu(gate) * F.silu(up)", "silu-on-both"),
        (HIDDEN, "gate * F.silu(gate) * up", "multiplied-by-the-gate-once-more"),
        (HIDDEN, "F.relu(gate) * up", "relu-gate"),
        (HIDDEN, "F.gelu(gate) * up", "gelu-gate"),
        (HIDDEN, "F.gelu(gate, approximate='tanh') * up", "tanh-gelu-gate"),
        (HIDDEN, "gate * torch.sigmoid(1.702 * gate) * up", "quick-gelu-gate"),
        (HIDDEN, "torch.tanh(gate) * up", "tanh-gate"),
        (HIDDEN, "gate.softmax(-1) * up", "softmax-gate"),
        (HIDDEN, "gate * up", "no-activation"),
        (HIDDEN, "F.silu(gate)", "up-missing"),
        (HIDDEN, "up", "gate-missing"),
        (HIDDEN, "F.silu(up)", "silu-of-up-alone"),
        (HIDDEN, "F.silu(gate) * gate", "gate-used-twice"),
        (HIDDEN, "F.silu(up) * up", "up-used-twice"),
        (HIDDEN, "F.silu(gate) + up", "added"),
        (HIDDEN, "gate * torch.sigmoid(up)", None),
        (HIDDEN, "F.silu(gate.detach()) * up", "gate-detached"),
        (HIDDEN, "F.silu(gate) * up.detach()", "up-detached"),
        ("self.W_up(x)", "self.W_gate(x)", "gate-used-twice"),
        ("self.W_down(hidden)", "x + self.W_down(hidden)", "residual-added"),
        ("self.W_down(hidden)", "F.silu(self.W_down(gate * up))", "silu-in-the-end"),
        ("self.W_down(hidden)", "hidden", "down-missing"),
        (
            "self.W_gate = nn.Linear(d_model, ff_dim, bias=False)",
            "self.W_gate = nn.Linear(d_model, ff_dim)",
            "extra-parameters",
        ),
        (
            "nn.Linear(ff_dim, d_model, bias=False)",
            "nn.Linear(ff_dim, d_model)",
            "extra-parameters",
        ),
        (
            "self.W_gate = nn.Linear(d_model, ff_dim, bias=False)",
            "ff_dim = int(2 * ff_dim / 3)\n"
            "        self.W_gate = nn.Linear(d_model, ff_dim, bias=False)",
            "parameter-shape",
        ),
        (
            "nn.Linear(ff_dim, d_model, bias=False)",
            "nn.Linear(d_model, ff_dim, bias=False)",
            "parameter-shape",
        ),
    ],
)
def test_slip_in_swiglu_is_named(right, slip, mistake):
    verdict = slipped(SWIGLU, right, slip)
    if mistake is not None:
        assert verdict.mistake == mistake, verdict.message


def test_biases_in_swiglu_are_named():
    verdict = check_source(SWIGLU.replace(", bias=False", ""))
    assert verdict.mistake == "biased"


def test_other_names_in_swiglu_are_told():
    verdict = check_source(SWIGLU.replace("W_gate", "w1"))
    assert verdict.mistake == "parameter-missing"
    assert "W_gate.weight" in verdict.message


GATED = {
    "SiLU by its formula": """
    def __init__(self, d_model, ff_dim):
        super().__init__()
        for name in ("W_up", "W_gate"):
            setattr(self, name, nn.Linear(d_model, ff_dim, False))
        self.W_down = nn.Linear(ff_dim, d_model, False)

    def forward(self, x):
        z = self.W_gate(x)
        return self.W_down(z * torch.sigmoid(z) * self.W_up(x))
    """,
    "one product for both": """
    def __init__(self, d_model, ff_dim):
        super().__init__()
        self.W_gate = nn.Linear(d_model, ff_dim, bias=False)
        self.W_up = nn.Linear(d_model, ff_dim, bias=False)
        self.W_down = nn.Linear(ff_dim, d_model, bias=False)

    def forward(self, x):
        W = torch.cat([self.W_gate.weight, self.W_up.weight])
        gate, up = F.linear(x, W).chunk(2, dim=-1)
        return F.linear(F.silu(gate).mul(up), self.W_down.weight)
    """,
    "biases of zero": """
    def __init__(self, d_model, ff_dim):
        super().__init__()
        self.W_gate = nn.Linear(d_model, ff_dim)
        self.W_up = nn.Linear(d_model, ff_dim)
        self.W_down = nn.Linear(ff_dim, d_model)
        for one in (self.W_gate, self.W_up, self.W_down):
            nn.init.zeros_(one.bias)

    def forward(self, x):
        return self.W_down(nn.SiLU()(self.W_gate(x)) * self.W_up(x))
    """,
    "GLU with the rest": """
    def __init__(self, d_model, ff_dim):
        super().__init__()
        self.W_gate = nn.Linear(d_model, ff_dim, bias=False)
        self.W_up = nn.Linear(d_model, ff_dim, bias=False)
        self.W_down = nn.Linear(ff_dim, d_model, bias=False)
        self.act = nn.SiLU(inplace=True)

    def forward(self, x):
        gate = self.W_gate(x)
        return self.W_down(F.glu(torch.cat([gate * self.W_up(x), gate], -1)))
    """,
    "in place": """
    def __init__(self, d_model, ff_dim):
        super().__init__()
        self.W_gate = nn.Linear(d_model, ff_dim, bias=False)
        self.W_up = nn.Linear(d_model, ff_dim, bias=False)
        self.W_down = nn.Linear(ff_dim, d_model, bias=False)

    def forward(self, x):
        h = F.silu(self.W_gate(x), inplace=True)
        return self.W_down(torch.einsum("...f,...f->...f", h, self.W_up(x)))
    """,
}


@pytest.mark.parametrize("style", GATED)
def test_unusual_swiglu_is_accepted(style):
    verdict = check_source(f"{IMPORTS}class SwiGLU(nn.Module):{GATED[style]}\n")
    assert verdict.status == "passed", verdict.message


@pytest.mark.parametrize(
    ("body", "mistake"),
    [
        ("int(2 / 3 * 4 * d_model) // multiple_of * multiple_of", "rounded-down"),
        (
            "round(8 * d_model / 3 / multiple_of) * multiple_of",
            "rounded-to-the-nearest",
        ),
        (
            "(8 * d_model // 3 // multiple_of + 1) * multiple_of",
            "one-multiple-too-many",
        ),
        (
            "(8 * d_model // 3 + multiple_of) // multiple_of * multiple_of",
            "one-multiple-too-many",
        ),
        ("int(8 * d_model / 3)", "not-rounded"),
        ("8 * d_model // 3", "not-rounded"),
        ("math.ceil(8 * d_model / 3)", "rounded-up-to-an-int-only"),
        ("math.ceil(8 * d_model / 3 / 256) * 256", "multiple-ignored"),
        ("math.ceil(8 * d_model / 3 / multiple_of)", "multiples-counted"),
        ("math.ceil(4 * d_model / multiple_of) * multiple_of", "two-thirds-missing"),
        ("math.ceil(2 * d_model / 3 / multiple_of) * multiple_of", "four-missing"),
        ("math.ceil(3 / 2 * 4 * d_model / multiple_of) * multiple_of", "three-halves"),
        ("math.ceil(4 * d_model / 3 / multiple_of) * multiple_of", "one-third"),
        ("math.ceil(2 * d_model / multiple_of) * multiple_of", "half"),
        (
            "math.ceil(0.667 * 4 * d_model / multiple_of) * multiple_of",
            "two-thirds-approximated",
        ),
        (
            "math.ceil(0.67 * 4 * d_model / multiple_of) * multiple_of",
            "two-thirds-as-0.67",
        ),
        (
            "math.ceil(0.66 * 4 * d_model / multiple_of) * multiple_of",
            "two-thirds-cut-off",
        ),
        (
            "math.ceil(4 * d_model / multiple_of) * multiple_of * 2 // 3",
            "rounded-before-two-thirds",
        ),
        (
            "8 * (math.ceil(d_model / multiple_of) * multiple_of) // 3",
            "d-model-rounded",
        ),
        ("2 ** math.ceil(math.log2(8 * d_model / 3))", "power-of-two"),
        (
            "math.ceil(8 * d_model / 3 / multiple_of) * float(multiple_of)",
            "float-result",
        ),
        ("8 * d_model / 3", None),
        ("torch.tensor(math.ceil(8 * d_model / 3 / multiple_of) * multiple_of)", None),
        ("math.ceil(8 * d_model / 3 / multiple_of) * multiple_of + multiple_of", None),
        ("11008", None),
    ],
)
def test_wrong_width_is_named(body, mistake):
    source = f"{IMPORTS}def swiglu_dim(d_model, multiple_of=256):\n    return {body}\n"
    verdict = check_source(source)
    assert not verdict.passed
    assert verdict.message
    if mistake is not None:
        assert verdict.mistake == mistake, verdict.message


def test_wrong_default_of_the_multiple_is_named():
    source = (
        "def swiglu_dim(d_model, multiple_of=64):\n"
        "    return -(-8 * d_model // (3 * multiple_of)) * multiple_of\n"
    )
    assert check_source(source).mistake == "default-multiple-of-64"


@pytest.mark.parametrize(
    "body",
    [
        "-(-8 * d_model // (3 * multiple_of)) * multiple_of",
        "math.ceil(2 / 3 * 4 * d_model / multiple_of) * multiple_of",
        "math.ceil(8 * d_model / (3 * multiple_of)) * multiple_of",
        "(int(2 * (4 * d_model) / 3) + multiple_of - 1) // multiple_of * multiple_of",
        "(8 * d_model + 3 * multiple_of - 1) // (3 * multiple_of) * multiple_of",
        "next(n for n in range(0, 10**6, multiple_of) if 3 * n >= 8 * d_model)",
        "int(math.ceil(4 * d_model * (2 / 3) / multiple_of)) * int(multiple_of)",
        "(d_model * 8 // 3) + (-(d_model * 8 // 3)) % multiple_of",
        "round(8 * d_model / 3) + -round(8 * d_model / 3) % multiple_of",
    ],
)
def test_unusual_width_is_accepted(body):
    source = f"{IMPORTS}def swiglu_dim(d_model, multiple_of=256):\n    return {body}\n"
    verdict = check_source(source)
    assert verdict.status == "passed", verdict.message


@pytest.mark.parametrize(
    ("body", "mistake"),
    [
        ("2 / 3", "two-thirds-always"),
        ("8 / 12", "two-thirds-always"),
        ("8 * d_model**2 / (12 * d_model**2)", "two-thirds-always"),
        ("2 * d_model * ff_dim / (4 * d_model**2)", "ratio-to-attention"),
        ("4 * d_model**2 / (2 * d_model * ff_dim + 4 * d_model**2)", "attention-share"),
        (
            "(2 * d_model * ff_dim + 4 * d_model**2) / (2 * d_model * ff_dim)",
            "upside-down",
        ),
        ("4 * d_model**2 / (2 * d_model * ff_dim)", "attention-over-network"),
        ("d_model * ff_dim / (d_model * ff_dim + 4 * d_model**2)", "one-matrix"),
        ("3 * ff_dim / (3 * ff_dim + 4 * d_model)", "three-matrices"),
        ("2 * ff_dim / (2 * ff_dim + 3 * d_model)", "output-projection-forgotten"),
        ("2 * ff_dim / (2 * ff_dim + d_model)", "one-attention-matrix"),
        ("ff_dim / (ff_dim + d_model)", "as-many-matrices"),
        ("d_model / (d_model + 2 * ff_dim)", "attention-of-ff-dim"),
        (
            "2 * d_model * ff_dim / (2 * d_model * ff_dim + 4 * d_model)",
            "attention-not-squared",
        ),
        (
            "(2 * d_model * ff_dim + ff_dim + d_model) / (2 * d_model * ff_dim "
            "+ ff_dim + d_model + 4 * d_model**2 + 4 * d_model)",
            "biases-counted",
        ),
        (
            "ff_dim / (ff_dim + 2 * d_model + 2)",
            "attention-biases-or-norms-counted",
        ),
        ("100 * 2 * ff_dim / (2 * ff_dim + 4 * d_model)", "percent"),
        ("2 * ff_dim // (2 * ff_dim + 4 * d_model)", "whole-division"),
        ("round(2 * ff_dim / (2 * ff_dim + 4 * d_model), 2)", "rounded"),
        ("2 * ff_dim / (4 * d_model) / 2", None),
        ("f'{2 * ff_dim / (2 * ff_dim + 4 * d_model):.2%}'", None),
    ],
)
def test_wrong_share_is_named(body, mistake):
    source = f"def feed_forward_share(d_model, ff_dim):\n    return {body}\n"
    verdict = check_source(source)
    assert not verdict.passed
    assert verdict.message
    if mistake is not None:
        assert verdict.mistake == mistake, verdict.message


@pytest.mark.parametrize(
    "body",
    [
        "2 * d_model * ff_dim / (2 * d_model * ff_dim + 4 * d_model * d_model)",
        "ff_dim / (ff_dim + 2 * d_model)",
        "1 - 4 * d_model**2 / (4 * d_model**2 + 2 * d_model * ff_dim)",
        "1 / (1 + 2 * d_model / ff_dim)",
        "float(sum([d_model * ff_dim] * 2)) / sum([d_model * ff_dim] * 2 + "
        "[d_model**2] * 4)",
    ],
)
def test_unusual_share_is_accepted(body):
    source = f"def feed_forward_share(d_model, ff_dim):\n    return {body}\n"
    verdict = check_source(source)
    assert verdict.status == "passed", verdict.message


def test_network_of_three_axes_by_inheritance_is_accepted():
    verdict = check_source("""
    from collections import OrderedDict
    from torch import nn

    class FeedForward(nn.Sequential):
        def __init__(self, d_model, ff_dim):
            up, down = nn.Linear(d_model, ff_dim), nn.Linear(ff_dim, d_model)
            super().__init__(OrderedDict(W_1=up, gelu=nn.GELU(), W_2=down))

        def forward(self, x):
            B, T, C = x.shape
            return super().forward(x.view(B * T, C)).view(B, T, C)
    """)
    assert verdict.passed, verdict.message
