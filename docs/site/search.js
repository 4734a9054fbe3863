// Sphinx' own search, with its answers in another order. First comes what explains the
// question, or a part of it: a page's title, a heading, a term of the glossary, an entry of
// docs/search_words.toml. If no page has all words, pages that have some of them are shown.
{
  const WORDS_OF_AN_ENTRY = 4;
  const PLACES_OF_A_PAGE = 2;
  const [EXTRACT, BEFORE_THE_WORD] = [240, 100]; // characters
  const { _performSearch: search, htmlToText: text } = Search;
  const stemmer = new Stemmer();
  const kind = (result) => result.at(-1);
  const [page, place, score] = [(result) => result[0], (result) => result[2], (r) => r[4]];
  const plain = (words) => words.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "").replace(/s$/, "");
  const stems = (words) =>
    new Set(
      (words.toLowerCase().match(/\d+\.\d+|[\p{L}\p{N}_]+/gu) ?? [])
        .filter((word) => !stopwords.has(word))
        .map((word) => stemmer.stemWord(word.replace(/^0+(?=\d)/, ""))),
    );

  // "Glossary > all-reduce": a heading, or a term, whose name in the index has small letters.
  const titled = (number, id) => {
    const { alltitles, indexentries, titles } = Search._index;
    const there = ([, places]) => places.some((at) => at[0] === number && at[1] === id);
    const term = id.replace(/^term-/, "");
    const heading =
      Object.entries(alltitles).find(there)?.[0] ??
      (/[A-Z]/.test(term)
        ? term.replaceAll("-", " ")
        : Object.keys(indexentries).find((entry) => plain(entry) === plain(term)));
    return heading && id ? `${titles[number]} > ${heading}` : titles[number];
  };

  // "What is a replica?" asks for a replica.
  const QUESTION =
    /^\s*(what('s| is| are| does)|how (do|can) (i|we|you)|how to|where (is|are))\s+((a|an|the)\s+)?/i;

  // The larger a part of the question an entry of the index is, the better.
  const explained = (query) => {
    const words = query.trim().split(/\s+/);
    const parts = words.flatMap((_, first) =>
      Array.from({ length: WORDS_OF_AN_ENTRY }, (_, more) =>
        plain(words.slice(first, first + 1 + more).join("")),
      ),
    );
    return Object.entries(Search._index.indexentries)
      .filter(([entry]) => plain(entry) && parts.includes(plain(entry)))
      .flatMap(([entry, places]) =>
        places.map(([number, id]) => [
          Search._index.docnames[number],
          titled(number, id),
          id && `#${id}`,
          null,
          (1000 * plain(entry).length) / plain(query).length,
          Search._index.filenames[number],
          "index",
        ]),
      );
  };

  // A heading has all words of the question. The fewer others it has, the better.
  const headed = (query) => {
    const { alltitles, docnames, filenames, titles } = Search._index;
    const asked = stems(query);
    return Object.entries(alltitles).flatMap(([title, places]) => {
      const words = stems(title);
      if (!asked.size || ![...asked].every((word) => words.has(word))) return [];
      return places.map(([number, id]) => {
        const whole = titles[number] === title;
        return [
          docnames[number],
          whole ? title : `${titles[number]} > ${title}`,
          whole ? "" : `#${id}`,
          null,
          500 + (500 * asked.size) / words.size + (whole ? 200 : 0),
          filenames[number],
          "title",
        ];
      });
    });
  };

  // Pages with some of the words: the more of them, the better.
  const some = (terms) => {
    const found = new Map();
    for (const term of terms) {
      for (const result of Search.performTermsSearch(new Set([term]), new Set())) {
        const before = found.get(page(result));
        found.set(page(result), result.with(4, score(result) + (before ? score(before) : 0)));
      }
    }
    return [...found.values()];
  };

  Search._performSearch = (query, terms, ...others) => {
    const best = search(query, terms, ...others).toReversed();
    const asked = query.replace(QUESTION, "");
    let found = [...explained(asked), ...headed(asked), ...best];
    if (!found.length && terms.size > 1) {
      found = some(terms);
      if (found.length) Search.status.before("No page has all of these words. Some have a part:");
    }
    const places = new Map();
    const shown = found
      .toSorted((one, other) => score(other) - score(one))
      .filter((result) => {
        const before = places.get(page(result)) ?? [];
        places.set(page(result), [...before, place(result)]);
        if (kind(result) === "text") return !before.length;
        return before.length < PLACES_OF_A_PAGE && !before.includes(place(result));
      });
    return shown.toReversed(); // Sphinx shows the last one first
  };

  Documentation.TRANSLATIONS[
    "Your search did not match any documents. Please make sure that all words are spelled correctly and that you've selected enough categories."
  ] = "No page has any of these words. Try others, or look through the glossary.";

  // An extract is of the article, not of the buttons and the list of contents around it; of
  // a term it is the explanation.
  Search.htmlToText = (html, anchor) => {
    const page = new DOMParser().parseFromString(html, "text/html");
    page.querySelector('[role="main"]').removeAttribute("role");
    page.querySelector("article").setAttribute("role", "main");
    const term = anchor && page.querySelector(`dt${anchor}`);
    if (term) return term.nextElementSibling.textContent;
    if (anchor) page.querySelector(`section${anchor} > :is(h1, h2, h3, h4)`)?.remove();
    return text(page.documentElement.outerHTML, anchor);
  };

  // Sphinx cuts a text in the middle of a word.
  Search.makeSearchSummary = (html, words, anchor) => {
    const whole = Search.htmlToText(html, anchor).replace(/\s+/g, " ").trim();
    if (!whole) return null;
    const at = [...words].map((word) => whole.toLowerCase().indexOf(word));
    const first = Math.min(...at.filter((index) => index >= 0)) - BEFORE_THE_WORD;
    const from = first > 0 && first < Infinity ? whole.indexOf(" ", first) + 1 : 0;
    const rest = whole.length > from + EXTRACT;
    const to = rest ? whole.lastIndexOf(" ", from + EXTRACT) : whole.length;
    const made = document.createElement("p");
    made.className = "context";
    made.textContent = (from ? "… " : "") + whole.slice(from, to) + (rest ? " …" : "");
    return made;
  };
}
