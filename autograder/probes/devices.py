"""Tensors on two devices: what a GPU refuses, where the meta device is more lenient."""

from collections.abc import Iterable, Mapping
from typing import Any

from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

#: Operators that may take tensors from two devices.
_MIXED = {"index", "index_put", "index_put_", "_index_put_impl_", "copy_", "_to_copy"}


class OneDevice(TorchDispatchMode):
    """Within it, operators refuse tensors on two devices, as they do on a GPU.

    An embedding on the meta device takes indices from the CPU, and a product a matrix.
    A number (0 axes) may stand anywhere.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]

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
        given = [one for one in tree_leaves((args, kwargs)) if isinstance(one, Tensor)]
        devices = {str(one.device) for one in given if one.dim() > 0}
        if len(devices) > 1 and func.overloadpacket.__name__ not in _MIXED:
            found = " and ".join(sorted(devices))
            raise RuntimeError(f"Expected all tensors on the same device, not {found}")
        return func(*args, **(kwargs or {}))
