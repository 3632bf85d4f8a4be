// Reports that somebody defined: a breakdown, a funnel, quantiles.

import { breakdownChart, Colours, quantilesChart } from "./charts.js";
import { byId, el, fillSelect, nameElement, setText, table, visible } from "./dom.js";
import { count, counted, distinct, measured, percent, windowLabel } from "./format.js";
import { ask } from "./source.js";

const quantilesOf = (report) => report.measures.find((measure) => measure.startsWith("quantiles "));
const isBreakdown = (report) =>
  report.kind === "measures" && report.by.length > 0 && report.by.some((by) => by !== "event")
  && report.measures.includes("count");
const mostBars = 12, mostKinds = 6;

/** Which report it is, and what a person should know about its numbers, counted since it began. */
function note(answer) {
  const remarks = [[answer.withoutUser, "events name no user"], [answer.late, "events came too late"],
    [answer.expired, "events were in windows that it keeps no longer"],
    [answer.unreadable, "events could not be read"],
    [answer.trimmed, "entries of very active users were given up"]]
    .filter(([number]) => number > 0).map(([number, text]) => `; ${count(number)} ${text}`);
  return `“${visible(answer.report)}”, by the ${answer.window} in ${answer.zone}${remarks.join("")}`;
}

export class ReportsView {
  #reports = [];
  #breakdown = breakdownChart();
  #quantiles = quantilesChart();
  #colours = new Colours();

  constructor(onChoice) {
    for (const id of ["breakdown-pick", "funnel-pick", "quantiles-pick"]) {
      byId(id).addEventListener("change", onChoice);
    }
  }

