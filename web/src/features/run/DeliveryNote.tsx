import { useQuery } from "@tanstack/react-query";
import { Send } from "lucide-react";
import { useState } from "react";
import { adviceFor } from "../../api/github";
import { data } from "carrel-sdk";
import { queryKeys } from "../../api/queryKeys";
import type { Entry, Run } from "../../api/types";
import { useApi, useFormats } from "../../app/context";
import { Button } from "../../components/Button";
import { Note } from "../../components/Feedback";
import { useNow } from "../../lib/useNow";
import { SendToGithub } from "./SendToGithub";

const LOOK_EVERY_MS = 3000;
const TRIED_AGAIN_MS = 20_000;
const NEWEST = 50;
const OF_SENDING = new Set<Entry["event"]>(["answers-sent", "answers-delayed", "answers-not-sent"]);

/** Tells the user if the run could not send its answers to GitHub, or not yet. */
export function DeliveryNote({ run }: { run: Run }) {
  const api = useApi();
  const formats = useFormats();
  const now = useNow(TRIED_AGAIN_MS);
  const [isSending, setSending] = useState(false);
  const query = useQuery({
    queryKey: queryKeys.run.delivery(run.id),
    queryFn: async ({ signal }) => {
      const { items } = await data(
        api.client.GET("/api/runs/{run_id}/logs", {
          params: { path: { run_id: run.id }, query: { limit: NEWEST } },
          signal,
        }),
      );
      return lastDelivery(items) ?? null;
    },
    // The entry comes a moment after the run has ended, or later if the delivery is tried again.
    refetchInterval: ({ state: { data: last } }) =>
      last?.event === "answers-delayed" ? TRIED_AGAIN_MS : last === null && isRecent(run) ? LOOK_EVERY_MS : false,
  });
  const last = query.data ?? undefined;
  const isDelayed = last?.event === "answers-delayed";
  const failed = isDelayed || last?.event === "answers-not-sent" ? last : undefined;
  return (
    <>
      {failed && (
        <Note tone="warn" role="status">
          <p>
            <strong>
              {isDelayed ? "The answers have not gone to GitHub yet:" : "The answers did not go to GitHub:"}
            </strong>{" "}
            {whyOf(failed, isDelayed)} The run itself is as it should be.
          </p>
          {isDelayed && (
            <p>
              {failed.attempt === 1
                ? "It was tried once"
                : `It was tried ${formats.counted(failed.attempt ?? 0, "time")}`}
              , the last time {formats.ago(failed.at, now)}. It is tried again by itself after minutes, and then after
              hours; to have it sooner, send them now.
            </p>
          )}
          <p className="small dim">
            <code>{failed.code}</code>
          </p>
          <div>
            <Button small onPress={() => setSending(true)}>
              <Send size={14} aria-hidden /> {isDelayed ? "Send now" : "Send again"}
            </Button>
          </div>
        </Note>
      )}
      {isSending && <SendToGithub run={run} onClose={() => setSending(false)} />}
    </>
  );
}

/** A delivery that is tried again needs no help; for a failed one the note says what would help. */
function whyOf({ code }: Entry, isDelayed: boolean): string {
  if (!isDelayed) return adviceFor(code ?? undefined) ?? "something went wrong.";
  if (code === "github-rate-limited") return "GitHub asked for a pause.";
  return code === "github-conflict" ? "the branch moved at the same moment." : "GitHub did not answer as it should.";
}

/** The last entry about sending in the present round, from a log that begins with the newest. */
export function lastDelivery(entries: readonly Entry[]): Entry | undefined {
  for (const entry of entries) {
    if (OF_SENDING.has(entry.event)) return entry;
    if (entry.event === "round-started") return undefined;
  }
  return undefined;
}

function isRecent(run: Run): boolean {
  return run.finished_at !== null && Date.now() - Date.parse(run.finished_at) < 180_000;
}
