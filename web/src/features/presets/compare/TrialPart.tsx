import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { isMissing } from "carrel-sdk";
import type { GeneratedDocument, Task } from "../../../api/types";
import { triedDocumentQuery } from "../../../api/queries";
import { useApi, useFormats } from "../../../app/context";
import { AnswerCard } from "../../../components/AnswerCard";
import { ErrorNote, Note } from "../../../components/Feedback";
import { GrowingText } from "../../../components/GrowingText";
import type { LiveAnswer } from "../../../lib/liveAnswers";
import { inTime, priced, spentInBrief } from "../../../lib/spend";
import { hasEnded, wordsForPause, wordsForTask } from "../../../lib/states";
import type { Formats } from "../../../lib/format";
import { useTrial } from "./useTrial";

/** The answers of all candidates to one document, each as soon as it is there. */
export function TrialPart({ runId, isNew }: { runId: string; isNew: boolean }) {
  const formats = useFormats();
  const { run, error, tasks, answers, written } = useTrial(runId);
  const asked = useQuery(triedDocumentQuery(useApi(), runId)).data?.rows[0]?.question;
  const place = useRef<HTMLElement>(null);
  useEffect(() => {
    if (isNew) place.current?.scrollIntoView({ block: "nearest" });
  }, [isNew, runId, tasks.length]);
  // It was deleted, or left behind when the draft was exported.
  if (isMissing(error)) return null;
  const labels = run?.configuration.generation.candidates.map(({ label }) => label) ?? [];
  const over = tasks.filter(({ state }) => state !== "pending" && state !== "running").length;
  const document = tasks[0]?.document_name;
  return (
    <section className="card stack" aria-labelledby="trial-title" ref={place}>
      <div className="row between">
        <h2 id="trial-title">{document ? `Tried on “${document}”` : "Tried on one"}</h2>
        <Link to="/runs/$runId" params={{ runId }} className="small">
          Open it as a comparison
        </Link>
      </div>
      {error && <ErrorNote error={error} />}
      {asked && (
        <p className="small dim clamp prewrap" dir="auto">
          {asked}
        </p>
      )}
      {run && (
        <p className="small dim num" role="status">
          {formats.integer(over)} of {formats.counted(tasks.length || labels.length, "answer")}
          {over > 0 && ` · spent: ${spentInBrief(run.spend, formats, hasEnded(run.state))}`}
        </p>
      )}
      {run?.pause_reason && <Note tone="warn">{wordsForPause(run.pause_reason)}</Note>}
      {sameOnes(tasks, answers).map((names) => (
        <Note key={names.join()}>{names.join(" and ")} gave the same answer, word for word.</Note>
      ))}
      <div className="answer-cards">
        {tasks.map((task) => (
          <Tried
            key={task.key}
            task={task}
            number={labels.indexOf(task.candidate)}
            answer={answers.get(task.key)}
            written={written.get(task.key)}
            formats={formats}
          />
        ))}
      </div>
    </section>
  );
}

interface TriedProps {
  task: Task;
  number: number;
  answer: GeneratedDocument | undefined;
  written: LiveAnswer | undefined;
  formats: Formats;
}

function Tried({ task, number, answer, written, formats }: TriedProps) {
  const isOpen = task.state === "pending" || task.state === "running";
  return (
    <AnswerCard
      number={number}
      candidate={task.candidate}
      facts={answer ? factsOf(task, answer, formats) : []}
      text={answer?.body}
    >
      {written && !answer && (isOpen || task.state === "succeeded") && (
        <GrowingText text={written.text} hasGap={written.hasGap} />
      )}
      {isOpen && (
        <p className="small dim row tight">
          {task.state === "running" && <span className="dot pulse good" aria-hidden />}
          {task.state === "running" ? "Answering" : wordsForTask(task.state)}
        </p>
      )}
      {!isOpen && task.state !== "succeeded" && (
        <Note tone="bad">{task.error?.message ?? `${wordsForTask(task.state)}.`}</Note>
      )}
      {answer && answer.finish_reason !== "stop" && (
        <Note tone="warn">
          {answer.finish_reason === "length"
            ? "It reached its limit of tokens and ends there."
            : "It refused to answer."}
        </Note>
      )}
    </AnswerCard>
  );
}

/** The candidates whose answers are identical, in groups. */
export function sameOnes(
  tasks: readonly Pick<Task, "key" | "candidate">[],
  answers: ReadonlyMap<string, Pick<GeneratedDocument, "body">>,
): string[][] {
  const groups = new Map<string, string[]>();
  for (const { key, candidate } of tasks) {
    const text = answers.get(key)?.body.trim();
    if (text) groups.set(text, [...(groups.get(text) ?? []), candidate]);
  }
  return [...groups.values()].filter((names) => names.length > 1);
}

/** The time, the tokens and the cost; of an answer that an earlier run brought, that it cost nothing again. */
export function factsOf(task: Task, answer: GeneratedDocument, formats: Formats): string[] {
  if (task.reused) return ["from an earlier try or run, not paid again"];
  const { started_at, finished_at, cost } = task;
  const took = started_at && finished_at ? Date.parse(finished_at) - Date.parse(started_at) : undefined;
  const { input, output } = answer.tokens;
  return [
    took === undefined ? "" : inTime(took, formats),
    `${formats.integer(input)} + ${formats.counted(output, "token")}`,
    cost === null ? "cost unknown" : priced(cost, formats.briefDollars),
    task.attempts > 1 ? `${task.attempts} attempts` : "",
  ].filter(Boolean);
}
