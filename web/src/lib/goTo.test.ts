import { afterEach, expect, test } from "vitest";
import { renderHook } from "@testing-library/react";
import { ApiError } from "carrel-sdk";
import { goTo, useGoToFault } from "./goTo";

afterEach(() => document.body.replaceChildren());

const PAGE = `
  <div data-part="inputs"><input id="find"></div>
  <section data-part="generation"><div data-part="generation.candidates"><button id="add"></button></div>
    <article><input id="label-1"><input id="model-1"></article>
    <article><input id="label-2"><input id="model-2" aria-invalid="true"></article>
  </section>
  <div data-part="scoring"><input id="scores" type="checkbox"><select id="criteria" aria-invalid="true"></select></div>
  <table><tr data-part="columns[0]"><td><select id="role-1"></select></td></tr>
    <tr data-part="columns[1]"><td><select id="role-2"></select></td></tr></table>`;

test.each([
  ["inputs", "find"],
  ["generation.candidates", "add"],
  ["generation.candidates[0].label", "label-1"],
  ["generation.candidates[1].model", "model-2"],
  ["scoring.criteria", "criteria"],
  ["columns[1].role", "role-2"],
  ["nothing.of.the.kind", ""],
])("%s is found at %s", (path, id) => {
  document.body.innerHTML = PAGE;
  goTo(document.body, path);
  expect(document.activeElement?.id).toBe(id);
});

test("what the service refuses gets the focus", () => {
  document.body.innerHTML = PAGE;
  const fault = { path: "generation.candidates[1].model", message: "is not known" };
  const error = new ApiError(400, "invalid-input", "", [fault]);
  renderHook(() => useGoToFault({ current: document.body }, error));
  expect(document.activeElement?.id).toBe("model-2");
});
