// The chosen period: totals, users, counts over time, and the table of names.

import { Colours, countsChart } from "./charts.js";
import { byId, el, nameElement, setText, table, visible } from "./dom.js";
import { count, counted, moment, percent, plain, rate, viewerZone, windowLabel } from "./format.js";
import { starts } from "./period.js";
import { ask } from "./source.js";

const chartNames = 6;
const tableStep = 25, tableMost = 100;

const isByEvent = (report) => report.kind === "measures" && report.by.length === 1 && report.by[0] === "event";
const isUsual = (report) => /^(events|users)-by-/.test(report.name);

/** The report by event names with that measure and the best windows; the usual ones before others. */
export function pickReport(reports, measure, windows) {
  const fitting = reports.filter((report) => isByEvent(report) && report.measures.includes(measure));
  const place = (report) => (isUsual(report) ? 0 : 1) + 2 * (windows.indexOf(report.window) + 1 || 9);
  return fitting.sort((a, b) => place(a) - place(b))[0] ?? null;
}

const path = (report, query) => `/api/reports/${encodeURIComponent(report.name)}?${query}`;

export class Overview {
  #chart = countsChart();
  #colours = new Colours();
  #shownNames = tableStep;
  #rates = new Map();
  #names = null;

  constructor(onWantMore) {
    byId("names-more").addEventListener("click", () => {
      this.#shownNames = Math.min(tableMost, this.#shownNames + tableStep);
      onWantMore();
    });
    let timer = 0;
    byId("search").addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(onWantMore, 150);
    });
  }

  get search() { return byId("search").value.trim(); }

  /** Asks for everything about the period. `isCurrent()`: nobody asked for another one meanwhile. */
  async refresh(reports, period, isCurrent) {
    const query = period.query;
    if (query === null) {
      setText(byId("covers"), "Give a beginning that lies before the end.");
      return;
    }
    const events = pickReport(reports, "count", period.windows);
    const users = pickReport(reports, "unique user", period.windows);
    const search = `groups=${this.#shownNames}&search=${encodeURIComponent(this.search)}`;
    const [overTime, list, people, found] = await Promise.all([
      events && ask(path(events, `${query}&groups=${chartNames}`)),
      events && ask(path(events, `${query}&windows=none&${search}`)),
      users && ask(path(users, `${query}&windows=none&${search}`)),
      this.search ? ask(`/api/rates?search=${encodeURIComponent(this.search)}`) : null,
    ]);
    if (!isCurrent()) return;
    this.#rates = found ? new Map(found.names.map((name) => [name.name, name.rate])) : this.#rates;
    this.#totals(overTime, list, people, period);
    this.#overTime(overTime, period);
    this.#names = { list, people };
    this.#table();
  }

  /** Rates of the names in the table, as they are told every second. */
  takeRates(picture) {
    if (this.search) return;
    this.#rates = new Map(picture.names.map((name) => [name.name, name.rate]));
    if (this.#names) this.#table();
  }

  #totals(overTime, list, people, period) {
    const none = "no report counts this: see Deploy/Guide/Reports.md";
    setText(byId("total"), count(overTime?.total?.count));
    setText(byId("total-note"), overTime ? covered(overTime, period) : none);
    const users = people?.total?.["unique user"];
    setText(byId("users"), users ? (users.exact ? "" : "≈ ") + count(users.value) : "–");
    setText(byId("users-note"), !users ? none
      : (users.exact ? "" : `within ${percent(users.error)}; `)
        + (people.window === overTime?.window ? "of the same period" : `from whole ${people.window}s`)
        + (people.withoutUser > 0 ? `; ${counted(people.withoutUser, "event names", "events name")} none` : ""));
    const names = overTime ? overTime.groups.filter((group) => !group.other).length + overTime.groupsLeftOut : null;
    setText(byId("name-count"), count(names));
    setText(byId("name-count-note"), names === null ? none : "with events in the period");
    setText(byId("covers"), overTime
      ? `Counted by the ${overTime.window}. Times are yours (${viewerZone}).`
      : "");
    const gone = list && overTime ? [
      [overTime.late, "event came after the window had closed, and is in none.", "events came after their window had closed, and are in none."],
      [overTime.expired, "event was in a window that the report keeps no longer.", "events were in windows that the report keeps no longer."],
    ].filter(([number]) => number > 0).map(([number, one, many]) => counted(number, one, many)) : [];
    setText(byId("counts-note"), gone.join(" "));
  }

  #overTime(answer, period) {
    if (!answer || answer.windows.length === 0) {
      this.#chart.show(null, "No events in this period.");
      byId("counts-table").replaceChildren(el("p", { class: "note" }, "No events in this period."));
      setText(byId("counts-note"), "No events in this period.");
      return;
    }
    const times = starts(answer.windows, answer.window, period.range);
    const windows = new Map(answer.windows.map((window) => [Date.parse(window.start), window]));
    const names = answer.groups.filter((group) => !group.other).map((group) => plain(group.by[0]));
    const slots = this.#colours.assign(names);
    const series = names.map((name, index) => ({
      name, slot: slots[index],
      values: times.map((time) => windows.get(time)?.groups
        .find((group) => !group.other && plain(group.by[0]) === name)?.count ?? 0),
    }));
    const others = times.map((time, at) =>
      (windows.get(time)?.total.count ?? 0) - series.reduce((sum, one) => sum + one.values[at], 0));
    if (others.some((value) => value > 0)) series.push({ name: "other names", slot: -1, values: others });
    const labels = times.map((time) => windowLabel(time, answer.window, answer.zone));
    this.#chart.show({ labels, series },
      `Events for each ${answer.window}: ${count(answer.total.count)} in ${times.length} ${answer.window}s.`);
    const columns = [{ title: answer.window }, ...series.map((one) => ({ title: visible(one.name), number: true })),
      { title: "All", number: true }];
    const rows = times.map((time, at) => [
      windowLabel(time, answer.window, answer.zone), ...series.map((one) => count(one.values[at])),
      count(windows.get(time)?.total.count ?? 0)]);
    byId("counts-table").replaceChildren(table(`Events for each ${answer.window}`, columns, rows.reverse().slice(0, 200)));
  }

  #table() {
    const { list, people } = this.#names;
    if (!list) return;
    const groups = list.groups.filter((group) => !group.other);
    const total = list.total.count;
    const users = new Map((people?.groups ?? []).filter((group) => !group.other)
      .map((group) => [plain(group.by[0]), group["unique user"]]));
    const rows = groups.map((group) => {
      const name = plain(group.by[0]);
      const found = users.get(name);
      const bar = el("span", { class: "bar", "aria-hidden": "true" });
      bar.style.setProperty("--share", `${(100 * group.count) / Math.max(1, total)}%`);
      return [nameElement(name), count(group.count), el("span", { class: "share" }, percent(group.count / total), bar),
        found ? (found.exact ? "" : "≈ ") + count(found.value) : "–",
        this.#rates.has(name) ? `${rate(this.#rates.get(name))}/s` : "–"];
    });
    const folded = list.groups.find((group) => group.other)?.folded ?? 0;
    const rest = total - groups.reduce((sum, group) => sum + group.count, 0);
    const hidden = list.groupsLeftOut + folded;
    const other = !this.search && hidden > 0
      ? [`${count(hidden)} other ${hidden === 1 ? "name" : "names"}`, count(rest), percent(rest / total), "", ""] : null;
    byId("names-table").replaceChildren(table("Event names in the period", [
      { title: "Name" }, { title: "Events", number: true }, { title: "Share", number: true },
      { title: "Users", number: true }, { title: "Now", number: true }], rows, other));
    const found = groups.length + list.groupsLeftOut;
    setText(byId("names-note"), this.search
      ? (found ? `${count(found)} ${found === 1 ? "name has" : "names have"} “${visible(this.search)}”`
        + (list.groupsLeftOut ? `, the first ${groups.length} are shown` : "")
        : `No name has “${visible(this.search)}” in this period.`)
      : "");
    byId("names-more").hidden = list.groupsLeftOut === 0 || groups.length >= tableMost;
  }
}

/** Windows are whole, so what is counted begins a little before the period and may go on behind it. */
function covered(answer, period) {
  const first = answer.windows[0], last = answer.windows.at(-1);
  if (!first) return "none in this period";
  const end = Math.min(Date.parse(last.end), Date.now());
  return `${moment(Date.parse(first.start))} to ${period.range.to === null ? "now" : moment(end)}`;
}
