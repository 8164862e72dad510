import { expect, test } from "vitest";
import { fetchPartsAfter, part } from "./part";

test("a part that cannot be fetched is fetched when the service can be reached again", async () => {
  let failures = 2;
  let waits = 0;
  fetchPartsAfter(() => {
    waits += 1;
    return Promise.resolve();
  });
  const fetched = await part(() =>
    failures-- > 0 ? Promise.reject(new TypeError("network")) : Promise.resolve("page"),
  )();
  expect([fetched, waits]).toEqual(["page", 2]);
});

test("a part that is gone for good says what to do", async () => {
  await expect(part(() => Promise.reject(new TypeError("gone")))()).rejects.toThrow("Reload the page");
});
