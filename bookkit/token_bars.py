"""One token's numbers as bars, for pictures that move on the page."""

from collections.abc import Sequence

from bookkit.figures import INK, MUTED, PALETTE
from bookkit.widgets import Picture

WIDTH, HEIGHT = 170, 180  # units of a picture; the page scales it
STEP, BAR, ZERO = 42, 26, 112  # from bar to bar, a bar's width, where 0 lies


def draw_bars(values: Sequence[float], title: str, limit: float) -> Picture:
    """Draw numbers as bars up and down from 0; one of size `limit` fills its half."""
    body = (
        f"<text x='0' y='14' fill='{INK}' font-size='12' font-weight='bold'>{title}"
        f"</text><path d='M8 {ZERO}H{STEP * len(values) + 16}' stroke='{MUTED}'/>"
    )
    for i, value in enumerate(values):
        size = round(min(abs(value) / limit, 1) * 66, 1)
        x, up = 16 + i * STEP, value >= 0
        y = ZERO - size if up else ZERO
        colour = PALETTE[0] if up else PALETTE[1]
        said = f"{value:.3g}".replace("-", "\u2212")
        body += (
            f"<rect x='{x}' y='{y:g}' width='{BAR}' height='{size:g}' fill='{colour}'/>"
            f"<text x='{x + BAR / 2:g}' y='{y - 6 if up else y + size + 15:g}' "
            f"text-anchor='middle' fill='{INK}' font-size='12'>{said}</text>"
        )
    return Picture(body, max(WIDTH, STEP * len(values) + 24), HEIGHT)
