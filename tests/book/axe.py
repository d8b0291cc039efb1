"""The violations that axe finds on a page, those that keep people out."""

from importlib.resources import files

from playwright.sync_api import Page

from bookkit.site import DESK, PHONE

SCRIPT = files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")
GRAVE = ("serious", "critical")
THEME_LOOKS = 500  # ms after which the theme has looked again at what scrolls
LATER = 10_000  # and on a busy machine
# What depends on a page's width and on its colours, besides the contrast of its texts.
DEPENDENT = ["scrollable-region-focusable", "target-size", "link-in-text-block"]

# axe looks at every element: of the words of code and formulas, which are many and
# alike, one of each kind and ground is enough.
_ONE_OF_EACH = """() => {
  const seen = new Set();
  for (const part of document.querySelectorAll("mjx-container, .highlight span")) {
    const formula = part.matches("mjx-container");
    const ground = part.closest(".sd-card, .verdict, .cell_output, .cell_input, td, p");
    const kind = `${part.className} in ${formula ? "" : ground?.className}`;
    if (seen.has(kind)) part.replaceWith(part.textContent);
    seen.add(kind);
  }
}"""
# The colours of what a text stands on and of itself, in one scheme after the other.
_NOTE_COLOURS = """() => {
  const ground = element => {
    for (let it = element; it; it = it.parentElement) {
      const style = getComputedStyle(it);
      if (style.backgroundImage !== "none") return it.className;
      if (style.backgroundColor !== "rgba(0, 0, 0, 0)") return style.backgroundColor;
    }
  };
  for (const it of document.querySelectorAll("body *")) {
    const { color, fontSize, fontWeight, opacity } = getComputedStyle(it);
    const look = [color, fontSize, fontWeight, opacity, ground(it)].join();
    it.looks = [...(it.looks ?? []), look];
  }
}"""
# To look whether a text can be read takes long, and most texts look alike: of each
# look two are kept in each kind of place, since one may be out of sight.
_THIN = """() => {
  const seen = new Map();
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const it = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim()) continue;
    const look = `${it.looks} ${it.closest("[class]")?.className}`;
    seen.set(look, (seen.get(look) ?? 0) + 1);
    if (seen.get(look) > 2) texts.currentNode.data = "";
  }
}"""
_RUN = """options => axe.run(document, options).then(found => found.violations.flatMap(
  one => one.nodes.map(node =>
    [one.impact, one.id, node.target.join(" "), node.failureSummary])))"""


def prepare(page: Page) -> None:
    """Unfold what is folded, and bring axe into the page; it is good for this alone."""
    page.evaluate(
        "document.querySelectorAll('details').forEach(box => box.open = true)"
    )
    page.evaluate(_ONE_OF_EACH)
    page.evaluate(SCRIPT)


def violations(page: Page, **options: object) -> list[str]:
    """The serious and critical ones, a line each; axe's own options say which rules."""
    options = {"preload": False, "resultTypes": ["violations"], **options}
    grave: list[str] = []
    for wait in (THEME_LOOKS, LATER):
        page.wait_for_timeout(wait)
        found = page.evaluate(_RUN, options)
        grave = [" · ".join(one) for one in found if one[0] in GRAVE]
        if not grave:
            break
    return grave


def violations_everywhere(page: Page) -> list[str]:
    """Those of a page at both widths, in light and in dark."""
    prepare(page)
    grave = violations(page, rules={"color-contrast": {"enabled": False}})
    page.evaluate(_NOTE_COLOURS)
    page.set_viewport_size(PHONE)
    page.emulate_media(color_scheme="dark")
    grave += violations(page, runOnly=DEPENDENT)
    page.evaluate(_NOTE_COLOURS)
    page.evaluate(_THIN)
    for size, scheme in ((PHONE, "dark"), (DESK, "light")):
        page.set_viewport_size(size)
        page.emulate_media(color_scheme=scheme)
        grave += violations(page, runOnly=["color-contrast"])
    return grave
