import { expect, test } from "vitest";
import type { Entry } from "../../api/types";
import { lastDelivery } from "./DeliveryNote";

function log(...events: Entry["event"][]): Entry[] {
  return events.map((event, index) => ({ seq: events.length - index, event }) as Entry);
}

test("what was told last of sending counts", () => {
  expect(lastDelivery(log("answers-sent", "answers-not-sent", "run-finished"))?.event).toBe("answers-sent");
  expect(lastDelivery(log("answers-delayed", "answers-delayed", "run-finished"))?.event).toBe("answers-delayed");
  expect(lastDelivery(log("vote-cast", "answers-not-sent", "run-finished"))?.event).toBe("answers-not-sent");
});

test("an earlier round says nothing of this one", () => {
  expect(lastDelivery(log("run-finished", "round-started", "answers-not-sent"))).toBeUndefined();
  expect(lastDelivery([])).toBeUndefined();
});
