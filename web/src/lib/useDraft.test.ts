import { act, cleanup, renderHook } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import { changedFields, type Saved, same, useDraft } from "./useDraft";

interface Note {
  body: string;
  tags?: string[];
}

afterEach(cleanup);

function open(saved: Saved<Note>) {
  return renderHook(({ now }: { now: Saved<Note> }) => useDraft(now), { initialProps: { now: saved } });
}

const FIRST: Saved<Note> = { value: { body: "first" }, etag: '"1"' };
const THEIRS: Saved<Note> = { value: { body: "theirs" }, etag: '"2"' };

test("an editor without changes follows what is saved elsewhere", () => {
  const { result, rerender } = open(FIRST);
  rerender({ now: THEIRS });
  expect(result.current).toMatchObject({ value: THEIRS.value, etag: '"2"', isDirty: false, isBehind: false });
});

test("one with changes keeps them, and would not go over the other version unasked", () => {
  const { result, rerender } = open(FIRST);
  act(() => result.current.set({ body: "mine" }));
  rerender({ now: THEIRS });
  expect(result.current).toMatchObject({ value: { body: "mine" }, etag: '"1"', isDirty: true, isBehind: true });
  act(() => result.current.keepOwn());
  expect(result.current).toMatchObject({ value: { body: "mine" }, etag: '"2"', isDirty: true, isBehind: false });
});

test("the other version can be taken", () => {
  const { result, rerender } = open(FIRST);
  act(() => result.current.set({ body: "mine" }));
  rerender({ now: THEIRS });
  act(() => result.current.takeOther());
  expect(result.current).toMatchObject({ value: THEIRS.value, etag: '"2"', isDirty: false, isBehind: false });
});

test("after a save it is clean, as the service keeps it", () => {
  const { result, rerender } = open(FIRST);
  act(() => result.current.set({ body: "mine " }));
  const now = { value: { body: "mine" }, etag: '"2"' };
  act(() => result.current.settle({ body: "mine " }, now));
  rerender({ now });
  expect(result.current).toMatchObject({ value: { body: "mine" }, isDirty: false, isBehind: false });
});

test("what was written while a save was under way is not lost", () => {
  const { result, rerender } = open(FIRST);
  act(() => result.current.set({ body: "mine" }));
  act(() => result.current.set({ body: "mine and more" }));
  const now = { value: { body: "mine" }, etag: '"2"' };
  act(() => result.current.settle({ body: "mine" }, now));
  rerender({ now });
  expect(result.current).toMatchObject({
    value: { body: "mine and more" },
    etag: '"2"',
    isDirty: true,
    isBehind: false,
  });
});

test("the order of fields and fields without a value make no difference", () => {
  expect(same({ a: 1, b: [1, { c: 2 }] }, { b: [1, { c: 2, d: undefined }], a: 1 })).toBe(true);
  expect(same([1, 2], [2, 1])).toBe(false);
  expect(same(null, {})).toBe(false);
  expect(same([], {})).toBe(false);
  expect(changedFields({ a: 1, b: [1], c: null }, { a: 1, b: [2], c: 0 })).toEqual(["b", "c"]);
});
