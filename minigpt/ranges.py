"""What a number may be: said once, for the recipe, both commands and their help."""

import math
from typing import Any

from click import Context, FloatRange, IntRange, Parameter


class Number(FloatRange):
    """A range of numbers. `nan` is in none, though it is neither below nor above."""

    def convert(
        self, value: Any, param: Parameter | None, ctx: Context | None
    ) -> float:
        number = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value} is no number", param, ctx)
        return number


#: Of what there is one at least.
COUNT = IntRange(1)

#: Any number that isn't negative, and no infinity.
FINITE = Number(0, math.inf, max_open=True)

#: All of torch's generators take these.
SEED = IntRange(0, 2**32 - 1)
