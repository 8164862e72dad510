import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { lazy, Suspense, useEffect, useRef, useState } from "react";
import { ApiError, data } from "carrel-sdk";
import { queryKeys } from "../../../api/queryKeys";
import type { Run } from "../../../api/types";
import { useApi, useFormats } from "../../../app/context";
import { Button } from "../../../components/Button";
import { ErrorNote, Note, Skeleton } from "../../../components/Feedback";
import { Scroll } from "../../../components/Scroll";
import { part } from "../../../lib/part";

const Markdown = lazy(part(() => import("../../../components/Markdown").then((m) => ({ default: m.Markdown }))));
/** So many votes make a fair check of the judges. */
export const PROPOSED = 10;
const CHOICES = [
  ["first", "The first is better", "1"],
  ["tie", "No difference", "2"],
  ["second", "The second is better", "3"],
] as const;

/** One ballot after the other: two answers without names, and the keys 1, 2 and 3 to vote. */
export function Booth({ run, voter, onDone }: { run: Run; voter: string; onDone: () => void }) {
  const api = useApi();
  const formats = useFormats();
  const queries = useQueryClient();
  const [given, setGiven] = useState(0);
  const where = { params: { path: { run_id: run.id } } };
  const ballot = useQuery({
    queryKey: queryKeys.run.ballot(run.id, voter, given),
    queryFn: ({ signal }) =>
      data(
        api.client.POST("/api/runs/{run_id}/votes/next", {
          params: { path: { run_id: run.id }, query: { voter } },
          signal,
        }),
      ),
    staleTime: Infinity,
    retry: false,
    // Keep the last pair until the next one is loaded, so that its button keeps the focus.
    placeholderData: keepPreviousData,
  });
  const vote = useMutation({
    mutationFn: (body: { pair: string; verdict: "first" | "second" | "tie" }) =>
      data(api.client.POST("/api/runs/{run_id}/votes", { ...where, body })),
    onSuccess: () => {
      setGiven(given + 1);
      void queries.invalidateQueries({ queryKey: queryKeys.run.votes(run.id) });
      void queries.invalidateQueries({ queryKey: queryKeys.run.reports(run.id) });
    },
  });
  // Not `isDisabled`, which would take the focus away between two votes.
  const isWaiting = vote.isPending || ballot.isPlaceholderData || !ballot.data;
  const cast = (verdict: "first" | "second" | "tie") => {
    if (!isWaiting) vote.mutate({ pair: ballot.data.pair, verdict });
  };
  useVoteKeys(cast);
  if (ballot.isError) {
    const isOver = ballot.error instanceof ApiError && ballot.error.status === 409;
    return isOver ? (
      <Note>{ballot.error.message}</Note>
    ) : (
      <ErrorNote error={ballot.error} onRetry={() => void ballot.refetch()} />
    );
  }
  if (!ballot.data) return <Skeleton />;
  const { pair, first, second, document, document_name, instructions, left } = ballot.data;
  return (
    <Suspense fallback={<Skeleton />}>
      <details>
        <summary>{document_name}: the document and what was asked</summary>
        {instructions && <pre className="small inset">{instructions}</pre>}
        <Scroll isPlain label="The document">
          <pre className="source small">{document}</pre>
        </Scroll>
      </details>
      <div className="two-panes">
        {[first, second].map((text, index) => (
          <Scroll key={`${pair} ${index}`} isPane label={index ? "The second answer" : "The first answer"}>
            <Markdown text={text} />
          </Scroll>
        ))}
      </div>
      {vote.isError && <ErrorNote error={vote.error} />}
      <div className="row between">
        <span className="small dim num" role="status">
          {formats.integer(given)} of {formats.integer(PROPOSED)} given now
          {given >= PROPOSED
            ? ": a fair check. You may go on."
            : left < PROPOSED - given
              ? `; ${formats.integer(left)} pairs are left`
              : ""}
        </span>
        <Button variant="quiet" small onPress={onDone}>
          Enough
        </Button>
      </div>
      <div className="ballot">
        {CHOICES.map(([verdict, words, key]) => (
          <Button key={verdict} onPress={() => cast(verdict)} aria-disabled={isWaiting} aria-keyshortcuts={key}>
            {words} <kbd aria-hidden>{key}</kbd>
          </Button>
        ))}
      </div>
    </Suspense>
  );
}

/** The keys 1, 2 and 3 vote while the ballot is open, wherever the focus is in it. */
function useVoteKeys(cast: (verdict: "first" | "second" | "tie") => void): void {
  const latest = useRef(cast);
  useEffect(() => {
    latest.current = cast;
  });
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const choice = CHOICES.find(([, , key]) => key === event.key);
      const isTyping = event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement;
      if (!choice || isTyping || event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
      latest.current(choice[0]);
    };
    document.addEventListener("keydown", listen);
    return () => document.removeEventListener("keydown", listen);
  }, []);
}
