// A page that explains the term itself (the glossary) is found once, at that place. An extract
// is of the article, not of the buttons and the list of contents around it.
{
  const [search, text] = [Search._performSearch, Search.htmlToText];
  Search._performSearch = (...query) => {
    const found = search(...query);
    const kind = (result) => result.at(-1);
    const explaining = new Set(found.filter((r) => kind(r) === "index").map((r) => r[0]));
    return found.filter((r) => kind(r) !== "text" || !explaining.has(r[0]));
  };
  Search.htmlToText = (html, anchor) => {
    const page = new DOMParser().parseFromString(html, "text/html");
    page.querySelector('[role="main"]').removeAttribute("role");
    page.querySelector("article").setAttribute("role", "main");
    return text(page.documentElement.outerHTML, anchor);
  };
}
