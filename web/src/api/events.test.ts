import { expect, test } from "vitest";
import { EventParser } from "carrel-sdk";

const STREAM = 'id: 7\nevent: task-succeeded\ndata: {"a":1}\n\n: ping\n\nevent: progress\ndata: {"b":2}\n\n';

test("events come out whole, however the stream was cut", () => {
  for (let size = 1; size <= STREAM.length; size++) {
    const parser = new EventParser();
    const events = [];
    for (let at = 0; at < STREAM.length; at += size) events.push(...parser.push(STREAM.slice(at, at + size)));
    expect(events).toEqual([
      { id: 7, event: "task-succeeded", data: '{"a":1}' },
      { id: undefined, event: "progress", data: '{"b":2}' },
    ]);
  }
});

test("a ping is no event", () => {
  expect(new EventParser().push(": ping\n\n")).toEqual([]);
});
