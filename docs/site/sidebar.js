// The theme keeps the list of pages where it was, even if the open page is not in sight, and
// the headings of a page, even if the one that is read is not.
{
  const show = (list, line) => {
    if (!list || !line) return;
    const [box, at] = [list.getBoundingClientRect(), line.getBoundingClientRect()];
    if (at.top < box.top || at.bottom > Math.min(box.bottom, innerHeight)) {
      list.scrollTop += at.top - box.top - list.clientHeight / 2;
    }
  };
  document.addEventListener("DOMContentLoaded", () => {
    const list = document.querySelector(".bd-sidebar-primary");
    show(list, list?.querySelector(".current > a"));
  });
  document.addEventListener("DOMContentLoaded", () => {
    const list = document.querySelector(".bd-sidebar-secondary");
    const change = { subtree: true, attributeFilter: ["class"] };
    const move = () => show(list, [...list.querySelectorAll("a.active")].at(-1));
    if (list) new MutationObserver(move).observe(list, change);
  });
}
