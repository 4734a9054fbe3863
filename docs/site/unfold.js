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
