import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import type { Against } from "../../../api/types";
import { useApi, useFormats } from "../../../app/context";
import { Button } from "../../../components/Button";
import { NumberHead } from "../../../components/NumberHead";
import { Scroll } from "../../../components/Scroll";
import { Segments } from "../../../components/Segments";
import { Sentence } from "../../../components/Sentence";
import { beginningsQuery } from "../queries";
import { differenceOf, figureOf } from "./words";

const AT_ONCE = 50;
const WORDS = { checks: "Checks passed", score: "Scores", win_share: "How often each is preferred" };

interface Props {
  against: Against;
  here: string;
  there: string;
  numberOf: (candidate: string) => number;
  /** The place of a candidate among the answers of each run. */
  places: { here: Place; there: Place };
}

type Place = (candidate: string, otherwise: number) => number;

/** The documents that both runs have, with every candidate's figure in both; the greatest loss comes first. */
export function DocumentsPart({ against, here, there, numberOf, places }: Props) {
  const formats = useFormats();
  const [shown, setShown] = useState(AT_ONCE);
  const [wanted, setWanted] = useState<"all" | "worse">("all");
  const { by_document: all, scale, more_documents: more } = against;
  const isWorse = ({ cells }: (typeof all)[number]) => cells.some(({ difference }) => (difference ?? 0) < 0);
  const worse = all.filter(isWorse);
  const documents = wanted === "worse" ? worse : all;
  const inSight = documents.slice(0, shown);
  const texts = [
    useBeginnings(
      there,
      inSight.map((one) => numberIn(one.there)),
    ),
    useBeginnings(
      here,
      inSight.map((one) => numberIn(one.here)),
    ),
  ] as const;
  if (!all.length) return null;
  const labels = documents[0]?.cells.map((cell) => cell.candidate) ?? [];
  const left = documents.length - shown;
  return (
    <section className="stack" aria-labelledby="documents-title">
      <h2 id="documents-title">Document by document</h2>
      <div className="row between">
        <p className="small dim">
          {scale ? `${WORDS[scale]}, the greatest loss of any candidate first. ` : ""}A difference on one document may
          well be chance.
        </p>
        {worse.length > 0 && (
          <Segments
            label="Which documents"
            value={wanted}
            onChange={setWanted}
            options={[
              ["all", `All ${formats.integer(all.length)}`],
              ["worse", `Worse here ${formats.integer(worse.length)}`],
            ]}
          />
        )}
      </div>
      <Scroll labelledBy="documents-title">
        <table className="table">
          <thead>
            <tr>
              <th scope="col">Document</th>
              {labels.map((label) => (
                <NumberHead key={label}>
                  <Sentence parts={[{ candidate: label }]} numberOf={numberOf} />
                </NumberHead>
              ))}
            </tr>
          </thead>
          <tbody>
            {inSight.map((document) => (
              <tr key={document.here}>
                <th scope="row">
                  {document.name}
                  <span className="small dim clamp" dir="auto">
                    {texts[1].get(numberIn(document.here))?.question}
                  </span>
                  <span className="small row tight">
                    <DocumentLink run={here} document={document.here} name={document.name} where="here" />
                    <DocumentLink run={there} document={document.there} name={document.name} where="there" />
                  </span>
                </th>
                {document.cells.map((cell) => {
                  const place = numberOf(cell.candidate);
                  const before = texts[0].get(numberIn(document.there))?.answers[places.there(cell.candidate, place)];
                  const now = texts[1].get(numberIn(document.here))?.answers[places.here(cell.candidate, place)];
                  return (
                    <td key={cell.candidate} className="two-answers">
                      {scale && (
                        <span className="small num block">
                          {cell.there === null ? "–" : figureOf(cell.there, scale, formats)} →{" "}
                          <strong className={(cell.difference ?? 0) < 0 ? "bad" : ""}>
                            {cell.here === null ? "–" : figureOf(cell.here, scale, formats)}
                            {cell.difference !== null && ` (${differenceOf(cell.difference, scale, formats)})`}
                          </strong>
                        </span>
                      )}
                      <span className="small dim clamp" dir="auto">
                        Before: {before ?? "no answer"}
                      </span>
                      <span className="small clamp" dir="auto">
                        {now === before ? "Now: the same" : `Now: ${now ?? "no answer"}`}
                      </span>
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      {left > 0 && (
        <div>
          <Button onPress={() => setShown(shown + AT_ONCE)}>
            Show {formats.integer(Math.min(left, AT_ONCE))} more of {formats.integer(left)}
          </Button>
        </div>
      )}
      {more > 0 && (
        <p className="small dim">
          {formats.integer(more)} more {more === 1 ? "document is" : "documents are"} in both and not listed: no
          candidate lost more on them than on those above.
        </p>
      )}
    </section>
  );
}

function numberIn(document: string): number {
  return Number(document.slice(1));
}

/** How the answers to some documents of a run begin, by the numbers of the documents. */
function useBeginnings(run: string, documents: readonly number[]) {
  const api = useApi();
  const rows = useQuery({ ...beginningsQuery(api, run, documents, false), enabled: documents.length > 0 }).data?.rows;
  return useMemo(() => new Map(rows?.map((row) => [row.document, row])), [rows]);
}

function DocumentLink(props: { run: string; document: string; name: string; where: "here" | "there" }) {
  const { run, document, name, where } = props;
  return (
    <Link
      to="/runs/$runId"
      params={{ runId: run }}
      search={{ tab: "documents", document }}
      aria-label={`Open ${where}: ${name}`}
    >
      Open {where}
    </Link>
  );
}
