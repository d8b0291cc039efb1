for (const card of document.querySelectorAll("[data-moving='KEY']:not([data-set])")) {
  card.dataset.set = "";
  const find = (what) => card.querySelector(what);
  const data = JSON.parse(find("[type='application/json']").textContent);
  const [picture, words, form, play] = [".mv-picture", ".mv-words", "form", "button"].map(find);
  const controls = [...form.querySelectorAll(".mv-control")].map((box, c) => ({
    inputs: [...box.querySelectorAll("input")],
    output: box.querySelector("output"),
    values: data.values[c],
    get at() {
      const [first] = this.inputs;
      if (first.type === "range") return Number(first.value);
      return this.inputs.findIndex((input) => input.checked);
    },
    set at(index) {
      const [first] = this.inputs;
      if (first.type === "range") first.value = index;
      else this.inputs[index].checked = true;
    },
  }));
  data.drawings[data.first].svg = picture.innerHTML;
  let shown = data.first;
  let parts = [...picture.querySelectorAll("*")];
  const show = () => {
    const at = controls.map((control) => control.at);
    const pick = ([strides, values]) =>
      values[strides.reduce((sum, stride, c) => sum + stride * at[c], 0)];
    controls.forEach(({ inputs, output, values }, c) => {
      if (!output) return;
      output.textContent = values[at[c]];
      inputs[0].setAttribute("aria-valuetext", values[at[c]]);
    });
    const number = pick(data.drawing);
    const { svg, varies } = data.drawings[number];
    if (number !== shown) {
      picture.innerHTML = svg;
      parts = [...picture.querySelectorAll("*")];
      shown = number;
    }
    for (const [part, name, ...column] of varies) {
      const value = pick(column);
      if (name === "") parts[part].textContent = value;
      else parts[part].setAttribute(name, value);
    }
    words.textContent = pick(data.words);
  };
  let timer = null;
  const stop = () => {
    clearInterval(timer);
    timer = null;
    words.setAttribute("aria-live", "polite");
    if (play) play.textContent = "Play";
  };
  const step = (control) => {
    if (!card.isConnected) return stop();
    if (control.at + 1 >= control.values.length - 1) stop();
    control.at = Math.min(control.at + 1, control.values.length - 1);
    show();
  };
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => { stop(); show(); });
  picture.addEventListener("click", (event) => {
    const picked = event.target.closest("[data-pick]");
    if (!picked) return;
    const [control, index] = picked.dataset.pick.split(" ").map(Number);
    stop();
    controls[control].at = index;
    show();
  });
  play?.addEventListener("click", () => {
    if (timer !== null) return stop();
    const control = controls[data.play];
    if (control.at === control.values.length - 1) control.at = 0;
    else control.at += 1;
    show();
    if (control.at === control.values.length - 1) return;
    words.setAttribute("aria-live", "off");
    play.textContent = "Pause";
    timer = setInterval(() => step(control), control.values.length > 20 ? 150 : 900);
  });
  find(".mv-note").remove();
  for (const one of form.querySelectorAll("input, button"))
    one.setAttribute("data-lm-suppress-shortcuts", "true");
  form.hidden = false;
}
