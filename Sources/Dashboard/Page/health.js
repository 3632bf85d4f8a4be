// Every process of the pipeline: does it work, how far is it behind, what did it refuse.

import { byId, el, setText, table, visible } from "./dom.js";
import { clock, count } from "./format.js";
import { ask } from "./source.js";

const words = { running: "running", trouble: "needs attention", stopped: "not running" };

export class HealthView {
  #asked = 0;
  #isAsking = false;

  /** Asks again when the last answer is two seconds old. */
  async refresh() {
    if (this.#isAsking || Date.now() - this.#asked < 2000) return;
    this.#isAsking = true;
    try {
      this.#show(await ask("/api/health"));
    } catch (error) {
      setText(byId("pipeline-note"), `The processes could not be asked: ${error.message}`);
    } finally {
      this.#isAsking = false;
      this.#asked = Date.now();
    }
  }

  #show(answer) {
    const rows = answer.processes.map((process) => {
      const state = el("span", { class: `state ${process.state}` }, words[process.state] ?? process.state);
      const detail = process.detail && process.detail !== words[process.state] && process.detail !== "delivering"
        ? el("span", { class: "note" }, visible(process.detail)) : null;
      return [el("bdi", {}, visible(process.name)), visible(process.role), el("span", {}, state, " ", detail),
        count(process.lag), count(process.cursor), count(process.refused), count(process.dead),
        el("span", { class: process.lastError ? "error-text" : "error-text none" }, visible(process.lastError || "–"))];
    });
    byId("pipeline-table").replaceChildren(table("Processes of the pipeline", [
      { title: "Process" }, { title: "Role" }, { title: "State" }, { title: "Behind", number: true },
      { title: "Cursor", number: true }, { title: "Refused", number: true },
      { title: "Dead letters", number: true }, { title: "Last error" }], rows));
    this.#tile(answer.processes);
    setText(byId("pipeline-note"), `Asked at ${clock(Date.parse(answer.time))}. “Behind” are events between a `
      + "process’s cursor and the newest; the broker’s cursor is the next offset it gives.");
  }

  #tile(processes) {
    const wrong = processes.filter((process) => process.state !== "running");
    const sick = wrong.filter((process) => process.state === "trouble" || process.role === "broker");
    const lag = Math.max(0, ...processes.map((process) => process.lag ?? 0));
    const dead = processes.reduce((sum, process) => sum + (process.dead ?? 0), 0);
    setText(byId("health-figure"), sick.length ? `${sick.length} in trouble`
      : `${processes.length - wrong.length} running`);
    byId("health-figure").dataset.state = sick.length ? "trouble" : "running";
    const parts = [lag ? `at most ${count(lag)} behind` : "nothing behind"];
    if (wrong.length > sick.length) parts.push(`${wrong.length - sick.length} not running`);
    if (dead) parts.push(`${count(dead)} dead letters`);
    setText(byId("health-note"), parts.join(", "));
  }
}
