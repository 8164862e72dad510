import { useInfiniteQuery } from "@tanstack/react-query";
import { Share2 } from "lucide-react";
import { useState } from "react";
import type { Entry, Run } from "../../../api/types";
import { useApi, useFormats } from "../../../app/context";
import { Button } from "../../../components/Button";
import { Confirm, Dialog } from "../../../components/Dialog";
import { Empty, ErrorNote, Skeleton } from "../../../components/Feedback";
import { Check } from "../../../components/Field";
import { VirtualList } from "../../../components/VirtualList";
import { hasEnded } from "../../../lib/states";
import { documentOf, namesOf, taskInWords } from "../../../lib/taskWords";
import type { LiveView } from "../liveRun";
import { logsQuery } from "../queries";
import type { Controls } from "../useControls";
import { useNamesOf } from "../useNames";

const LEVELS: readonly Entry["level"][] = ["info", "warning", "error"];
const LEVEL_WORDS: Record<Entry["level"], string> = { info: "Information", warning: "Warnings", error: "Errors" };
const TONES: Record<Entry["level"], string> = { info: "", warning: "warn", error: "bad" };

interface Props {
  run: Run;
  live: LiveView;
  controls: Controls;
  /** Search parameters of the address. */
  level: string | undefined;
  words: string;
  onFilter: (filter: { level?: string | undefined; find?: string | undefined }) => void;
}

export function LogPanel({ run, live, controls, level: wantedLevel, words, onFilter }: Props) {
  const formats = useFormats();
  const level = LEVELS.find((known) => known === wantedLevel);
  // Show the end of the log first. When the user loads earlier lines, keep the position.
  const [isTail, setTail] = useState(true);
  const [isAsking, setAsking] = useState(false);
  const query = useInfiniteQuery(logsQuery(useApi(), run.id, level));
  const stored = query.data?.pages.flatMap((page) => page.items) ?? [];
  const all = merged(stored, live.entries);
  const documents = useNamesOf(run.id, all.map(({ task_key: key }) => documentOf(key ?? "")).filter(Boolean));
  const candidates = namesOf(run.configuration);
  const taskOf = ({ task_key: key }: Entry) => (key ? taskInWords(key, candidates, documents) : "");
  const entries = all.filter((entry) => fits(entry, level, words, taskOf(entry)));
  const earlier = query.hasNextPage && (
    <Button
      small
      onPress={() => {
        setTail(false);
        void query.fetchNextPage();
      }}
      isDisabled={query.isFetchingNextPage}
    >
      Earlier lines
    </Button>
  );
  return (
    <div className="stack">
      <div className="row between">
        <div className="row">
          <select
            className="input narrow"
            aria-label="Level"
            value={level ?? ""}
            onChange={(event) => onFilter({ level: event.target.value || undefined })}
          >
            <option value="">All levels</option>
            {LEVELS.map((known) => (
              <option key={known} value={known}>
                {LEVEL_WORDS[known]}
              </option>
            ))}
          </select>
          <input
            className="input narrow"
            type="search"
            aria-label="Filter"
            placeholder="Event, task or code"
            value={words}
            onChange={(event) => onFilter({ find: event.target.value || undefined })}
          />
          {!hasEnded(run.state) && (
            <Check label="Follow" checked={isTail} onChange={(event) => setTail(event.target.checked)} />
          )}
        </div>
        <Button small onPress={() => setAsking(true)}>
          <Share2 size={16} aria-hidden /> Share with the operator
        </Button>
      </div>
      {query.isError && <ErrorNote error={query.error} onRetry={() => void query.refetch()} />}
      {query.isPending && <Skeleton />}
      {query.data && entries.length === 0 && (
        <Empty title="No line fits" action={earlier}>
          {query.hasNextPage
            ? `These were the newest ${formats.counted(stored.length, "line")}; there are earlier ones.`
            : ""}
        </Empty>
      )}
      {entries.length > 0 && (
        <div className="card flush">
          <div className="row between list-head">
            <span className="small dim num" role="status">
              {formats.counted(entries.length, "line")}
              {query.hasNextPage && (words ? ` of the newest ${formats.integer(stored.length)}` : ", the newest")}
            </span>
            {earlier}
          </div>
          <VirtualList
            items={entries}
            label="Log"
            estimate={30}
            keyOf={(entry) => entry.seq}
            stickToEnd={isTail}
            render={(entry) => <Line entry={entry} task={taskOf(entry)} />}
          />
        </div>
      )}
      <Confirm
        title="Share this log with the operator?"
        text="A copy without any text is kept for fourteen days: times, numbers of tasks, states, error codes, models and numbers of tokens. No document, prompt or answer is in it."
        action="Share"
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={() => {
          controls.shareLogs.mutate();
          setAsking(false);
        }}
      />
      <Shared share={controls.shareLogs.data} onClose={() => controls.shareLogs.reset()} />
    </div>
  );
}

function Shared({ share, onClose }: { share: Controls["shareLogs"]["data"]; onClose: () => void }) {
  const formats = useFormats();
  return (
    <Dialog title="Shared" isOpen={share !== undefined} onClose={onClose}>
      {share && (
        <>
          <p>Give this number to whoever helps you:</p>
          <p>
            <code>{share.share_id}</code>
          </p>
          <p className="dim small">
            It is kept until {formats.dateTime(share.expires_at)}, and holds {share.fields.join(", ")}.
          </p>
          <div className="row end">
            <Button variant="primary" onPress={onClose}>
              Done
            </Button>
          </div>
        </>
      )}
    </Dialog>
  );
}

function Line({ entry, task }: { entry: Entry; task: string }) {
  const formats = useFormats();
  const details = [
    entry.code,
    entry.model,
    entry.attempt && entry.attempt > 1 ? `attempt ${entry.attempt}` : null,
    entry.latency_ms !== null ? `${formats.integer(entry.latency_ms)} ms` : null,
  ];
  return (
    <div className="log-line">
      <time className="dim num" dateTime={entry.at} title={formats.dateTime(entry.at)}>
        {formats.time(entry.at)}
      </time>
      <span className={TONES[entry.level]}>{entry.event}</span>
      <span className="ellipsis">{task || entry.state}</span>
      <span className="dim num">{details.filter(Boolean).join(" · ")}</span>
    </div>
  );
}

/** Stored and live entries, each once, the newest last. */
export function merged(stored: readonly Entry[], live: readonly Entry[]): Entry[] {
  const bySeq = new Map([...stored, ...live].map((entry) => [entry.seq, entry]));
  return [...bySeq.values()].sort((one, other) => one.seq - other.seq);
}

function fits(entry: Entry, level: Entry["level"] | undefined, words: string, task: string): boolean {
  if (level && entry.level !== level) return false;
  const wanted = words.trim().toLowerCase();
  return !wanted || [entry.event, task, entry.code, entry.model].some((text) => text?.toLowerCase().includes(wanted));
}
