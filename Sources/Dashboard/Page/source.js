// Where the numbers come from: the stream of pictures, and questions to the API.

import { parse } from "./format.js";

const longestWait = 30000;
/** Pictures come every second; after so long without one they are old. */
const staleAfter = 5000;
/** A browser has six connections to a machine for all its tabs: one that nobody sees gives its own back. */
const hiddenFor = 60000;

/** Asks the aggregator; throws an Error whose message a person can read. */
export async function ask(path) {
  const answer = await fetch(path, { signal: AbortSignal.timeout(20000), headers: { Accept: "application/json" } });
  if (answer.status === 401) {
    location.assign("/login");
    throw new Error("sign in first");
  }
  const body = await answer.text();
  let value = null;
  try { value = parse(body); } catch { /* told below */ }
  if (!answer.ok) throw new Error(value?.error ?? (body.trim() || `the aggregator answered ${answer.status}`));
  if (value === null) throw new Error("the aggregator answered with something that is no JSON");
  return value;
}

/**
 * Follows /api/live for ever. `onPicture(picture)` for each; `onState(state, retryAt)` when it becomes
 * "live", "stale" (connected and silent), "lost" (to be tried again at a time) or "paused" (unseen).
 */
export class LiveSource {
  #source = null;
  #timer = 0;
  #hiding = 0;
  #failures = 0;
  #lastPicture = 0;
  #state = "connecting";

  constructor(onPicture, onState) {
    this.onPicture = onPicture;
    this.onState = onState;
    setInterval(() => this.#look(), 1000);
    // A phone that slept, or a network that came back, need not wait for the next try.
    addEventListener("online", () => this.retry());
    document.addEventListener("visibilitychange", () => {
      clearTimeout(this.#hiding);
      if (document.hidden) this.#hiding = setTimeout(() => this.#pause(), hiddenFor);
      else if (this.#state === "lost" || this.#state === "paused") this.retry();
    });
  }

  retry() {
    clearTimeout(this.#timer);
    this.#source?.close();
    this.#source = new EventSource("/api/live");
    this.#source.onmessage = (event) => this.#take(event.data);
    this.#source.onerror = () => this.#fail();
  }

  #take(text) {
    let picture;
    try { picture = parse(text); } catch { return; }
    this.#failures = 0;
    this.#lastPicture = Date.now();
    this.#become("live");
    this.onPicture(picture);
  }

  // The browser would try again by itself, but not after every failure, and not more and more slowly.
  #fail() {
    this.#source?.close();
    this.#source = null;
    const wait = Math.min(longestWait, 1000 * 2 ** this.#failures) * (0.75 + Math.random() / 2);
    this.#failures += 1;
    this.#timer = setTimeout(() => this.retry(), wait);
    this.#become("lost", Date.now() + wait);
    // An EventSource does not say why; a session that ended is told by the next question.
    if (this.#failures === 2) ask("/api/reports").catch(() => {});
  }

  #pause() {
    clearTimeout(this.#timer);
    this.#source?.close();
    this.#source = null;
    this.#become("paused");
  }

  #look() {
    if (this.#state === "live" && Date.now() - this.#lastPicture > staleAfter) this.#become("stale");
    if (this.#state === "stale" && Date.now() - this.#lastPicture > 3 * staleAfter) this.#fail();
  }

  #become(state, retryAt = 0) {
    if (state === this.#state && state !== "lost") return;
    this.#state = state;
    this.onState(state, retryAt);
  }

  get lastPicture() { return this.#lastPicture; }
}
