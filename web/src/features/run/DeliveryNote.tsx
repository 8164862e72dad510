import { useQuery } from "@tanstack/react-query";
import { Send } from "lucide-react";
import { useState } from "react";
import { adviceFor } from "../../api/github";
import { data } from "../../api/client";
import type { Entry, Run } from "../../api/types";
import { useApi } from "../../app/context";
import { Button } from "../../components/Button";
import { Note } from "../../components/Feedback";
import { SendToGithub } from "./SendToGithub";

const LOOK_EVERY_MS = 3000;
const NEWEST = 50;

/** Whether the answers went to GitHub by themselves, as the run was asked to: said only if they did not. */
export function DeliveryNote({ run }: { run: Run }) {
  const api = useApi();
  const [isSending, setSending] = useState(false);
  const query = useQuery({
    queryKey: ["run", run.id, "delivery"],
    queryFn: async ({ signal }) => {
      const { items } = await data(api.client.GET("/api/runs/{run_id}/logs", { params: { path: { run_id: run.id }, query: { limit: NEWEST } }, signal }));
      return lastDelivery(items) ?? null;
    },
    // It is told a moment after the run has ended.
    refetchInterval: ({ state }) => (state.data === null && isRecent(run) ? LOOK_EVERY_MS : false),
  });
  const failed = query.data?.event === "answers-not-sent" ? query.data : undefined;
  return (
    <>
      {failed && (
        <Note tone="warn" role="status">
          <p>
            <strong>The answers did not go to GitHub:</strong> {adviceFor(failed.code ?? undefined) ?? "something went wrong."} The run itself is as it should be.
          </p>
          <p className="small dim">
            <code>{failed.code}</code>
          </p>
          <div>
            <Button small onPress={() => setSending(true)}>
              <Send size={14} aria-hidden /> Send again
            </Button>
          </div>
        </Note>
      )}
      {isSending && <SendToGithub run={run} onClose={() => setSending(false)} />}
    </>
  );
}

/** What the log, newest first, says last of sending in the present round. */
export function lastDelivery(entries: readonly Entry[]): Entry | undefined {
  for (const entry of entries) {
    if (entry.event === "answers-sent" || entry.event === "answers-not-sent") return entry;
    if (entry.event === "round-started") return undefined;
  }
  return undefined;
}

function isRecent(run: Run): boolean {
  return run.finished_at !== null && Date.now() - Date.parse(run.finished_at) < 180_000;
}
