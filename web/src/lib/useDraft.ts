/** Something that is edited: as it was read, as it is now on the page, and what became of it elsewhere meanwhile. */
import { useState } from "react";

/** What is saved at present, in the shape that is edited, and the version that this is. */
export interface Saved<T> {
  value: T;
  /** Left out while there is nothing saved yet. */
  etag: string | undefined;
}

/** Another value, or what makes one of the value at that moment. */
export type Change<T> = T | ((before: T) => T);

export function changed<T>(before: T, change: Change<T>): T {
  return change instanceof Function ? change(before) : change;
}

export interface Draft<T> {
  value: T;
  set: (change: Change<T>) => void;
  isDirty: boolean;
  /** The version that was edited. Sent as `If-Match`, so that an edit never goes over what its writer has not seen. */
  etag: string | undefined;
  /** Another version was saved elsewhere while this one was edited. */
  isBehind: boolean;
  /** Discard the edits, and take what was saved elsewhere. */
  takeOther: () => void;
  /** Keep the edits: the next save overwrites the other version. */
  keepOwn: () => void;
  /** What was sent is saved as `now`; later edits stay. */
  settle: (sent: T, now: Saved<T>) => void;
}

interface State<T> {
  base: Saved<T>;
  value: T;
}

/**
 * `saved` may change at any time. An editor without changes follows it, one with changes keeps them and says so.
 * `begun` are edits from an earlier visit, and `etag` is the version that was edited then. `kept` is what counts of a value.
 */
export function useDraft<T>(
  saved: Saved<T>,
  begun?: T,
  etag = saved.etag,
  kept: (value: T) => unknown = (value) => value,
): Draft<T> {
  const [state, setState] = useState<State<T>>({
    base: { value: saved.value, etag },
    value: begun ?? saved.value,
  });
  const { base, value } = state;
  const isDirty = !same(kept(value), kept(base.value));
  const hasMoved = saved.etag !== base.etag;
  if (hasMoved && !isDirty) setState({ base: saved, value: saved.value });
  return {
    value,
    set: (change) => setState((before) => ({ ...before, value: changed(before.value, change) })),
    isDirty,
    etag: base.etag,
    isBehind: hasMoved && isDirty,
    takeOther: () => setState({ base: saved, value: saved.value }),
    keepOwn: () => setState((before) => ({ ...before, base: saved })),
    settle: (sent, now) =>
      setState((before) => ({
        base: now,
        value: same(before.value, sent) && !same(kept(sent), kept(now.value)) ? now.value : before.value,
      })),
  };
}

/** Whether two values say the same; the order of their fields does not count, nor do fields without a value. */
export function same(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (
    typeof one !== "object" ||
    typeof other !== "object" ||
    !one ||
    !other ||
    Array.isArray(one) !== Array.isArray(other)
  )
    return false;
  return changedFields(one, other).length === 0;
}

/** The names of the fields in which two objects differ. */
export function changedFields(one: object, other: object): string[] {
  const [mine, theirs] = [one, other] as Record<string, unknown>[];
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].filter(
    (name) => !same(mine?.[name], theirs?.[name]),
  );
}
