// Puts the parts together: pictures of the moment come every second, numbers of the period are asked for
// again when the aggregator has counted more.

import { hasCharts } from "./charts.js";
import { byId, setText } from "./dom.js";
import { age, clock, viewerZone } from "./format.js";
import { HealthView } from "./health.js";
import { LiveView } from "./live.js";
import { Overview } from "./overview.js";
import { Period } from "./period.js";
import { ReportsView } from "./reports.js";
import { ask, LiveSource } from "./source.js";

const live = new LiveView();
const health = new HealthView();
const overview = new Overview(() => refresh(true));
const reportsView = new ReportsView(() => refresh(true));
const period = new Period(() => refresh(true));

let turns = 0, isAsking = false;
let asked = { at: 0, took: 0, cursor: -1 };
let picture = null;
let failure = "";

/** Asks for the period's numbers: at once, or when there are new ones and it is time. */
async function refresh(isWanted = false) {
  const cursor = picture ? `${picture.start} ${picture.cursor}` : "";
  const pause = Math.max(period.pace, 10 * asked.took);
  if (!isWanted && (isAsking || Date.now() - asked.at < pause)) return;
  // Numbers of a period move on with the clock too, but slowly.
  if (!isWanted && cursor === asked.cursor && Date.now() - asked.at < 30000) return;
  const turn = ++turns;
  isAsking = true;
  const begun = Date.now();
  const isCurrent = () => turn === turns;
  try {
    const { reports } = await ask("/api/reports");
    await Promise.all([
      overview.refresh(reports, period, isCurrent), reportsView.refresh(reports, period, isCurrent)]);
    if (!isCurrent()) return;
    failure = "";
    const isEmpty = reports.every((report) => report.events === 0) && !(picture?.cursor > 0);
    document.body.dataset.content = isEmpty ? "empty" : "full";
    byId("empty").hidden = !isEmpty;
    const zones = [...new Set(reports.map((report) => report.zone))];
    setText(byId("zones"), `Times are shown in your zone, ${viewerZone}. Days, weeks and months are those of `
      + `${zones.join(", ")}, the ${zones.length > 1 ? "zones" : "zone"} of the reports.`);
  } catch (error) {
    if (!isCurrent()) return;
    failure = error.message;
  } finally {
    if (isCurrent()) {
      isAsking = false;
      asked = { at: Date.now(), took: Date.now() - begun, cursor };
      banner();
    }
  }
}

let connection = "connecting", retryAt = 0;

function banner() {
  const since = source.lastPicture ? ` The numbers are of ${clock(source.lastPicture)}.` : "";
  let text = "", wait = "";
  if (connection === "lost") {
    const left = retryAt - Date.now();
    text = `The aggregator does not answer.${since}`;
    wait = left > 1000 ? `Trying again in ${age(left)}.` : "Trying again.";
  } else if (connection === "stale") {
    text = `Nothing comes from the aggregator any more.${since}`;
  } else if (picture?.trouble) {
    text = `The aggregator cannot store what it counts: ${picture.trouble}`;
  } else if (picture && !picture.connected) {
    text = "The aggregator does not reach the bus. Numbers stand still until it does.";
  } else if (picture?.reportFile) {
    text = `The report file is not used as it stands: ${picture.reportFile}`;
  } else if (failure) {
    text = `Not all numbers could be had: ${failure}`;
  }
  byId("banner").hidden = text === "";
  setText(byId("banner-text"), text);
  // Outside the alert: nobody wants each second of the wait read out.
  setText(byId("banner-wait"), wait);
  byId("banner-retry").hidden = connection !== "lost";
}

const states = { connecting: "Connecting", live: "Live", stale: "Silent", lost: "Not connected", paused: "Paused" };

const source = new LiveSource(
  (next) => {
    picture = next;
    live.show(picture);
    overview.takeRates(picture);
    health.refresh();
    refresh();
    banner();
  },
  (state, retry) => {
    connection = state;
    retryAt = retry;
    document.body.dataset.connection = state;
    setText(byId("connection"), states[state]);
    if (state === "live") refresh(true);
    banner();
  });

byId("library").hidden = hasCharts();
document.body.classList.toggle("no-charts", !hasCharts());
if (!hasCharts()) document.querySelectorAll(".as-table").forEach((details) => { details.open = true; });
byId("empty-commands").textContent =
  'eventbus publish --event "Survey Answer" --property answer=yes --user you\n'
  + "curl http://127.0.0.1:7410/v1/events -d '[{\"event\": \"Signed Up\", \"userId\": \"u-1\"}]'";
byId("banner-retry").addEventListener("click", () => source.retry());
setInterval(() => { if (connection !== "live") banner(); }, 1000);
source.retry();
refresh(true);
