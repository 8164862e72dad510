import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { TagsField } from "./TagsField";

afterEach(cleanup);

const field = () => screen.getByLabelText<HTMLInputElement>("Tags");

/** A field whose page keeps its text and passes it back. */
function held(tags: string[]) {
  const says = vi.fn<(tags: string[]) => void>();
  const { rerender } = render(<TagsField tags={tags} faults={[]} onChange={says} />);
  const hold = (next: string[]) => rerender(<TagsField tags={next} faults={[]} onChange={says} />);
  const write = (value: string) => {
    fireEvent.change(field(), { target: { value } });
    hold(says.mock.lastCall?.[0] ?? []);
  };
  return { says, hold, write };
}

test("a comma and a space stay while a tag is written", () => {
  const { says, write } = held(["harbour"]);
  for (const text of ["harbour,", "harbour, ", "harbour, 1904"]) {
    write(text);
    expect(field().value).toBe(text);
  }
  expect(says.mock.lastCall).toEqual([["harbour", "1904"]]);
});

test("tags that come from elsewhere take the place of the text", () => {
  const { hold, write } = held(["harbour"]);
  write("harbour, ");
  hold(["storms", "lamps"]);
  expect(field().value).toBe("storms, lamps");
});
