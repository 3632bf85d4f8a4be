// Charts by Chart.js, where it is installed. What a chart shows, a table beside it shows too.

import { byId, short, visible } from "./dom.js";

export const hasCharts = () => typeof Chart !== "undefined";

const boxes = [];
const dark = matchMedia("(prefers-color-scheme: dark)");
dark.addEventListener("change", () => boxes.forEach((box) => box.redraw()));

const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
export const seriesColours = 7;
export const colour = (slot) => (slot < 0 ? style("--other") : style(`--series-${slot + 1}`));

/** Gives each shown name a colour and lets it keep that while it is shown, whatever its rank. */
export class Colours {
  #slots = new Map();

  assign(names) {
    const taken = new Set(names.map((name) => this.#slots.get(name)).filter((slot) => slot !== undefined));
    const seen = new Set();
    for (const name of names) {
      let slot = this.#slots.get(name);
      if (slot === undefined || seen.has(slot)) {
        slot = [...Array(seriesColours).keys()].find((free) => !taken.has(free)) ?? -1;
        this.#slots.set(name, slot);
      }
      taken.add(slot);
      seen.add(slot);
    }
    for (const name of this.#slots.keys()) if (!names.includes(name)) this.#slots.delete(name);
    return names.map((name) => this.#slots.get(name));
  }
}

class ChartBox {
  #chart = null;
  #last = null;

  constructor(id, make) {
    this.canvas = byId(id);
    this.make = make;
    boxes.push(this);
  }

  /** `description` is what the picture says, for who does not see it. */
  show(data, description) {
    this.#last = [data, description];
    this.canvas.setAttribute("aria-label", description);
    const box = this.canvas.parentElement;
    box.hidden = !hasCharts() || data === null;
    if (box.hidden) return;
    const config = this.make(data);
    if (this.#chart === null) {
      this.#chart = new Chart(this.canvas, config);
      return;
    }
    this.#chart.data.labels = config.data.labels;
    // Datasets are kept, so that what a person switched off in the legend stays off.
    const old = new Map(this.#chart.data.datasets.map((set) => [set.label, set]));
    this.#chart.data.datasets = config.data.datasets.map((set) =>
      Object.assign(old.get(set.label) ?? {}, set));
    this.#chart.options = config.options;
    this.#chart.update("none");
  }

  redraw() {
    this.#chart?.destroy();
    this.#chart = null;
    if (this.#last) this.show(...this.#last);
  }
}

function options({ stacked = false, horizontal = false, legend = true, integers = true, x = {} }) {
  const text = style("--muted"), line = style("--line"), ink = style("--ink");
  const values = {
    stacked, beginAtZero: true, suggestedMax: 4, border: { display: false },
    grid: { color: line, drawBorder: false },
    ticks: { color: text, maxTicksLimit: 6, precision: integers ? 0 : undefined },
  };
  const labels = {
    stacked, grid: { display: false, drawBorder: false },
    ticks: { color: text, maxRotation: 0, autoSkip: true, autoSkipPadding: 18, ...x },
  };
  return {
    animation: false, responsive: true, maintainAspectRatio: false, indexAxis: horizontal ? "y" : "x",
    interaction: { mode: "index", intersect: false, axis: horizontal ? "y" : "x" },
    scales: horizontal ? { x: values, y: labels } : { x: labels, y: values },
    plugins: {
      legend: {
        display: legend, position: "bottom", align: "start",
        labels: { color: ink, usePointStyle: true, pointStyle: "rectRounded", boxWidth: 10, boxHeight: 8, padding: 14 },
      },
      tooltip: { filter: (item) => item.raw !== 0 && item.raw !== null, itemSort: (a, b) => b.raw - a.raw },
    },
  };
}

const font = () => { if (hasCharts()) Chart.defaults.font.family = getComputedStyle(document.body).fontFamily; };

/** {labels, values}: one line over the last seconds. */
export const liveChart = () => new ChartBox("live-chart", ({ labels, values }) => {
  font();
  return {
    type: "line",
    data: {
      labels,
      datasets: [{
        label: "events a second", data: values, borderColor: style("--series-1"),
        backgroundColor: style("--series-1-soft"), fill: true, borderWidth: 2, pointRadius: 0,
        pointHitRadius: 8, cubicInterpolationMode: "monotone",
      }],
    },
    options: options({ legend: false, x: { autoSkip: false } }),
  };
});

/** {labels, series: [{name, slot, values}]}: stacked columns. */
export const countsChart = () => new ChartBox("counts-chart", ({ labels, series }) => {
  font();
  return {
    type: "bar",
    data: {
      labels,
      datasets: series.map((one) => ({
        label: short(one.name), data: one.values, backgroundColor: colour(one.slot), stack: "all",
        borderColor: style("--card"), borderWidth: { top: 1 }, borderSkipped: false, maxBarThickness: 36,
        categoryPercentage: 0.92, barPercentage: 0.94,
      })),
    },
    options: options({ stacked: true }),
  };
});

/** {labels, series}: bars from the left, stacked where there are two breakdowns. */
export const breakdownChart = () => new ChartBox("breakdown-chart", ({ labels, series }) => {
  font();
  return {
    type: "bar",
    data: {
      labels: labels.map((label) => short(label, 22)),
      datasets: series.map((one) => ({
        label: short(one.name, 24), data: one.values, backgroundColor: colour(one.slot), stack: "all",
        borderColor: style("--card"), borderWidth: { right: 1 }, borderSkipped: false, maxBarThickness: 26,
      })),
    },
    options: options({ stacked: true, horizontal: true, legend: series.length > 1 }),
  };
});

/** {labels, series}: one line for each quantile, the highest first. */
export const quantilesChart = () => new ChartBox("quantiles-chart", ({ labels, series }) => {
  font();
  return {
    type: "line",
    data: {
      labels,
      datasets: series.map((one) => ({
        label: visible(one.name), data: one.values, borderColor: colour(one.slot),
        backgroundColor: colour(one.slot), borderWidth: 2, cubicInterpolationMode: "monotone", spanGaps: true,
        pointRadius: labels.length > 40 ? 0 : 2, pointHitRadius: 8,
      })),
    },
    options: options({ integers: false }),
  };
});
