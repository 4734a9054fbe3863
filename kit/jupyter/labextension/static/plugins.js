// A prebuilt extension of JupyterLab, written by hand: its container has one module, with
// two plugins.
(() => {
    // Beside the file browser, a narrow window has no room for a notebook. In a wide one,
    // lines of 1,500 pixels would be hard to read: a notebook is a column in its middle. The
    // first line of a cell whose code is folded is cut, else the notebook would be as wide as
    // the line.
    const COLUMN = ".jp-Notebook :is(.jp-Cell, .jp-Notebook-footer) " +
        "{ max-width: 1040px; margin-inline: auto; }" +
        ".jp-Placeholder-content { max-width: 100%; overflow: hidden; }" +
        ".jp-Placeholder, .jp-Placeholder-contentContainer { min-width: 0; }";
    const fit = {
        id: "scaling-labs:fit",
        description: "Lets a notebook fit its window.",
        autoStart: true,
        activate: (app) => {
            const style = document.createElement("style");
            style.textContent = COLUMN;
            document.head.append(style);
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

    // A link names a section as GitHub and the site do: `page.md#what-to-do-if`. JupyterLab
    // knows that heading as `What-to-do-if`, so the page is scrolled to it here. And a link
    // of a page to a lab of notebooks/ opens the student's own copy in work/.
    const LONGEST_WAIT_MS = 10000;
    const nameOf = (heading) => heading.textContent.replace("¶", "").trim().toLowerCase()
        .replace(/[^\p{L}\p{N}_ -]/gu, "").replaceAll(" ", "-");
    const goToSection = (app, path, name) => {
        const until = Date.now() + LONGEST_WAIT_MS;
        const look = () => {
            const page = app.shell.currentWidget;
            const isThere = page?.context && path.endsWith(page.context.path);
            const headings = isThere
                ? [...page.node.querySelectorAll(".jp-MarkdownViewer :is(h1, h2, h3, h4)")]
                : [];
            const heading = headings.find((one) => nameOf(one) === name);
            if (heading) heading.scrollIntoView();
            else if (Date.now() < until) setTimeout(look, 100);
        };
        look();
    };
    const openOwnCopy = (app, file) => app.serviceManager.contents
        .get(`work/${file}`, {content: false})
        .then(() => `work/${file}`, () => `notebooks/${file}`)
        .then((path) => app.commands.execute("docmanager:open", {path}));
    const links = {
        id: "scaling-labs:links",
        description: "Lets the links of a page find their section, and your own notebooks.",
        autoStart: true,
        activate: (app) => {
            app.commands.commandExecuted.connect((_, {id, args}) => {
                if (id !== "rendermime:handle-local-link" || !args.id || !args.path) return;
                goToSection(app, args.path, args.id.replace(/^#/, ""));
            });
            const follow = (event) => {
                const link = event.target.closest?.(".jp-MarkdownViewer a");
                const page = app.shell.currentWidget?.context;
                if (!link || !page) return;
                if (link.getAttribute("href")?.startsWith("#"))
                    goToSection(app, page.path, link.hash.slice(1));
                const lab = /\/notebooks\/(\d\d_\w+\.ipynb)/.exec(link.href);
                if (!lab) return;
                event.preventDefault();
                event.stopPropagation();
                openOwnCopy(app, lab[1]);
            };
            document.addEventListener("click", follow, true);
        },
    };

    const module = () => ({__esModule: true, default: [fit, links]});
    window._JUPYTERLAB = window._JUPYTERLAB || {};
    window._JUPYTERLAB["scaling-labs"] = {init: () => {}, get: async () => module};
})();
