import { cleanup } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import type { Run } from "../../../api/types";
import { noPlaces, type Places } from "../../../lib/liveAnswers";
import { renderPage } from "../../../testing/renderPage";
import { LiveAnswers } from "./LiveAnswers";

afterEach(cleanup);

const RUN = {
  state: "running",
  phase: "generate",
  configuration: { generation: { candidates: [{ label: "alpha" }, { label: "beta" }] } },
} as unknown as Run;
const WRITTEN: Places = [
  { key: "a", candidate: "beta", document: "Station 1", text: "ships came", hasGap: true, state: "writing" },
  undefined,
];

test("an answer that is being written names its candidate and its document, and is not read aloud word by word", async () => {
  const page = await renderPage(<LiveAnswers run={RUN} answers={WRITTEN} />);
  const section = page.querySelector("section");
  expect(section?.getAttribute("aria-live")).toBe("off");
  expect(section?.querySelectorAll("article")).toHaveLength(1);
  expect(section?.textContent).toContain("betaStation 1… ships camewriting");
});

test("the places are there before the first word, and not where no word is to be expected", async () => {
  const count = async (run: Run) => {
    const page = await renderPage(<LiveAnswers run={run} answers={noPlaces(3)} />);
    const found = page.querySelectorAll(".answer-card").length;
    cleanup();
    return found;
  };
  expect(await count(RUN)).toBe(3);
  expect(await count({ ...RUN, phase: "compare" })).toBe(0);
  expect(await count({ ...RUN, configuration: { ...RUN.configuration, economy: true } })).toBe(0);
});
