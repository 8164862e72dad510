import { expect, test } from "vitest";
import { Api } from "../../api/client";
import { TOKEN } from "../../testing/renderPage";
import type { Report } from "../../api/types";
import { reportQuery } from "./queries";

const RUNNING = { state: "running" };
const PAUSED = { state: "paused" };

test.each([
  [true, PAUSED, true],
  [false, RUNNING, true],
  [false, { ...PAUSED, against: { finished: false } }, true],
  [false, { ...PAUSED, against: { finished: true } }, false],
])("a report is fetched again while a run works or worked when it was made: %o %o", (isLive, report, isAgain) => {
  const api = new Api({ baseUrl: "http://service.test/", sessionToken: TOKEN });
  const { refetchInterval } = reportQuery(api, "r", "b", isLive);
  const query = { state: { data: report as Report } };
  const every = typeof refetchInterval === "function" ? refetchInterval(query as never) : refetchInterval;
  expect(Boolean(every)).toBe(isAgain);
});
