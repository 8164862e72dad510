import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { withInputs } from "./draft";
import { GroupsField } from "./GroupsField";

afterEach(cleanup);

test("documents belong together by tag or name, or stand alone", () => {
  const onChange = vi.fn();
  render(<GroupsField groups={null} onChange={onChange} at={() => []} />);
  const select = screen.getByLabelText("Documents belong together by");
  fireEvent.change(select, { target: { value: "tag" } });
  fireEvent.change(select, { target: { value: "name" } });
  expect(onChange.mock.calls).toEqual([[{ by: "tag" }], [{ by: "name" }]]);
});

test("a prefix chooses among tags", () => {
  const onChange = vi.fn();
  render(<GroupsField groups={{ by: "tag" }} onChange={onChange} at={() => []} />);
  fireEvent.change(screen.getByLabelText("Only tags that begin with"), { target: { value: "topic:" } });
  expect(onChange).toHaveBeenLastCalledWith({ by: "tag", prefix: "topic:" });
  fireEvent.change(screen.getByLabelText("Documents belong together by"), { target: { value: "" } });
  expect(onChange).toHaveBeenLastCalledWith(null);
});

test("a map of a program stays, without the documents that are left out", () => {
  const groups = { by: "map" as const, of: { d1: "a", d2: "a" } };
  render(<GroupsField groups={groups} onChange={vi.fn()} at={() => []} />);
  expect(screen.getByLabelText("Documents belong together by")).toHaveProperty("value", "map");
  const draft = { name: "x", inputs: ["d1", "d2"], generation: { candidates: [] }, groups };
  expect(withInputs(draft, ["d2"]).groups).toEqual({ by: "map", of: { d2: "a" } });
});
