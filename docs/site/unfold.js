// The theme lets a keyboard reach code that scrolls, but not code that was folded before.
document.addEventListener(
  "toggle",
  ({ target }) => {
    for (const box of target.querySelectorAll("pre")) {
      box.tabIndex = box.scrollWidth > box.clientWidth ? 0 : -1;
    }
  },
  true,
);
// On a telephone a tap enlarges a figure, and so does the keyboard (site.css).
document.addEventListener("DOMContentLoaded", () => {
  if (!matchMedia("(max-width: 800px)").matches) return;
  for (const image of document.querySelectorAll(".cell_output .text_html > img")) {
    image.parentElement.tabIndex = 0;
  }
});
