"""Several processes, one model: what `torchrun` starts, and what a rank does of it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, distributed, nn
from torch.nn.parallel import DistributedDataParallel


@dataclass(frozen=True)
class Ranks:
    """How many processes train together, and which of them this is."""

    rank: int = 0
    world: int = 1
    local_rank: int = 0

    @property
    def first(self) -> bool:
        return self.rank == 0

    def share(self, batch: Tensor) -> Tensor:
        """This rank's rows of a batch that all ranks drew alike."""
        return batch[self.rank :: self.world]

    def wrapped(self, model: nn.Module) -> nn.Module:
        """The model, its gradients averaged over the ranks after each backward."""
        return DistributedDataParallel(model) if self.world > 1 else model

    def mean(self, value: float, device: torch.device) -> float:
        """A number's mean over the ranks."""
        if self.world == 1:
            return value
        held = torch.tensor(value, device=device)
        distributed.all_reduce(held)
        return float(held) / self.world

    def wait(self) -> None:
        if self.world > 1:
            distributed.barrier()


@contextmanager
def joined(device: torch.device) -> Iterator[Ranks]:
    """Join the other processes if `torchrun` started several, and leave at the end."""
    world = int(os.environ.get("WORLD_SIZE", "1"))
    if world == 1:
        yield Ranks()
        return
    distributed.init_process_group("nccl" if device.type == "cuda" else "gloo")
    try:
        local_rank = int(os.environ.get("LOCAL_RANK", "0"))
        yield Ranks(distributed.get_rank(), world, local_rank)
    finally:
        distributed.destroy_process_group()
