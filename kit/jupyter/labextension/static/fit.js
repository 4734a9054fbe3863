// A prebuilt extension of JupyterLab, written by hand: its container has one module.
// Beside the file browser, a narrow window has no room for a notebook. In a wide one, lines
// of 1,500 pixels would be hard to read: a notebook is a column in its middle. The first line
// of a cell whose code is folded is cut, else the notebook would be as wide as the line.
(() => {
    const COLUMN = ".jp-Notebook :is(.jp-Cell, .jp-Notebook-footer) " +
        "{ max-width: 1040px; margin-inline: auto; }" +
        ".jp-Placeholder-content { max-width: 100%; overflow: hidden; }" +
        ".jp-Placeholder, .jp-Placeholder-contentContainer { min-width: 0; }";
    const plugin = {
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
    const module = () => ({__esModule: true, default: plugin});
    window._JUPYTERLAB = window._JUPYTERLAB || {};
    window._JUPYTERLAB["scaling-labs"] = {init: () => {}, get: async () => module};
})();
