/** The schema of a candidate's answers is written as JSON, and whatever is wrong is said at the field. */
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { useState } from "react";
import { afterEach, expect, test, vi } from "vitest";
import type { Candidate } from "../../api/types";
import { SchemaField } from "./SchemaField";

afterEach(cleanup);

const SCHEMA = { type: "object", required: ["city"] };
const field = () => screen.getByRole<HTMLTextAreaElement>("textbox", { name: "JSON schema of the answers" });

function Held({ start, faults = [], told }: { start?: unknown; faults?: string[]; told: (schema: unknown) => void }) {
  const [value, setValue] = useState(start as Candidate["response_schema"]);
  const change = (schema: Candidate["response_schema"]) => {
    told(schema);
    setValue(schema);
  };
  return <SchemaField value={value} faults={faults} onChange={change} />;
}

test("a schema is shown and comes out as JSON, and an empty field is none", () => {
  const told = vi.fn();
  const { container } = render(<Held start={SCHEMA} told={told} />);
  expect(JSON.parse(field().value)).toEqual(SCHEMA);
  expect(container.querySelector("details")?.open).toBe(true);
  fireEvent.change(field(), { target: { value: '{"type": "array"}' } });
  fireEvent.change(field(), { target: { value: " " } });
  expect(told.mock.calls).toEqual([[{ type: "array" }], [null]]);
  expect(container.querySelector("details")?.open).toBe(true);
});

test.each(["{", "[1]", "null", '"text"', "7"])("%s is said to be no schema, and is not lost", (text) => {
  const told = vi.fn();
  render(<Held start={SCHEMA} told={told} />);
  fireEvent.change(field(), { target: { value: text } });
  expect(screen.getByText("must be a JSON schema, which is an object in JSON")).toBeTruthy();
  expect(field().value).toBe(text);
  expect(told).not.toHaveBeenCalledWith(SCHEMA);
});

test("what the service refuses opens the field and is said there", () => {
  const { container } = render(<Held faults={["is not a valid JSON schema"]} told={vi.fn()} />);
  expect(container.querySelector("details")?.open).toBe(true);
  expect(field().getAttribute("aria-describedby")).toBeTruthy();
  expect(screen.getByText("is not a valid JSON schema")).toBeTruthy();
});
