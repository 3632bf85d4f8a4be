// What happens just now: the figure, the line and the busiest names.

import { liveChart } from "./charts.js";
import { byId, el, nameElement, setText, table } from "./dom.js";
import { counted, rate } from "./format.js";

const shownNames = 12;
const seconds = 120;

export class LiveView {
  #chart = liveChart();

  show(picture) {
    setText(byId("rate"), rate(picture.rate));
    const busy = picture.names.filter((name) => name.rate > 0).length + (picture.otherRate > 0 ? picture.otherNames : 0);
    setText(byId("rate-note"), picture.lag > 1000
      ? `catching up: ${counted(picture.lag, "event")} behind`
      : `${counted(busy, "name")} busy`);
    document.title = `${rate(picture.rate)}/s · eventbus`;
    this.#line(picture.history);
    this.#names(picture);
  }

  #line(history) {
    const values = [...Array(Math.max(0, seconds - history.length)).fill(null), ...history];
    const labels = values.map((_, index) => {
      const ago = values.length - 1 - index;
      return ago % 20 ? "" : ago === 0 ? "now" : `−${ago} s`;
    });
    const highest = Math.max(0, ...history);
    this.#chart.show({ labels, values },
      `Events a second over the last two minutes: now ${rate(history.at(-1) ?? 0)}, at most ${rate(highest)}.`);
    drawSpark(byId("spark"), history.slice(-60));
    const rows = [];
    for (let end = history.length; end > 0 && rows.length < 12; end -= 10) {
      const part = history.slice(Math.max(0, end - 10), end);
      rows.push([`${history.length - end} to ${history.length - end + part.length} seconds ago`,
        rate(part.reduce((sum, value) => sum + value, 0) / part.length), rate(Math.max(...part))]);
    }
    byId("live-table").replaceChildren(table("Events a second", [
      { title: "When" }, { title: "Mean", number: true }, { title: "Most", number: true }], rows));
  }

  #names(picture) {
    const shown = picture.names.slice(0, shownNames);
    const most = Math.max(...shown.map((name) => name.rate), 0.001);
    byId("live-names").replaceChildren(...shown.map((name) => {
      const bar = el("span", { class: "bar", "aria-hidden": "true" });
      bar.style.setProperty("--share", `${(100 * name.rate) / most}%`);
      return el("li", { class: name.rate > 0 ? null : "quiet" },
        nameElement(name.name), el("span", { class: "value" }, `${rate(name.rate)}/s`), bar);
    }));
    const hidden = picture.nameCount - shown.length;
    const hiddenRate = picture.rate - shown.reduce((sum, name) => sum + name.rate, 0);
    setText(byId("live-others"), hidden > 0
      ? `and ${counted(hidden, "other name")} with ${rate(Math.max(0, hiddenRate))}/s`
      : "");
  }
}

function drawSpark(svg, values) {
  const most = Math.max(...values, 1);
  const step = 120 / Math.max(1, values.length - 1);
  const points = values.map((value, index) =>
    `${(index * step).toFixed(1)},${(30 - (28 * value) / most).toFixed(1)}`);
  let path = svg.querySelector("path");
  if (!path) {
    path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    svg.append(path);
  }
  path.setAttribute("d", points.length > 1 ? `M0,32 L${points.join(" L")} L120,32 Z` : "");
}
