// Small things that the pages need and the theme leaves open.

// A page opened as a file may not read other files: results come without an excerpt.
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;

// The theme lets the keyboard reach what scrolls sideways; it looks as the page loads
// and when the window changes, so have it look again when a part unfolds.
document.addEventListener("toggle", () => dispatchEvent(new Event("resize")), true);

// On paper nothing can be unfolded: everything is open while the page is printed.
const folded = new Set();
addEventListener("beforeprint", () => {
  for (const box of document.querySelectorAll("details:not([open])")) {
    box.open = true;
    folded.add(box);
  }
});
addEventListener("afterprint", () => {
  for (const box of folded) box.open = false;
  folded.clear();
});
