import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { criteriaProposalQuery } from "../../../api/queries";
import type { CriteriaProposal, Run } from "../../../api/types";
import { useApi, useFormats } from "../../../app/context";
import { Disclosure } from "../../../components/Disclosure";
import { Note } from "../../../components/Feedback";
import { Check } from "../../../components/Field";
import { QueryView } from "../../../components/QueryView";

type Formats = ReturnType<typeof useFormats>;
type Said = CriteriaProposal["unrecognised_quotes"][number];

/** What the reasons of votes and the notes on answers ask for, and a way to the form of criteria with it in. */
export function ProposedCriteria({ run, hasVotes }: { run: Run; hasVotes: boolean }) {
  const formats = useFormats();
  const [half, setHalf] = useState(false);
  const query = useQuery({ ...criteriaProposalQuery(useApi(), run.id, half), placeholderData: keepPreviousData });
  if (!hasVotes && !half && !query.data?.notes) return null;
  return (
    <section className="card stack" aria-labelledby="proposed-title">
      <h2 id="proposed-title">Criteria from what you said</h2>
      <Check
        label="From half of the documents, to test on the other half"
        checked={half}
        onChange={(event) => setHalf(event.target.checked)}
      />
      <QueryView query={query}>
        {(found) => (
          <>
            <p>{readFrom(found, formats)}</p>
            {found.proposals.length > 0 ? (
              <>
                <ol className="quoted stack">
                  {found.proposals.map((one) => (
                    <Proposed key={one.criterion.name} one={one} />
                  ))}
                </ol>
                <div className="row">
                  <Link
                    to="/library/$contentId"
                    params={{ contentId: "new" }}
                    search={{ type: "criteria", votes: run.id, ...(half && { half: "yes" }) }}
                    className="btn"
                  >
                    Use as criteria
                  </Link>
                  <span className="small dim">Opens them as a new text. Nothing is saved before you do.</span>
                </div>
              </>
            ) : (
              <Note>
                Too few reasons to propose criteria: at least {found.least} votes or notes have to ask for the same.
                Write why when you vote, in a few words such as “too long” or “leaves out the date”.
              </Note>
            )}
            {found.rare.length > 0 && (
              <p className="small dim">Asked for by too few to be proposed: {found.rare.join(", ")}.</p>
            )}
            {found.unrecognised > 0 && (
              <Disclosure
                title="Not recognised"
                summary={`${formats.integer(found.unrecognised)} of ${formats.integer(found.votes + found.notes)}`}
              >
                <div className="quoted">
                  <p className="small">No word of these is in the table, which is English. Read them yourself.</p>
                  <Quotes said={found.unrecognised_quotes} />
                </div>
              </Disclosure>
            )}
          </>
        )}
      </QueryView>
    </section>
  );
}

function readFrom({ votes, notes }: CriteriaProposal, formats: Formats): string {
  if (!votes && !notes) return "No vote has a reason yet, and no answer a note.";
  const parts = [
    ...(votes ? [`the ${votes === 1 ? "reason of one vote" : `reasons of ${formats.counted(votes, "vote")}`}`] : []),
    ...(notes ? [notes === 1 ? "one note on an answer" : `${formats.counted(notes, "note")} on answers`] : []),
  ];
  return `From ${parts.join(" and ")}, by a table of words. No model was asked.`;
}

function Proposed({ one }: { one: CriteriaProposal["proposals"][number] }) {
  const formats = useFormats();
  const { criterion, votes, notes, quotes } = one;
  const by = [...(votes ? [formats.counted(votes, "vote")] : []), ...(notes ? [formats.counted(notes, "note")] : [])];
  return (
    <li className="stack tight">
      <div>
        <strong>{criterion.name}</strong>{" "}
        <span className="small dim">
          {by.join(", ")}; weight {criterion.weight}, scale {criterion.minimum} to {criterion.maximum}
        </span>
      </div>
      <p>{criterion.description}</p>
      <Quotes said={quotes} />
    </li>
  );
}

function Quotes({ said }: { said: readonly Said[] }) {
  return said.map(({ kind, document, text }) => (
    <blockquote key={`${kind} ${document} ${text}`} className="small">
      “{text}”{" "}
      <span className="dim">
        {kind === "note" ? "a note on" : "on"} document {document}
      </span>
    </blockquote>
  ));
}
