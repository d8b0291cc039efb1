// A term of the glossary explains itself: under the mouse, on focus, at a first tap.
// A second tap, a click or Enter leads to the glossary; Escape closes the explanation.
(() => {
  const start = () => {
    const data = document.getElementById("terms");
    if (!data) return;
    const meanings = JSON.parse(data.textContent);
    const tip = document.createElement("div");
    tip.id = "term-meaning";
    tip.setAttribute("role", "tooltip");
    tip.hidden = true;
    document.body.append(tip);
    let shown = null;
    let leaving = 0;

    const hide = () => {
      clearTimeout(leaving);
      shown?.removeAttribute("aria-describedby");
      shown = null;
      tip.hidden = true;
    };
    const show = (link) => {
      clearTimeout(leaving);
      if (shown === link) return;
      hide();
      shown = link;
      tip.textContent = meanings[link.hash.slice(1)];
      tip.hidden = false;
      link.setAttribute("aria-describedby", tip.id);
      // where the word begins, inside the window; below it, or above if there is no room
      const word = link.getClientRects()[0];
      const { offsetWidth: width, offsetHeight: height } = tip;
      const room = document.documentElement.clientWidth - width - 8;
      const left = Math.max(8, Math.min(word.left, room));
      const fits = word.bottom + height + 6 < window.innerHeight;
      const top = fits || word.top < height + 6 ? word.bottom + 4 : word.top - height - 4;
      tip.style.left = `${left + window.scrollX}px`;
      tip.style.top = `${top + window.scrollY}px`;
    };
    const leave = () => {
      leaving = setTimeout(hide, 250); // time to move the mouse onto the explanation
    };

    for (const link of document.querySelectorAll("a.term")) {
      let before = null;
      link.addEventListener("pointerenter", (event) => {
        if (event.pointerType === "mouse") show(link);
      });
      link.addEventListener("pointerleave", (event) => {
        if (event.pointerType === "mouse") leave();
      });
      link.addEventListener("pointerdown", (event) => {
        before = event.pointerType === "mouse" ? link : shown;
      });
      link.addEventListener("focus", () => show(link));
      link.addEventListener("blur", hide);
      link.addEventListener("click", (event) => {
        if (before !== null && before === link) return; // a mouse, or a second tap
        if (event.detail === 0) return; // Enter, or a screen reader
        event.preventDefault();
        show(link);
      });
    }
    tip.addEventListener("pointerenter", () => clearTimeout(leaving));
    tip.addEventListener("pointerleave", leave);
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && shown) hide();
    });
    document.addEventListener("pointerdown", (event) => {
      if (shown && event.target !== tip && !shown.contains(event.target)) hide();
    });
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
