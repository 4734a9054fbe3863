// Paper is white: a dark page is printed as a light one.
{
  const page = document.documentElement;
  let theme = "";
  addEventListener("beforeprint", () => {
    theme = page.dataset.theme;
    page.dataset.theme = "light";
  });
  addEventListener("afterprint", () => {
    page.dataset.theme = theme;
  });
}
