import { QueryObserver } from "@tanstack/react-query";
import { afterEach, expect, test, vi } from "vitest";
import { queryKeys } from "../api/queryKeys";
import { makeQueryClient } from "./queryClient";

afterEach(() => vi.useRealTimers());

test("what is invalidated while it is fetched for the first time is fetched again", async () => {
  vi.useFakeTimers();
  const queries = makeQueryClient();
  let now = "before";
  let asked = 0;
  const observer = new QueryObserver(queries, {
    queryKey: queryKeys.run.one("r"),
    queryFn: ({ signal }) => {
      asked += 1;
      const read = now;
      return new Promise<string>((resolve, reject) => {
        const timer = setTimeout(() => resolve(read), 1000);
        signal.addEventListener("abort", () => {
          clearTimeout(timer);
          reject(new Error("aborted"));
        });
      });
    },
  });
  const stop = observer.subscribe(() => undefined);
  await vi.advanceTimersByTimeAsync(500);
  now = "after";
  void queries.invalidateQueries({ queryKey: queryKeys.run.one("r") });
  await vi.advanceTimersByTimeAsync(2000);
  const { data, fetchStatus } = observer.getCurrentResult();
  expect([data, fetchStatus, asked]).toEqual(["after", "idle", 2]);
  stop();
});

test("one that nobody looks at is fetched to its end", async () => {
  const queries = makeQueryClient();
  const fetched = queries.query({ queryKey: queryKeys.run.one("r"), queryFn: () => Promise.resolve("before") });
  void queries.invalidateQueries({ queryKey: queryKeys.run.one("r") });
  expect(await fetched).toBe("before");
});
