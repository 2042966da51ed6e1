"use strict";
// Everything works without this: it opens what an address points into, moves through the map with arrows, and closes with Escape.
(function () {
  let chosen = null;
  function follow() {
    const id = decodeURIComponent(location.hash.slice(1));
    const found = id && document.getElementById(id);
    for (const link of document.querySelectorAll("[aria-current]")) link.removeAttribute("aria-current");
    if (!found) return;
    for (let at = found; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    for (const link of document.querySelectorAll(".map a")) {
      if (link.getAttribute("href") === "#" + id) link.setAttribute("aria-current", "true");
    }
    const shown = chosen && chosen.hasAttribute("aria-current") ? chosen : document.querySelector(".map [aria-current]");
    if (!shown) return;
    const map = shown.closest(".map");
    const hidden = shown.getBoundingClientRect().right - map.getBoundingClientRect().right;
    if (hidden > 0) map.scrollLeft += hidden + 48;
  }
  function arrow(event) {
    const cell = event.target.closest && event.target.closest(".map td");
    const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    if (event.key === "Escape" && location.hash) {
      location.hash = "#-";
      if (chosen) chosen.focus();
    }
    if (!cell || !step) return;
    event.preventDefault();
    const rows = cell.closest("table").rows;
    let [row, column] = [cell.parentElement.rowIndex, cell.cellIndex];
    while ((row += step[0]) >= 0 && (column += step[1]) >= 0) {
      const next = rows[row] && rows[row].cells[column];
      if (!next) return;
      const link = next.querySelector("a");
      if (next.tagName === "TD" && link) return link.focus();
    }
  }
  document.addEventListener("click", (event) => {
    const link = event.target.closest && event.target.closest(".map a");
    if (link) chosen = link;
  });
  addEventListener("hashchange", follow);
  document.addEventListener("keydown", arrow);
  follow();
})();
