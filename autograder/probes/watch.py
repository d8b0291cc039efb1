"""See what the learner's code calls: forbidden built-ins, and the size of its tensors.

Names are matched where Python calls torch (`TorchFunctionMode`), where torch dispatches
its operators (`TorchDispatchMode`) and where a module runs (a global hook), so that an
alias, `torch.ops` or a scripted function is seen as well.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn.modules.module import register_module_forward_pre_hook
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode


@dataclass(frozen=True)
class Family:
    """A built-in in every spelling: functions, operators, modules."""

    spelled: str
    functions: frozenset[str]
    operators: frozenset[str] = frozenset()
    modules: tuple[str, ...] = ()


def _family(spelled: str, functions: str, operators: str, modules: str) -> Family:
    return Family(
        spelled,
        frozenset(functions.split()),
        frozenset(operators.split()),
        tuple(modules.split()),
    )


_SDPA = (
    "scaled_dot_product_attention _scaled_dot_product_attention "
    "_scaled_dot_product_attention_math multi_head_attention_forward "
    "_native_multi_head_attention"
)
_SDPA_OPERATORS = (
    "scaled_dot_product_attention _scaled_dot_product_attention_math "
    "_scaled_dot_product_flash_attention _scaled_dot_product_flash_attention_for_cpu "
    "_scaled_dot_product_efficient_attention _scaled_dot_product_cudnn_attention "
    "_scaled_dot_product_attention_math_for_mps _scaled_dot_product_fused_attention"
    "_overrideable _native_multi_head_attention"
)

FAMILIES: Mapping[str, Family] = {
    "softmax": _family(
        "torch's softmax",
        "softmax log_softmax _softmax _log_softmax _safe_softmax softmin "
        "gumbel_softmax cross_entropy cross_entropy_loss masked_softmax " + _SDPA,
        "_softmax _log_softmax _safe_softmax _masked_softmax _sparse_softmax "
        "_sparse_log_softmax " + _SDPA_OPERATORS,
        "Softmax LogSoftmax Softmin Softmax2d CrossEntropyLoss MultiheadAttention",
    ),
    "rnn": _family(
        "torch's recurrent layers",
        "rnn_tanh rnn_relu rnn_tanh_cell rnn_relu_cell gru gru_cell lstm lstm_cell",
        "rnn_tanh rnn_relu rnn_tanh_cell rnn_relu_cell gru gru_cell lstm lstm_cell "
        "mkldnn_rnn_layer _cudnn_rnn",
        "RNN RNNCell RNNBase RNNCellBase GRU GRUCell LSTM LSTMCell",
    ),
    "attention": _family(
        "torch's attention", _SDPA, _SDPA_OPERATORS, "MultiheadAttention"
    ),
    "gelu": _family("torch's GELU", "gelu gelu_", "gelu gelu_", "GELU"),
    "layer_norm": _family(
        "torch's LayerNorm",
        "layer_norm native_layer_norm",
        "layer_norm native_layer_norm",
        "LayerNorm",
    ),
    "rms_norm": _family(
        "torch's RMSNorm",
        "rms_norm _fused_rms_norm",
        "rms_norm _fused_rms_norm",
        "RMSNorm",
    ),
    "transformer": _family(
        "torch's Transformer layers",
        "_transformer_encoder_layer_fwd",
        "_transformer_encoder_layer_fwd",
        "Transformer TransformerEncoder TransformerDecoder TransformerEncoderLayer "
        "TransformerDecoderLayer",
    ),
}


class _Functions(TorchFunctionMode):
    def __init__(self, seen: Callable[[str], None]) -> None:
        self.seen = seen

    def __torch_function__(
        self,
        func: Any,
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        self.seen(getattr(func, "__name__", "").split(".")[0])
        return func(*args, **(kwargs or {}))


class _Operators(TorchDispatchMode):
    def __init__(self, seen: Callable[[str], None], made: Callable[[Any], None] | None):
        super().__init__()  # type: ignore[no-untyped-call]
        self.seen, self.made = seen, made

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Nothing is compiled here, and to shield each call from it is slow."""
        return False

    def __torch_dispatch__(
        self,
        func: Any,
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        self.seen(func.overloadpacket.__name__)
        result = func(*args, **(kwargs or {}))
        if self.made is not None:
            self.made(result)
        return result


class Watch:
    """Within `with Watch(names) as watch`, note the families called, the sizes made."""

    def __init__(self, names: Iterable[str], sizes: bool = False) -> None:
        self.families = {name: FAMILIES[name] for name in names}
        self.sizes = sizes
        self.called: set[str] = set()
        self.largest = 0
        watched = self.families.values()
        self._functions = frozenset().union(*(one.functions for one in watched))
        self._operators = frozenset().union(*(one.operators for one in watched))

    def __enter__(self) -> "Watch":
        self._stack = ExitStack()
        if self.families:
            hook = register_module_forward_pre_hook(self._module)
            self._stack.callback(hook.remove)
            self._stack.enter_context(_Functions(self._function))
        if self.families or self.sizes:
            made = self._made if self.sizes else None
            self._stack.enter_context(_Operators(self._operator, made))
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.close()

    def _function(self, name: str) -> None:
        if name in self._functions:  # most are in none
            self.called |= {
                key for key, f in self.families.items() if name in f.functions
            }

    def _operator(self, name: str) -> None:
        if name in self._operators:
            self.called |= {
                key for key, f in self.families.items() if name in f.operators
            }

    def _module(self, module: nn.Module, args: Any) -> None:
        kinds = {
            kind.__name__
            for kind in type(module).__mro__
            if kind.__module__.startswith("torch.nn.")
        }
        self.called |= {
            key for key, f in self.families.items() if kinds & set(f.modules)
        }

    def _made(self, result: Any) -> None:
        for one in result if isinstance(result, (tuple, list)) else (result,):
            if isinstance(one, torch.Tensor):
                self.largest = max(self.largest, one.numel())
