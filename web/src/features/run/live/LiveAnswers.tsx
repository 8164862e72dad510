import type { Run } from "../../../api/types";
import { AnswerCard } from "../../../components/AnswerCard";
import { GrowingText } from "../../../components/GrowingText";
import { labelsOf } from "../../../lib/candidates";
import type { LiveAnswer, Places } from "../../../lib/liveAnswers";

const WORDS: Record<LiveAnswer["state"], string> = { writing: "writing", done: "done", failed: "no answer" };

/** The answers that models write at this moment: a few of them, in places that are there from the beginning. */
export function LiveAnswers({ run, answers }: { run: Run; answers: Places }) {
  const { economy } = run.configuration;
  // Batches bring answers hours later, and whole.
  const isExpected = !economy && (run.phase === "generate" || run.phase === "combine");
  if (!isExpected && answers.every((one) => one === undefined)) return null;
  const labels = labelsOf(run.configuration);
  return (
    // Nobody wants to hear every word of it: what is done, the progress says.
    <section className="card stack" aria-label="Answers as they come" aria-live="off">
      <h2>Answers as they come</h2>
      <div className="answer-cards live">
        {answers.map((answer, place) =>
          answer ? (
            <AnswerCard
              key={place}
              number={labels.indexOf(answer.candidate)}
              candidate={answer.candidate}
              document={answer.document}
              facts={[WORDS[answer.state]]}
            >
              <GrowingText text={answer.text} hasGap={answer.hasGap} />
            </AnswerCard>
          ) : (
            <div key={place} className="answer-card waiting small dim">
              {place === 0 && "The next answer appears here."}
            </div>
          ),
        )}
      </div>
    </section>
  );
}
