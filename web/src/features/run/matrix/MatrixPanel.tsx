import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import type { Figures, Report } from "../../../api/types";
import { useApi } from "../../../app/context";
import { Empty } from "../../../components/Feedback";
import { QueryView } from "../../../components/QueryView";
import { Segments } from "../../../components/Segments";
import { earlierRound, figuresQuery } from "../queries";
import { HeatLegend } from "./HeatLegend";
import { HeatMap } from "./HeatMap";
import { columnsOf, type Measure, measuresIn } from "./heatRows";
import { Pairs } from "./Pairs";
import { numbersIn } from "../../../lib/candidates";

const WORDS: Record<Measure, string> = { win_share: "Preferred", score: "Score", checks: "Checks" };

interface Props {
  report: Report;
  onOpen: (document: string) => void;
}

/** Documents by candidates, and candidates against each other. */
export function MatrixPanel({ report, onOpen }: Props) {
  const figures = useQuery(figuresQuery(useApi(), report.run.id, report.state === "running", earlierRound(report)));
  return (
    <div className="stack wide">
      <QueryView query={figures} lines={8}>
        {(found) => <Documents report={report} figures={found} onOpen={onOpen} />}
      </QueryView>
      {report.pairs.length > 0 && (
        <section className="stack" aria-labelledby="pairs-title">
          <h2 id="pairs-title">Each against each</h2>
          <Pairs report={report} />
        </section>
      )}
    </div>
  );
}

function Documents({ report, figures, onOpen }: Props & { figures: Figures }) {
  const [wanted, setMeasure] = useState<Measure>("win_share");
  const measures = useMemo(() => measuresIn(figures), [figures]);
  const measure = measures.find((one) => one === wanted) ?? measures[0];
  const columns = useMemo(() => {
    const candidates = [...report.ranking.rows, ...report.candidates].map(({ candidate }) => candidate);
    return columnsOf(figures, [...new Set(candidates)], measure ?? "win_share");
  }, [figures, report, measure]);
  if (!measure) return <Empty title="No figures yet">They come with the first scores, pairs or checks.</Empty>;
  return (
    <section className="stack" aria-labelledby="heat-title">
      <div className="row between">
        <h2 id="heat-title">Documents and candidates</h2>
        {measures.length > 1 && (
          <Segments
            label="What the cells show"
            value={measure}
            onChange={setMeasure}
            options={measures.map((one) => [one, WORDS[one]])}
          />
        )}
      </div>
      {measure === "win_share" && (
        <HeatLegend kind="around" low="lost every pair" high="won every one" middle="no colour is one half" />
      )}
      {measure === "score" && <HeatLegend kind="upwards" low="the lowest score" high="the highest" />}
      {measure === "checks" && <HeatLegend kind="upwards" low="passed no check" high="passed all" />}
      <HeatMap
        runId={report.run.id}
        figures={figures}
        {...columns}
        numberOf={numbersIn(report.candidates)}
        measure={measure}
        onOpen={onOpen}
      />
    </section>
  );
}
