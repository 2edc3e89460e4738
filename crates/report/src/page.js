"use strict";
// A value pointed at or tapped stands below its plot, because a phone shows no titles.
for (const figure of document.querySelectorAll(".plot")) {
  const show = (event) => {
    const title = event.target.closest("g.mark, rect.mark")?.querySelector("title");
    if (title) figure.querySelector("output").textContent = title.textContent;
  };
  figure.addEventListener("pointerover", show);
  figure.addEventListener("click", show);
}
const plain = (cell) => cell.textContent.replace(/[\s≥<>=%?]/g, "");
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  table.querySelectorAll("thead th").forEach((head, column) => {
    const button = document.createElement("button");
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      table.querySelectorAll("th").forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const keys = Array.from(body.rows, (row) => {
        const cell = row.cells[column] ?? row.cells[row.cells.length - 1];
        // A cell with a unit has its number beside it.
        const text = cell.dataset.sort ?? plain(cell);
        return { row, text: cell.textContent, number: text === "" ? NaN : Number(text) };
      });
      // Cells without a number are last, whichever way.
      keys.sort((a, b) => {
        const numbers = !isNaN(a.number) && !isNaN(b.number);
        if (!numbers && isNaN(a.number) !== isNaN(b.number)) return isNaN(a.number) ? 1 : -1;
        const order = numbers ? a.number - b.number : a.text.localeCompare(b.text);
        return down ? -order : order;
      });
      body.append(...keys.map((key) => key.row));
      table.dispatchEvent(new Event("sorted"));
    });
  });
}
// A browser takes seconds to lay out 10 000 rows: it shows so many until it is asked for all.
const ROWS = 500;
for (const table of document.querySelectorAll("table.trials")) {
  const input = table.closest("details").querySelector(".filter input");
  const more = document.createElement("button");
  const unprinted = document.createElement("p");
  unprinted.className = "note printed";
  let most = ROWS;
  const lay = () => {
    const words = input.value.toLowerCase().split(/[\s,]+/).filter(Boolean);
    let fitting = 0, left = 0;
    for (const row of table.tBodies[0].rows) {
      const cells = words.length && Array.from(row.cells, (cell) => plain(cell).toLowerCase());
      const has = (word) => cells.some((cell) => /^[\d.]+$/.test(word) ? cell === word : cell.includes(word));
      row.hidden = !words.every(has) || ++fitting > most;
      left += row.hidden;
    }
    unprinted.textContent = left ? `Not printed: ${left} rows that do not fit the filter, or were not asked for.` : "";
    more.hidden = fitting <= most;
    more.textContent = `Show all ${fitting} rows`;
  };
  more.addEventListener("click", () => {
    most = Infinity;
    lay();
  });
  input.addEventListener("input", lay);
  table.addEventListener("sorted", lay);
  table.parentNode.after(more, unprinted);
  lay();
}
// What is folded is printed too, and is folded again afterwards.
let folded = [];
addEventListener("beforeprint", () => {
  folded = [...document.querySelectorAll("details:not([open])")];
  for (const part of folded) part.open = true;
});
addEventListener("afterprint", () => folded.forEach((part) => (part.open = false)));
