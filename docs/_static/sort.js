// A click on a head of a table with the class "sortable" sorts its rows: numbers by size, words by the alphabet; again, the other way.
document.querySelectorAll("table.sortable").forEach((table) => {
  const body = table.tBodies[0];
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const text = (row) => row.cells[column].textContent.trim();
      const compare = (one, other) => {
        const [a, b] = [parseFloat(text(one)), parseFloat(text(other))];
        return Number.isNaN(a) || Number.isNaN(b) ? text(one).localeCompare(text(other)) : a - b;
      };
      body.append(...[...body.rows].sort((one, other) => (down ? -1 : 1) * compare(one, other)));
    });
  });
});
