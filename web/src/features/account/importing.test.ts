/** A zip in parts, over a line that breaks: what goes out, and when it begins anew. */
import { ApiError, ConnectionLost } from "carrel-sdk";
import { expect, test, vi } from "vitest";
import { Api } from "../../api/client";
import type { Upload } from "../../api/upload";
import { TOKEN } from "../../testing/renderPage";
import { bringIn } from "./importing";

const ZIP = new File(["0123456789"], "export.zip");
const DONE = { contents: 1, presets: 0, data_sets: 0 };
const MISPLACED = new ApiError(409, "import-part-misplaced", "");

/** What was sent, of which `answers` says what becomes, and how far the user was told it was. */
async function brought(answers: readonly unknown[], partBytes = 4) {
  const api = new Api({ baseUrl: "http://service.test/", sessionToken: TOKEN });
  api.connection.subscribe(() => queueMicrotask(() => api.connection.succeeded()));
  const sent: string[] = [];
  const shares: number[] = [];
  const left = [...answers];
  vi.spyOn(api, "upload").mockImplementation(async ({ body, headers, onSent }: Upload) => {
    sent.push(`${headers?.["Content-Range"] ?? "whole"}: ${await (body as File).text()}`);
    onSent?.(1, 1);
    const answer = left.shift();
    if (answer instanceof Error) throw answer;
    return answer;
  });
  const ended = bringIn(api, ZIP, {
    signal: new AbortController().signal,
    onSent: (share) => shares.push(share),
    partBytes,
  });
  return { outcome: await ended.catch((error: unknown) => error), sent, shares };
}

test("a small zip goes as a whole", async () => {
  expect(await brought([DONE], 10)).toEqual({ outcome: DONE, sent: ["whole: 0123456789"], shares: [1] });
});

test("a large zip goes in parts, on from where the line was cut", async () => {
  const found = await brought([
    ...[MISPLACED, new ConnectionLost(), { received_bytes: 2 }, new ConnectionLost(), MISPLACED],
    ...[{ received_bytes: 4 }, { received_bytes: 8 }, new ConnectionLost(), DONE],
  ]);
  expect(found.outcome).toEqual(DONE);
  expect(found.sent).toEqual([
    ...["bytes */10: ", "bytes 0-3/10: 0123", "bytes */10: ", "bytes 2-5/10: 2345", "bytes */10: "],
    ...["bytes 0-3/10: 0123", "bytes 4-7/10: 4567", "bytes 8-9/10: 89", "bytes */10: "],
  ]);
  expect(found.shares.at(-2)).toBe(1);
});

test("what was left by another zip makes it begin anew, once", async () => {
  const unreadable = new ApiError(400, "import-unreadable", "");
  const found = await brought([{ received_bytes: 8 }, unreadable, { received_bytes: 4 }, unreadable]);
  expect(found.outcome).toBe(unreadable);
  expect(found.sent.slice(1, 3)).toEqual(["bytes 8-9/10: 89", "bytes 0-3/10: 0123"]);
});

test("an import that may be done is not sent again, and one that never gets through ends", async () => {
  const lost = new ConnectionLost();
  const done = await brought([{ received_bytes: 8 }, lost, MISPLACED]);
  expect([done.outcome, done.sent.length]).toEqual([lost, 3]);
  const cuts = Array.from({ length: 5 }, () => [lost, MISPLACED]).flat();
  expect((await brought([MISPLACED, ...cuts])).sent.filter((line) => line.startsWith("bytes 0-"))).toHaveLength(5);
});
