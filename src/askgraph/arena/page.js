// Sorts a table by the column whose head is pressed; a second press turns the order around.
for (const button of document.querySelectorAll(".sorts th button")) {
  button.addEventListener("click", () => {
    const head = button.closest("th"), table = head.closest("table"), body = table.tBodies[0];
    const column = [...head.parentElement.children].indexOf(head);
    const down = head.getAttribute("aria-sort") === "ascending";
    for (const other of head.parentElement.children) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const value = (row) => row.children[column].dataset.value;
    const order = (a, b) => (a === "" || b === "" ? (a === "") - (b === "") : (down ? -1 : 1) * (isNaN(a) ? a.localeCompare(b) : a - b));
    body.append(...[...body.rows].sort((a, b) => order(value(a), value(b))));
  });
}
