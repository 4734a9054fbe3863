// A prebuilt extension of JupyterLab, written by hand: its container has one module.
// Beside the file browser, a narrow window has no room for a notebook. In a wide one, lines
// of 1,500 pixels would be hard to read: a notebook is a column in its middle. The first line
// of a cell whose code is folded is cut, else the notebook would be as wide as the line.
// A link to a section of a page names it as GitHub and the site do: `page.md#what-to-do-if`.
// JupyterLab knows that heading as `What-to-do-if`, so the page is scrolled to it here.
(() => {
    const COLUMN = ".jp-Notebook :is(.jp-Cell, .jp-Notebook-footer) " +
        "{ max-width: 1040px; margin-inline: auto; }" +
        ".jp-Placeholder-content { max-width: 100%; overflow: hidden; }" +
        ".jp-Placeholder, .jp-Placeholder-contentContainer { min-width: 0; }";
    const nameOf = (heading) => heading.textContent.replace("¶", "").trim().toLowerCase()
        .replace(/[^\p{L}\p{N}_ -]/gu, "").replaceAll(" ", "-");
    const LONGEST_WAIT_MS = 10000;
    const goToSection = (app, path, name) => {
        const until = Date.now() + LONGEST_WAIT_MS;
        const look = () => {
            const page = app.shell.currentWidget;
            const isThere = page?.context && path.endsWith(page.context.path);
            const headings = isThere
                ? [...page.node.querySelectorAll(".jp-MarkdownViewer :is(h1, h2, h3, h4)")]
                : [];
            if (headings.some((one) => one.dataset.jupyterId === name)) return;
            const heading = headings.find((one) => nameOf(one) === name);
            if (heading) heading.scrollIntoView();
            else if (Date.now() < until) setTimeout(look, 100);
        };
        look();
    };
    const plugin = {
        id: "scaling-labs:fit",
        description: "Lets a notebook fit its window, and links find their sections.",
        autoStart: true,
        activate: (app) => {
            const style = document.createElement("style");
            style.textContent = COLUMN;
            document.head.append(style);
            app.commands.commandExecuted.connect((_, {id, args}) => {
                if (id !== "rendermime:handle-local-link" || !args.id || !args.path) return;
                goToSection(app, args.path, args.id.replace(/^#/, ""));
            });
            document.addEventListener("click", ({target}) => {
                const link = target.closest?.('.jp-MarkdownViewer a[href^="#"]');
                const page = app.shell.currentWidget?.context;
                if (link && page) goToSection(app, page.path, link.hash.slice(1));
            });
            const narrow = matchMedia("(max-width: 759px)");
            const collapse = () => {
                if (!narrow.matches || !app.shell.collapseLeft) return;
                app.shell.collapseLeft();
                app.shell.collapseRight();
            };
            narrow.addEventListener("change", collapse);
            // In a new workspace, the file browser opens itself right after that.
            app.restored.then(() => setTimeout(collapse));
        },
    };
    const module = () => ({__esModule: true, default: plugin});
    window._JUPYTERLAB = window._JUPYTERLAB || {};
    window._JUPYTERLAB["scaling-labs"] = {init: () => {}, get: async () => module};
})();
