for (const card of document.querySelectorAll("[data-ask='KEY']:not([data-set])")) {
  card.dataset.set = "yes";
  const folded = [...card.querySelectorAll("details")];
  const { kind } = card.dataset;
  const make = (tag, values, ...inside) => {
    const made = Object.assign(document.createElement(tag), values);
    made.append(...inside);
    return made;
  };
  const question = card.querySelector(".ask-question");
  const legend = make("legend", { innerHTML: question.innerHTML });
  const name = "ask-KEY-" + document.querySelectorAll("[data-ask][data-set]").length;
  const inputs = folded.map((one) => {
    if (kind === "number")
      return make("input", { type: "text", inputMode: "decimal", autocomplete: "off" });
    return make("input", { type: kind === "one" ? "radio" : "checkbox", name });
  });
  const labels = inputs.map((input, i) => {
    const text = kind === "number" ? "Your answer" : folded[i].querySelector("summary").innerHTML;
    const words = make("span", { innerHTML: text });
    return kind === "number" ? make("label", {}, words, input) : make("label", {}, input, words);
  });
  if (kind === "several") legend.append(" (Tick all that are right.)");
  const reply = make("div", {});
  reply.setAttribute("role", "status");
  const button = make("button", { type: "submit", textContent: "Check" });
  const form = make("form", { noValidate: true }, make("fieldset", {}, legend, ...labels, button), reply);
  const say = (right, html) => make("p", { className: right ? "ask-right" : "", innerHTML: html });
  const told = (one) => say("right" in one.dataset, one.querySelector("p").innerHTML);

  const chosen = () => {
    const ticked = folded.filter((_, i) => inputs[i].checked);
    if (!ticked.length) return [say(false, "Choose an answer first.")];
    const missing = folded.some((one, i) => "right" in one.dataset && !inputs[i].checked);
    const said = ticked.map(told);
    if (kind === "several" && missing) said.push(say(false, "<strong>Not all yet.</strong> One more is right, at least."));
    return said;
  };
  const read = (text) => {
    let typed = text.replace(/[\s_]/g, "").replace("−", "-");
    typed = /^-?\d{1,3}(,\d{3})+(\.\d+)?$/.test(typed) ? typed.replaceAll(",", "") : typed.replace(",", ".");
    const parts = typed.split("/");
    if (parts.length > 2 || parts.some((part) => part === "")) return NaN;
    return parts.map(Number).reduce((a, b) => a / b);
  };
  const typed = () => {
    const value = read(inputs[0].value);
    if (!Number.isFinite(value)) return [say(false, "Type a number, such as 12, 0.5 or 1/3.")];
    const [answer] = folded;
    const near = (one, by) => Math.abs(value - one.dataset.number) <= Number(by) + 1e-9;
    if (near(answer, answer.dataset.tolerance))
      return [say(true, "<strong>Right.</strong> " + answer.querySelector("p").innerHTML)];
    const slip = [...answer.querySelectorAll("p[data-number]")].find((one) =>
      near(one, Math.max(answer.dataset.tolerance, Math.abs(one.dataset.number) * 0.005)));
    const other = slip || answer.querySelector("[data-otherwise]");
    const why = other.cloneNode(true);
    why.querySelector("strong").textContent = "Not yet.";
    return [say(false, why.innerHTML)];
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    reply.replaceChildren(...(kind === "number" ? typed() : chosen()));
  });
  form.addEventListener("input", () => reply.replaceChildren());
  question.remove();
  folded.forEach((one) => one.remove());
  card.append(form);
  for (const one of card.querySelectorAll("input, button"))
    one.setAttribute("data-lm-suppress-shortcuts", "true");
}