  async refresh(reports, period, isCurrent) {
    const query = period.query;
    if (query === null) return;
    this.#reports = reports;
    await Promise.all([
      this.#one("breakdown", isBreakdown, `${query}&windows=none&groups=100`, isCurrent,
        (answer) => this.#showBreakdown(answer),
        'No report breaks events down by a property: add "by": ["properties.plan"] to one in the report file.'),
      this.#one("funnel", (report) => report.kind === "funnel", `${query}&windows=none`, isCurrent,
        (answer) => this.#showFunnel(answer),
        'No report is a funnel: add "funnel": ["Cart Viewed", "Order Placed"] to the report file.'),
      this.#one("quantiles", (report) => quantilesOf(report), `${query}&groups=1`, isCurrent,
        (answer) => this.#showQuantiles(answer),
        'No report has quantiles: add "measures": [{"quantiles": "properties.ms"}] to one in the report file.'),
    ]);
  }

  async #one(id, fits, query, isCurrent, show, missing) {
    const fitting = this.#reports.filter(fits);
    const select = byId(`${id}-pick`);
    fillSelect(select, fitting);
    select.parentElement.hidden = fitting.length === 0;
    byId(id).classList.toggle("absent", fitting.length === 0);
    if (fitting.length === 0) {
      setText(byId(`${id}-note`), missing);
      return;
    }
    const answer = await ask(`/api/reports/${encodeURIComponent(select.value)}?${query}`);
    if (isCurrent() && answer.report === select.value) show(answer);
  }

  #showBreakdown(answer) {
    const groups = answer.groups.filter((group) => !group.other);
    const [labels, kinds] = [new Map(), new Map()];
    for (const group of groups) {
      const label = distinct(group.by[0]);
      const kind = group.by.length > 1 ? group.by.slice(1).map(distinct).join(", ") : "events";
      labels.set(label, (labels.get(label) ?? 0) + group.count);
      kinds.set(kind, (kinds.get(kind) ?? 0) + group.count);
    }
    const biggest = (map, most) => [...map].sort((a, b) => b[1] - a[1]).slice(0, most).map(([key]) => key);
    const bars = biggest(labels, mostBars);
    const shownKinds = biggest(kinds, mostKinds);
    const slots = this.#colours.assign(shownKinds);
    const countOf = (label, kind) => groups
      .filter((group) => distinct(group.by[0]) === label
        && (kind === "events" || group.by.slice(1).map(distinct).join(", ") === kind))
      .reduce((sum, group) => sum + group.count, 0);
    const series = shownKinds.map((kind, index) =>
      ({ name: kind, slot: kind === "events" ? 0 : slots[index], values: bars.map((bar) => countOf(bar, kind)) }));
    const rest = bars.map((bar, at) =>
      labels.get(bar) - series.reduce((sum, one) => sum + one.values[at], 0));
    if (rest.some((value) => value > 0)) series.push({ name: "other", slot: -1, values: rest });
    const total = answer.total.count;
    this.#breakdown.show(groups.length ? { labels: bars, series } : null,
      groups.length ? `${counted(total, "event")} by ${visible(answer.by.join(" and "))}: `
        + bars.slice(0, 5).map((bar) => `${visible(bar)} ${percent(labels.get(bar) / total)}`).join(", ")
        : "No events in this period.");
    const unshown = total - groups.reduce((sum, group) => sum + group.count, 0);
    const other = answer.groupsLeftOut + (answer.groups.find((group) => group.other)?.folded ?? 0);
    byId("breakdown-table").replaceChildren(table(visible(answer.title || answer.report),
      [...answer.by.map((by) => ({ title: visible(by) })), { title: "Events", number: true }, { title: "Share", number: true }],
      groups.map((group) => [...group.by.map((value) => nameElement(distinct(value))), count(group.count),
        percent(group.count / total)]),
      other > 0 ? [counted(other, "other"), ...answer.by.slice(1).map(() => ""), count(unshown), percent(unshown / total)] : null));
    const more = labels.size - bars.length;
    setText(byId("breakdown-note"), groups.length
      ? `${counted(total, "event")}. ` + note(answer) + (more > 0 ? `; ${count(more)} more ${more === 1 ? "value" : "values"} in the table` : "")
      : "No events in this period. " + note(answer));
  }

  #showFunnel(answer) {
    const steps = answer.total.steps ?? [];
    const first = steps[0]?.users ?? 0;
    byId("funnel-steps").replaceChildren(...steps.map((step, index) => {
      const before = index ? steps[index - 1].users : first;
      const bar = el("span", { class: "bar", "aria-hidden": "true" });
      bar.style.setProperty("--share", `${first ? (100 * step.users) / first : 0}%`);
      return el("li", {},
        el("span", { class: "step" }, nameElement(step.step)),
        el("span", { class: "value" }, `${count(step.users)} users`),
        bar,
        el("span", { class: "note" }, index === 0 ? "first step"
          : `${percent(first ? step.users / first : NaN)} of the first step`
            + (index > 1 ? `, ${percent(before ? step.users / before : NaN)} of the step before` : "")));
    }));
    setText(byId("funnel-note"), (first ? "" : "Nobody took the first step in this period. ")
      + `Each user counts once in each ${answer.window}. ` + note(answer));
  }

  #showQuantiles(answer) {
    const key = Object.keys(answer.total).find((measure) => measure.startsWith("quantiles "));
    const total = answer.total[key] ?? {};
    const parts = Object.keys(total).filter((part) => /^p\d/.test(part));
    byId("quantiles-total").replaceChildren(...parts.map((part) =>
      el("div", {}, el("dt", {}, part), el("dd", {}, measured(total[part])))));
    const windows = answer.windows.slice(-400);
    const labels = windows.map((window) => windowLabel(Date.parse(window.start), answer.window, answer.zone));
    const series = parts.map((part, index) =>
      ({ name: part, slot: index, values: windows.map((window) => window.total[key]?.[part] ?? null) })).reverse();
    this.#quantiles.show(windows.length ? { labels, series } : null,
      windows.length ? `${visible(key ?? "")} over time; the whole period: `
        + parts.map((part) => `${part} ${measured(total[part])}`).join(", ") : "No values in this period.");
    byId("quantiles-table").replaceChildren(table(visible(key ?? "quantiles"),
      [{ title: answer.window }, ...parts.map((part) => ({ title: part, number: true })), { title: "Values", number: true }],
      windows.map((window, at) => [labels[at], ...parts.map((part) => measured(window.total[key]?.[part])),
        count(window.total[key]?.count)]).reverse().slice(0, 200)));
    setText(byId("quantiles-note"), total.count
      ? `${count(total.count)} values, ${total.error ? `within ${percent(total.error)}` : "exact"}. ` + note(answer)
      : "No values in this period. " + note(answer));
  }
}
