import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Undo2 } from "lucide-react";
import { lazy, Suspense, useEffect, useRef, useState } from "react";
import { ApiError, data } from "carrel-sdk";
import { queryKeys } from "../../../api/queryKeys";
import type { PairScores, Run } from "../../../api/types";
import { useApi, useFormats } from "../../../app/context";
import { Button } from "../../../components/Button";
import { ErrorNote, Note, Skeleton } from "../../../components/Feedback";
import { ReadingPane } from "../../../components/ReadingPane";
import type { Formats } from "../../../lib/format";
import { part } from "../../../lib/part";
import { DocumentText } from "../DocumentText";
import { useKeys } from "../../../lib/useKeys";
import { CriteriaScores } from "./CriteriaScores";
import { WhyField } from "./WhyField";

const Markdown = lazy(part(() => import("../../../components/Markdown").then((m) => ({ default: m.Markdown }))));
/** So many votes make a fair check of the judges. */
export const PROPOSED = 10;

interface Word {
  verdict: "first" | "second" | "tie";
  both_bad?: boolean;
  reason?: string;
  scores?: PairScores;
}

const CHOICES: readonly { word: Word; label: string; key: string }[] = [
  { word: { verdict: "first" }, label: "The first is better", key: "1" },
  { word: { verdict: "second" }, label: "The second is better", key: "2" },
  { word: { verdict: "tie" }, label: "No difference", key: "3" },
  { word: { verdict: "tie", both_bad: true }, label: "Both are bad", key: "4" },
];
const UNDO_KEY = "z";

/** One ballot after the other: two answers without names, scores and a line for why, keys to vote, and one to undo. */
export function Booth({ run, voter, onDone }: { run: Run; voter: string; onDone: () => void }) {
  const formats = useFormats();
  const { ballot, given, last, cast, undo, failure, isWaiting } = useBallots(run, voter);
  // By pair, so that a vote that was undone has its reason and scores in the fields again.
  const [reasons, setReasons] = useState<Readonly<Record<string, string>>>({});
  const [scores, setScores] = useState<Readonly<Record<string, PairScores>>>({});
  const vote = (word: Word) => {
    const reason = reasons[ballot.data?.pair ?? ""]?.trim();
    const scored = scores[ballot.data?.pair ?? ""];
    cast({ ...word, ...(reason && { reason }), ...(scored && { scores: scored }) });
  };
  useKeys({ ...Object.fromEntries(CHOICES.map(({ word, key }) => [key, () => vote(word)])), [UNDO_KEY]: undo });
  const top = useRef<HTMLDetailsElement>(null);
  const choices = useRef<HTMLDivElement>(null);
  const shown = ballot.data?.pair;
  // Who read to the end of a long pair begins the next one at its top.
  useEffect(() => {
    // What it returns, a promise in newer browsers, is no function that undoes it.
    top.current?.scrollIntoView({ block: "nearest" });
  }, [shown]);
  const undoing = (
    <Button small onPress={undo} isDisabled={last === undefined} aria-keyshortcuts={UNDO_KEY}>
      <Undo2 size={14} aria-hidden /> Undo <span className="visually-hidden">the last vote</span>{" "}
      <kbd aria-hidden>Z</kbd>
    </Button>
  );
  if (ballot.isError) {
    const isOver = ballot.error instanceof ApiError && ballot.error.status === 409;
    return isOver ? (
      <>
        <Note>{ballot.error.message}</Note>
        <div className="row">
          <Button variant="primary" onPress={onDone}>
            Done
          </Button>
          {given > 0 && undoing}
        </div>
      </>
    ) : (
      <ErrorNote error={ballot.error} onRetry={() => void ballot.refetch()} />
    );
  }
  if (!ballot.data) return <Skeleton />;
  const { pair, first, second, document, document_name, instructions, criteria, left, turns } = ballot.data;
  return (
    <Suspense fallback={<Skeleton />}>
      <details ref={top} className="asked" open>
        <summary>
          {document_name}: the {turns?.length ? "conversation" : "document"} and what was asked
        </summary>
        {instructions && <pre className="small inset">{instructions}</pre>}
        <DocumentText text={document} turns={turns} />
      </details>
      <div className="two-panes">
        {[first, second].map((text, index) => (
          <ReadingPane key={`${pair} ${index}`} label={index ? "The second answer" : "The first answer"}>
            <Markdown text={text} />
          </ReadingPane>
        ))}
      </div>
      {criteria.length > 0 && (
        <CriteriaScores
          ballot={ballot.data}
          isWaiting={isWaiting}
          value={scores[pair] ?? {}}
          onChange={(value) => setScores({ ...scores, [pair]: value })}
        />
      )}
      {failure && <ErrorNote error={failure} />}
      <div className="ballot-bar">
        <WhyField
          isWaiting={isWaiting}
          value={reasons[pair] ?? ""}
          onChange={(reason) => setReasons({ ...reasons, [pair]: reason })}
          onLeave={() => choices.current?.focus()}
        />
        <div className="ballot" ref={choices} role="group" aria-label="Your vote" tabIndex={-1}>
          {CHOICES.map(({ word, label, key }) => (
            <Button key={key} onPress={() => vote(word)} aria-disabled={isWaiting} aria-keyshortcuts={key}>
              {label} <kbd aria-hidden>{key}</kbd>
            </Button>
          ))}
        </div>
        <div className="row between">
          <div className="row tight grow">
            <progress aria-label="Votes given now" max={PROPOSED} value={Math.min(given, PROPOSED)} />
            <span className="small dim num" role="status">
              {formats.integer(given)} of {formats.integer(PROPOSED)} given now
              {given >= PROPOSED
                ? ": a fair check. You may go on."
                : left < PROPOSED - given
                  ? `; ${leftAfter(left, formats)}`
                  : ""}
            </span>
          </div>
          <div className="row tight">
            {undoing}
            <Button variant="quiet" small onPress={onDone}>
              Enough
            </Button>
          </div>
        </div>
      </div>
    </Suspense>
  );
}

