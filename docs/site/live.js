// Figures that move without a kernel: the build wrote their numbers into the page.
{
  const FRAME_MS = { ring: 900, descent: 90 };

  // What a part shows: how many frames there are, and how to draw one of them.
  const kinds = {
    ring(part) {
      const tables = [...part.querySelectorAll("table")];
      const round = part.querySelector("input");
      return {
        frames: () => tables.length,
        draw(frame) {
          round.value = frame;
          round.setAttribute("aria-valuetext", `round ${frame}`);
          tables.forEach((table, number) => (table.hidden = number !== frame));
        },
        chosen: () => Number(round.value),
      };
    },
    descent(part) {
      const given = JSON.parse(part.querySelector("script").textContent);
      const [rate, size] = part.querySelectorAll("input");
      const line = part.querySelector(".path");
      const [start, end] = [part.querySelector(".start"), part.querySelector(".end")];
      const text = part.querySelector(".labs-live-text");
      const place = () => rate.value * given.sizes.length + Number(size.value);
      const path = () => given.paths[place()];
      return {
        frames: () => path().length,
        draw(frame) {
          for (const [input, values] of [[rate, given.rates], [size, given.sizes]]) {
            const value = String(values[input.value]);
            input.setAttribute("aria-valuetext", value);
            input.nextElementSibling.textContent = value;
          }
          const points = path().slice(0, frame + 1);
          line.setAttribute("points", points.join(" "));
          start.setAttribute("x", points[0][0] - 5);
          start.setAttribute("y", points[0][1] - 5);
          end.setAttribute("cx", points.at(-1)[0]);
          end.setAttribute("cy", points.at(-1)[1]);
          const whole = points.length === path().length;
          text.textContent = whole ? given.texts[place()] : `After ${frame} steps`;
        },
        chosen: () => path().length - 1,
      };
    },
  };

  for (const part of document.querySelectorAll(".labs-live")) {
    const { frames, draw, chosen } = kinds[part.dataset.live](part);
    const button = part.querySelector("button");
    const play = button.textContent;
    let timer = 0;
    const stop = () => {
      clearInterval(timer);
      timer = 0;
      button.textContent = play;
    };
    button.addEventListener("click", () => {
      if (timer) return stop();
      let frame = 0;
      draw(frame);
      button.textContent = "Stop";
      timer = setInterval(() => {
        frame += 1;
        draw(frame);
        if (frame >= frames() - 1) stop();
      }, FRAME_MS[part.dataset.live]);
    });
    part.addEventListener("input", () => {
      stop();
      draw(chosen());
    });
    draw(chosen());
    part.hidden = false;
  }
}
