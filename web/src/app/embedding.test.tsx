/** What a host's page may choose: a page to begin with, and whether the app shows its own navigation. */
import { cleanup, screen } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import { renderPage } from "../testing/renderPage";
import { beginAt } from "./history";
import { Shell } from "./Shell";

afterEach(() => {
  cleanup();
  window.history.replaceState(null, "", "/");
});

test.each([
  [{}, 1],
  [{ hideNavigation: true }, 0],
])("with %o the navigation stands there %i times", async (config, count) => {
  await renderPage(<Shell />, config);
  expect(screen.queryAllByRole("navigation", { name: "Carrel" })).toHaveLength(count);
  expect(screen.getByRole("main")).toBeTruthy();
});

test("the app begins at the page that the host names, unless the address names one", () => {
  beginAt(undefined);
  expect(window.location.hash).toBe("");
  beginAt("/compare");
  expect(window.location.hash).toBe("#/compare");
  beginAt("/library");
  expect(window.location.hash).toBe("#/compare");
});
