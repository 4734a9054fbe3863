for (const table of document.querySelectorAll("table.sorted")) {
  const rows = [...table.tBodies[0].rows];
  const search = document.getElementById(table.dataset.search);
  // "muller" finds Müller.
  const plain = (text) => text.normalize("NFD").replace(/\p{Mn}/gu, "").toLowerCase();
  search?.addEventListener("input", () => {
    const words = plain(search.value).split(/\s+/);
    for (const row of rows) {
      const text = plain(row.textContent);
      row.hidden = !words.every((word) => text.includes(word));
    }
  });
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const button = head.querySelector("button");
    // The whole cell takes the click; a key's click on the button rises to it.
    button && head.addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const text = (row) => row.cells[column].textContent.trim();
      const key = (row) => row.cells[column].dataset.key;  // where there are numbers
      const compare = (one, two) =>
        (key(one) === undefined
          ? text(one).localeCompare(text(two), undefined, { numeric: true })
          : key(one) - key(two)) * (up ? 1 : -1);
      table.tBodies[0].append(...rows.sort(compare));
    });
  });
}
