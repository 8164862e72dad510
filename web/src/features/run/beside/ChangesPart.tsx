import { lazy, Suspense } from "react";
import type { Against, Report } from "../../../api/types";
import { useFormats } from "../../../app/context";
import { Skeleton } from "../../../components/Feedback";
import { Scroll } from "../../../components/Scroll";
import { Sentence } from "../../../components/Sentence";
import { part } from "../../../lib/part";
import { named, type Part } from "../../../lib/sentence";
import { changesOf } from "./words";

const Diff = lazy(part(() => import("../../../components/Diff").then((m) => ({ default: m.Diff }))));
const QUESTIONS = { score: "The question for scores", compare: "The question for pairs" };

interface Props {
  report: Report;
  against: Against;
  numberOf: (candidate: string) => number;
}

/** What changed from the other run to this one: the instructions first, as a text with its changes marked. */
export function ChangesPart({ report, against, numberOf }: Props) {
  const { changes } = against;
  const lines = changesOf(against, useFormats());
  const text = (texts: readonly (string | null)[], number: number | null) =>
    number === null ? "" : (texts[number - 1] ?? undefined);
  const nothing = !changes.instructions.length && !changes.questions.length && !lines.length;
  return (
    <section className="stack" aria-labelledby="changes-title">
      <h2 id="changes-title">What changed</h2>
      {nothing && <p>Nothing: both asked the same of the same candidates, judges and documents.</p>}
      {(changes.instructions.length > 0 || changes.questions.length > 0) && (
        <p className="small dim">Struck out is what stands only there, and marked is what stands only here.</p>
      )}
      {changes.instructions.map(({ candidates, here, there }) => (
        <Changed
          key={candidates.join("\n")}
          label={`Instructions of ${candidates.join(", ")}`}
          title={["Instructions of ", ...named(candidates)]}
          numberOf={numberOf}
          from={text(against.instructions, there)}
          to={text(report.configuration.instructions, here)}
        />
      ))}
      {changes.questions.map(({ kind, here, there }) => (
        <Changed
          key={kind}
          label={QUESTIONS[kind]}
          title={[QUESTIONS[kind]]}
          numberOf={numberOf}
          from={there ?? undefined}
          to={here ?? undefined}
        />
      ))}
      {lines.length > 0 && (
        <ul className="stack tight">
          {lines.map((line, at) => (
            <li key={at}>
              <Sentence parts={line} numberOf={numberOf} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

interface ChangedProps {
  label: string;
  title: readonly Part[];
  numberOf: (candidate: string) => number;
  /** A text that is `undefined` is not in the report: it is too long for it, or it is the service's own. */
  from: string | undefined;
  to: string | undefined;
}

function Changed({ label, title, numberOf, from, to }: ChangedProps) {
  return (
    <div className="card stack tight">
      <h3>
        <Sentence parts={title} numberOf={numberOf} />
      </h3>
      {from === undefined || to === undefined ? (
        <p className="dim">
          {from === to
            ? "They differ. Both texts are too long for this page."
            : `They differ. The text ${from === undefined ? "there" : "here"} is the default one, or too long for this page.`}
        </p>
      ) : (
        <Scroll isPlain label={label}>
          <Suspense fallback={<Skeleton lines={3} />}>
            <Diff from={from} to={to} />
          </Suspense>
        </Scroll>
      )}
    </div>
  );
}
