import { useQuery } from "@tanstack/react-query";
import type { DocumentReport, Report } from "../../../api/types";
import { useApi } from "../../../app/context";
import { Empty } from "../../../components/Feedback";
import { QueryView } from "../../../components/QueryView";
import { DocumentText } from "../DocumentText";
import { documentQuery, earlierRound } from "../queries";
import { DocumentChoice } from "./DocumentChoice";
import { Sides } from "./Sides";

interface Props {
  report: Report;
  document: string | undefined;
  /** The two candidates that the address names. */
  left: string | undefined;
  right: string | undefined;
  onOpen: (document: string) => void;
  onPair: (pair: { left?: string; right?: string }) => void;
}

/** The answers to one document, two at a time, and what the judges said of them. */
export function DocumentsPanel({ report, document: wanted, onOpen, ...pair }: Props) {
  const total = report.documents_total;
  const number = numberOf(wanted, total);
  const document = useQuery({
    ...documentQuery(useApi(), report.run.id, number, report.state === "running", earlierRound(report)),
    enabled: total > 0,
  });
  if (!total) return <Empty title="No documents yet" />;
  return (
    <div className="stack wide">
      <DocumentChoice
        runId={report.run.id}
        round={earlierRound(report)}
        total={total}
        number={number}
        onChoose={(chosen) => onOpen(`d${chosen}`)}
      />
      <QueryView query={document} lines={8}>
        {(found) => (
          <div className="stack wide" aria-busy={document.isPlaceholderData}>
            <Shown report={report} document={found} {...pair} />
          </div>
        )}
      </QueryView>
    </div>
  );
}

/** The number of the document that an address names; the first if there is no such one. */
function numberOf(wanted: string | undefined, total: number): number {
  const number = Number(/^d(\d+)$/.exec(wanted ?? "")?.[1] ?? 1);
  return number >= 1 && number <= total ? number : 1;
}

function Shown({
  report,
  document,
  left,
  right,
  onPair,
}: Omit<Props, "document" | "onOpen"> & { document: DocumentReport }) {
  const order = report.ranking.rows.map((row) => row.candidate);
  const names = [...new Set([...order, ...document.answers.map((answer) => answer.candidate)])];
  const known = (name: string | undefined) => names.find((one) => one === name);
  const shownLeft = known(left) ?? names[0] ?? "";
  return (
    <>
      <details className="card asked" open>
        <summary>{document.turns ? "The conversation before these answers" : "What was asked"}</summary>
        <DocumentText
          text={document.text ?? "It is too long to be shown here; the export has it."}
          turns={document.turns}
        />
        {document.reference && (
          <>
            <h3 className="small">The expected answer</h3>
            <pre className="source" dir="auto">
              {document.reference}
            </pre>
          </>
        )}
      </details>
      <Sides
        runId={report.run.id}
        document={document}
        checks={report.checks?.checks.map(({ name }) => name) ?? []}
        names={names}
        left={shownLeft}
        right={known(right) ?? names.find((one) => one !== shownLeft) ?? shownLeft}
        onPair={onPair}
      />
    </>
  );
}
