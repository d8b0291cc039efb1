"""The violations that axe finds on a page, those that keep people out."""

from importlib.resources import files

from playwright.sync_api import Page

SCRIPT = files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")
GRAVE = ("serious", "critical")
THEME_LOOKS = 500  # ms after which the theme has looked again at what scrolls
LATER = 10_000  # and on a busy machine

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


def violations(page: Page, rules: list[str] | None = None) -> list[str]:
    """The serious and critical ones, of these rules or of all, a line each."""
    options = {"preload": False, "resultTypes": ["violations"]}
    if rules:
        options["runOnly"] = rules
    grave: list[str] = []
    for wait in (THEME_LOOKS, LATER):
        page.wait_for_timeout(wait)
        found = page.evaluate(_RUN, options)
        grave = [" · ".join(one) for one in found if one[0] in GRAVE]
        if not grave:
            break
    return grave
