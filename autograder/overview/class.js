// Sorting and filtering for the table of submissions; the page is whole without it.
const table = document.getElementById("everybody");
if (table) {
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const heads = [...table.tHead.rows[0].cells];
  const order = new Intl.Collator("en", { numeric: true, sensitivity: "base" });
  const said = (row, column) => row.cells[column].textContent;

  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      heads.forEach((one) => one.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      rows.sort((a, b) => (up ? 1 : -1) * order.compare(said(a, column), said(b, column)));
      body.replaceChildren(...rows);
    });
  });

  const filter = document.createElement("label");
  const input = document.createElement("input");
  const count = document.createElement("span");
  filter.className = "filter";
  input.type = "search";
  count.setAttribute("role", "status");
  filter.append("Show only rows with", input, count);
  table.parentElement.before(filter);
  input.addEventListener("input", () => {
    const wanted = input.value.trim().toLowerCase();
    let shown = 0;
    for (const row of rows) {
      row.hidden = !row.textContent.toLowerCase().includes(wanted);
      shown += !row.hidden;
    }
    count.textContent = wanted ? `${shown} of ${rows.length}` : "";
  });
}
