// A prebuilt extension of JupyterLab, written by hand: its container has one module.
// Beside the file browser, a narrow window has no room for a notebook.
(() => {
    const plugin = {
        id: "scaling-labs:narrow",
        description: "Collapses the panels in a narrow window.",
        autoStart: true,
        activate: (app) => {
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
