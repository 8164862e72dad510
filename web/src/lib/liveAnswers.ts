/** Answers while models write them: added up from the events of a run, as many as a page has places for. */
import type { ServerEvent } from "carrel-sdk";

export interface LiveAnswer {
  key: string;
  candidate: string;
  document: string;
  /** What is known of the text; the end of it, if it is long. */
  text: string;
  /** A part of it is missing, because the page came later or the connection was slow. */
  hasGap: boolean;
  state: "writing" | "done" | "failed";
  /** When it ended, in milliseconds. */
  endedAt?: number;
}

interface Part {
  task_key: string;
  candidate: string;
  document: string;
  after: "nothing" | "text" | "gap";
  text: string;
}

export type Places = readonly (LiveAnswer | undefined)[];

const KEPT_CHARACTERS = 20_000;
/** So long an answer stays when it has ended, also if many others wait for its place. */
const STAYS_MS = 2500;
const STATES: Readonly<Record<string, LiveAnswer["state"]>> = {
  "task-succeeded": "done",
  "task-failed": "failed",
  "task-skipped": "failed",
};

/**
 * The places after some more events. An answer stays where it began. When all places are taken, a new one takes that of
 * the answer that ended first, once that was there for a moment; until then new ones are not shown.
 */
export function withEvents(places: Places, events: readonly ServerEvent[], now: number): Places {
  let shown = places;
  for (const { event, data } of events) {
    const state = STATES[event];
    if (event === "text") shown = withPart(shown, JSON.parse(data) as Part, now);
    else if (state) shown = ended(shown, (JSON.parse(data) as { task_key: string | null }).task_key, state, now);
  }
  return shown;
}

export function noPlaces(count: number): Places {
  return Array.from({ length: count }, () => undefined);
}

function withPart(places: Places, part: Part, now: number): Places {
  const at = placeFor(places, part.task_key, now);
  if (at === undefined) return places;
  const before = places[at]?.key === part.task_key ? places[at] : undefined;
  const isNew = !before || part.after === "nothing";
  const isMissed = part.after === "gap" || (!before && part.after === "text");
  const answer: LiveAnswer = {
    key: part.task_key,
    candidate: part.candidate,
    document: part.document,
    text: ((isNew ? "" : before.text) + part.text).slice(-KEPT_CHARACTERS),
    hasGap: isMissed || (!isNew && before.hasGap),
    state: "writing",
  };
  return places.map((one, place) => (place === at ? answer : one));
}

function ended(places: Places, key: string | null, state: LiveAnswer["state"], now: number): Places {
  return places.some((one) => one?.key === key && one.state !== state)
    ? places.map((one) => (one && one.key === key ? { ...one, state, endedAt: now } : one))
    : places;
}

function placeFor(places: Places, key: string, now: number): number | undefined {
  const known = places.findIndex((one) => one?.key === key);
  if (known >= 0) return known;
  const free = places.findIndex((one) => one === undefined);
  if (free >= 0) return free;
  const ends = places.map((one) => one?.endedAt ?? Infinity);
  const first = Math.min(...ends);
  return now - first >= STAYS_MS ? ends.indexOf(first) : undefined;
}