/** How many pairs come after the one that is shown. */
function leftAfter(left: number, formats: Formats): string {
  if (left === 0) return "this is the last pair";
  return left === 1 ? "one more pair after this one" : `${formats.counted(left, "more pair")} after this one`;
}

/** The pair that waits for a vote, and what can be done with it. */
function useBallots(run: Run, voter: string) {
  const api = useApi();
  const queries = useQueryClient();
  // Who leaves and comes back is not shown again what waited the last time.
  const [visit] = useState(() => crypto.randomUUID());
  const [given, setGiven] = useState(0);
  const [last, setLast] = useState<string>();
  const path = { run_id: run.id };
  const ballot = useQuery({
    queryKey: queryKeys.run.ballot(run.id, voter, visit, given),
    queryFn: ({ signal }) =>
      data(api.client.POST("/api/runs/{run_id}/votes/next", { params: { path, query: { voter } }, signal })),
    staleTime: Infinity,
    retry: false,
    // Keep the last pair until the next one is loaded, so that its button keeps the focus.
    placeholderData: keepPreviousData,
  });
  const changed = () => {
    void queries.invalidateQueries({ queryKey: queryKeys.run.votes(run.id) });
    void queries.invalidateQueries({ queryKey: queryKeys.run.reports(run.id) });
  };
  const vote = useMutation({
    mutationFn: (body: Word & { pair: string }) =>
      data(api.client.POST("/api/runs/{run_id}/votes", { params: { path }, body })),
    onSuccess: (_, { pair }) => {
      setGiven(given + 1);
      setLast(pair);
      changed();
    },
  });
  const undoing = useMutation({
    mutationFn: (vote_id: string) =>
      data(api.client.POST("/api/runs/{run_id}/votes/{vote_id}/undo", { params: { path: { ...path, vote_id } } })),
    // The pair before this one is still in the cache, and it is the one that waits now.
    onSuccess: () => {
      // If it was asked for when the vote was taken back, the next pair may be the same one.
      queries.removeQueries({ queryKey: queryKeys.run.ballot(run.id, voter, visit, given) });
      setGiven(given - 1);
      setLast(undefined);
      changed();
    },
  });
  // Between a vote and the next pair, what is entered belongs to neither. Buttons are not `isDisabled`, which would take
  // the focus away.
  const isWaiting = vote.isPending || undoing.isPending || ballot.isPlaceholderData || !ballot.data;
  return {
    ballot,
    given,
    last,
    isWaiting,
    failure: vote.error ?? undoing.error,
    cast: (word: Word) => {
      if (!isWaiting) vote.mutate({ ...word, pair: ballot.data.pair });
    },
    undo: () => {
      if (last !== undefined && !vote.isPending && !undoing.isPending) undoing.mutate(last);
    },
  };
}
