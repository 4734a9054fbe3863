// Names and values of live widgets for screen readers; ipywidgets and ipympl give them none.
// It runs with each output, and does its work once for each page.
if (!window.labsAccessible) {
    window.labsAccessible = true;
    const set = (element, name, value) => {
        if (element.getAttribute(name) !== value) element.setAttribute(name, value);
    };
    const text = (element) => (element ? element.innerText.trim() : "");

    // "link [Gbit/s]" at 25.0 is "link", "25.0 Gbit/s"; not the exponent of a logarithmic slider.
    const slider = (handle) => {
        const widget = handle.closest(".widget-slider");
        if (!widget) return;
        const label = text(widget.querySelector(".widget-label"));
        const unit = /\[(.*)\]/.exec(label);
        set(handle, "aria-label", label.replace(/\s*\[.*\]/, ""));
        const readout = widget.querySelector(".widget-readout");
        const value = text(readout);
        if (readout) {
            set(readout, "role", "textbox");
            set(readout, "aria-label", label);
        }
        if (value) set(handle, "aria-valuetext", value + (unit ? " " + unit[1] : ""));
    };

    // The picture that is kept has the figure's text; a training has none until its end.
    const figure = (place) => {
        const area = place.closest(".jp-OutputArea");
        const kept = area && area.querySelector(".labs-kept img");
        set(place, "role", "img");
        set(place, "aria-label", kept ? kept.alt : "Curves of the training under way");
        set(place, "tabindex", "-1");  // a picture takes no keys, and ipympl gives none back
    };

    const bar = (element) => {
        set(element, "role", "progressbar");
        set(element, "aria-label", "Part of the training that is done");
    };

    const choices = (box) => {
        const question = box.closest(".widget-vbox").querySelector(".widget-html-content");
        const radios = box.querySelector(".widget-radio-box");
        set(radios, "role", "radiogroup");
        set(radios, "aria-label", text(question));
        // Tab goes to a question once, and the arrows to its choices.
        const inputs = [...radios.querySelectorAll("input")];
        const here = inputs.find((one) => one === document.activeElement)
            || inputs.find((one) => one.getAttribute("tabindex") === "0")
            || inputs.find((one) => one.checked) || inputs[0];
        inputs.forEach((one) => set(one, "tabindex", one === here ? "0" : "-1"));
    };

    // Several fields are a group, and what stands above them is its name. A refused field
    // leads to the reason below it.
    let reasons = 0;
    const form = (box) => {
        const legend = box.parentElement.querySelector(":scope > .labs-legend");
        if (legend) {
            set(box, "role", "group");
            set(box, "aria-label", text(legend));
        }
        box.querySelectorAll(".widget-toggle-buttons").forEach((buttons) => {
            set(buttons, "role", "group");
            set(buttons, "aria-label", text(buttons.querySelector(".widget-label")));
        });
        box.querySelectorAll('input[type="text"], select').forEach((field) => {
            const refused = field.closest(".labs-refused");
            const reason = refused?.nextElementSibling?.querySelector('[role="alert"]');
            if (reason && !reason.id) reason.id = `labs-reason-${++reasons}`;
            set(field, "aria-invalid", String(!!refused));
            for (const name of ["aria-describedby", "aria-errormessage"]) {
                if (reason) set(field, name, reason.id);
                else field.removeAttribute(name);
            }
        });
    };

    // A figure is drawn again at the width that is there, by helpers/narrow_figures.py. A
    // training has no time for that: its curves shrink.
    const outer = (element) => element.closest(".jp-OutputArea-output");
    const width = (field) => {
        const input = field.querySelector("input");
        const area = outer(field);
        if (!input || !area || !area.clientWidth) return;
        const canvas = area.querySelector(".jupyter-matplotlib-canvas-container");
        const room = area.clientWidth - 8;
        const fits = !canvas || canvas.offsetWidth <= area.clientWidth;
        if (input.value === String(room) || (fits && input.value === "0")) return;
        input.value = room;
        input.dispatchEvent(new Event("change", {bubbles: true}));
    };
    const shrink = (figure) => {
        const canvas = figure.querySelector(".jupyter-matplotlib-canvas-div");
        const area = outer(figure);
        if (!canvas || !area || !area.clientWidth) return;
        const zoom = Math.min(1, area.clientWidth / (parseFloat(canvas.style.width) + 8));
        if (zoom > 0 && figure.style.zoom !== String(zoom)) figure.style.zoom = zoom;
    };
    const fit = () => {
        document.querySelectorAll(".labs-width").forEach(width);
        document.querySelectorAll(".labs-dashboard .jupyter-matplotlib").forEach(shrink);
    };

    const name = () => {
        fit();
        document.querySelectorAll(".widget-slider .noUi-handle").forEach(slider);
        document.querySelectorAll(".jupyter-matplotlib-canvas-div").forEach(figure);
        document.querySelectorAll(".labs-dashboard .progress").forEach(bar);
        document.querySelectorAll(".labs-quiz .widget-radio").forEach(choices);
        document.querySelectorAll(".labs-prediction").forEach(form);
    };
    let waits = false;
    new MutationObserver(() => {
        if (waits) return;
        waits = true;
        requestAnimationFrame(() => {
            waits = false;
            name();
        });
    }).observe(document.body, {
        subtree: true, childList: true, characterData: true,
        attributeFilter: ["aria-valuetext", "alt"],
    });
    new ResizeObserver(fit).observe(document.querySelector("#jp-main-dock-panel") || document.body);
    name();

    // The button for the solution is then disabled, and would leave the focus nowhere.
    document.addEventListener("click", (event) => {
        const button = event.target.closest && event.target.closest(".labs-hint");
        const area = button && button.closest(".jp-OutputArea");
        if (!area || !button.innerText.includes("solution")) return;
        const wait = new MutationObserver(() => {
            const solution = area.querySelector(".labs-solution");
            if (!solution) return;
            wait.disconnect();
            solution.focus();
        });
        wait.observe(area, {subtree: true, childList: true});
    });

    // A form that is locked is disabled, and would leave the focus nowhere, too.
    document.addEventListener("click", (event) => {
        const button = event.target.closest && event.target.closest(".labs-prediction button");
        if (!button || !button.classList.contains("mod-primary")) return;
        const wait = new MutationObserver(() => {
            const said = button.parentElement.querySelector('[role="alert"]');
            if (!button.disabled || !said) return;
            wait.disconnect();
            set(said, "tabindex", "-1");
            said.focus();
        });
        wait.observe(button.parentElement, {
            subtree: true, childList: true, attributeFilter: ["disabled"],
        });
    });

    // ipympl keeps every key from the page, also the one that leads on: a trap.
    window.addEventListener("keydown", (event) => {
        const place = event.target.closest
            && event.target.closest(".jupyter-matplotlib-canvas-div");
        if (place && event.key === "Tab") event.stopPropagation();
    }, true);

    // A figure without a kernel would still try to tell it of the mouse, and fail.
    const isDead = ".jupyter-widgets-disconnected .jupyter-matplotlib-canvas-div *";
    for (const kind of ["move", "enter", "leave", "down", "up"].map((one) => `mouse${one}`))
        window.addEventListener(kind, (event) => {
            if (event.target.matches?.(isDead)) event.stopPropagation();
        }, true);

    // As in any form, Enter is its button. The field passes its text on when it is left.
    document.addEventListener("keydown", (event) => {
        const form = event.target.closest && event.target.closest(".labs-prediction");
        if (!form || event.key !== "Enter" || event.target.type !== "text") return;
        event.target.blur();
        event.target.focus();
        form.querySelector("button.mod-primary").click();
    }, true);

    // The arrows go to the next choice and do not choose it: the first answer counts.
    const steps = {ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1};
    window.addEventListener("keydown", (event) => {
        const box = event.target.closest && event.target.closest(".labs-quiz .widget-radio-box");
        if (!box || !(event.key in steps)) return;
        const radios = [...box.querySelectorAll("input")];
        const next = radios.indexOf(event.target) + steps[event.key];
        const there = radios[(next + radios.length) % radios.length];
        radios.forEach((one) => set(one, "tabindex", one === there ? "0" : "-1"));
        there.focus();
        event.preventDefault();
        event.stopPropagation();
    }, true);
}
