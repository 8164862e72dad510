import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import { data } from "../../../api/client";
import { ApiError } from "../../../api/errors";
import { queryKeys } from "../../../api/queryKeys";
import type { Run } from "../../../api/types";
import { useApi, useFormats } from "../../../app/context";
import { Button } from "../../../components/Button";
import { Dialog } from "../../../components/Dialog";
import { ErrorNote, Note, Skeleton } from "../../../components/Feedback";
import { TextField } from "../../../components/Field";
import { Scroll } from "../../../components/Scroll";
import { part } from "../../../lib/part";

const Markdown = lazy(part(() => import("../../../components/Markdown").then((m) => ({ default: m.Markdown }))));
const PROPOSED = 10;
const MAX_NAME = 60;
const CHOICES = [
  ["first", "The first is better"],
  ["tie", "No difference"],
  ["second", "The second is better"],
] as const;

/** The user judges pairs of answers without knowing whose they are. It is the best check of the judges. */
export function BlindVotes({ run }: { run: Run }) {
  const api = useApi();
  const formats = useFormats();
  const [isOpen, setOpen] = useState(false);
  const [voter, setVoter] = useState("");
  const params = { path: { run_id: run.id }, query: { voter: voter.trim() } };
  const count = useQuery({
    queryKey: queryKeys.run.voteCount(run.id, voter.trim()),
    queryFn: ({ signal }) => data(api.client.GET("/api/runs/{run_id}/votes/count", { params, signal })),
    // Keep the number while a name is typed.
    placeholderData: keepPreviousData,
  });
  const votes = count.data?.votes ?? 0;
  return (
    <section className="card stack" aria-labelledby="votes-title">
      <div className="row between">
        <div className="grow">
          <h2 id="votes-title">Check the judges yourself</h2>
          <p className="dim">
            Look at {PROPOSED} pairs of answers, without their names, and say which is better. Then you know how far to
            believe the judges.
          </p>
        </div>
        <Button onPress={() => setOpen(true)} isDisabled={count.data?.left === 0}>
          {votes ? "Vote on" : "Begin to vote"}
        </Button>
      </div>
      {votes > 0 && (
        <p role="status">
          <strong className="num">{formats.integer(votes)}</strong> {votes === 1 ? "vote" : "votes"} so far
          {votes < PROPOSED ? `; ${PROPOSED - votes} more make a fair check` : ""}.
        </p>
      )}
      <TextField
        label="Your name, if several people vote"
        hint="Each of them sees every pair, and sees it blind."
        value={voter}
        onChange={(event) => setVoter(event.target.value)}
        maxLength={MAX_NAME}
      />
      <Dialog title="Which answer is better?" isOpen={isOpen} onClose={() => setOpen(false)} wide>
        <Booth run={run} voter={voter.trim()} onDone={() => setOpen(false)} />
      </Dialog>
    </section>
  );
}

function Booth({ run, voter, onDone }: { run: Run; voter: string; onDone: () => void }) {
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
  if (ballot.isError) {
    const isOver = ballot.error instanceof ApiError && ballot.error.status === 409;
    return isOver ? (
      <Note>{ballot.error.message}</Note>
    ) : (
      <ErrorNote error={ballot.error} onRetry={() => void ballot.refetch()} />
    );
  }
  if (!ballot.data) return <Skeleton />;
  // Not `isDisabled`, which would take the focus away between two votes.
  const isWaiting = vote.isPending || ballot.isPlaceholderData;
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
        {CHOICES.map(([verdict, words]) => (
          <Button key={verdict} onPress={() => isWaiting || vote.mutate({ pair, verdict })} aria-disabled={isWaiting}>
            {words}
          </Button>
        ))}
      </div>
    </Suspense>
  );
}
