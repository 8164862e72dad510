import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Against } from "../../../api/types";
import { useFormats } from "../../../app/context";
import { Button } from "../../../components/Button";
import { NumberHead } from "../../../components/NumberHead";
import { Scroll } from "../../../components/Scroll";
import { Sentence } from "../../../components/Sentence";
import { differenceOf, figureOf } from "./words";

const AT_ONCE = 50;

interface Props {
  against: Against;
  here: string;
  there: string;
  numberOf: (candidate: string) => number;
}

/** The documents that both runs have, with every candidate's figure in both; the greatest loss comes first. */
export function DocumentsPart({ against, here, there, numberOf }: Props) {
  const formats = useFormats();
  const [shown, setShown] = useState(AT_ONCE);
  const { by_document: documents, scale, more_documents: more } = against;
  if (!scale) return null;
  const labels = documents[0]?.cells.map((cell) => cell.candidate) ?? [];
  const left = documents.length - shown;
  return (
    <section className="stack" aria-labelledby="documents-title">
      <h2 id="documents-title">Document by document</h2>
      <p className="small dim">
        {scale === "score" ? "Scores" : "How often each is preferred"}, the greatest loss of any candidate first. A
        difference on one document may well be chance.
      </p>
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
            {documents.slice(0, shown).map((document) => (
              <tr key={document.here}>
                <th scope="row">
                  {document.name}
                  <span className="small row tight">
                    <DocumentLink run={here} document={document.here} name={document.name} where="here" />
                    <DocumentLink run={there} document={document.there} name={document.name} where="there" />
                  </span>
                </th>
                {document.cells.map((cell) => (
                  <td key={cell.candidate} className="n">
                    <strong className={cell.difference !== null && cell.difference < 0 ? "bad" : ""}>
                      {cell.difference === null ? "–" : differenceOf(cell.difference, scale, formats)}
                    </strong>
                    <span className="dim small block nowrap">
                      {cell.here === null ? "–" : figureOf(cell.here, scale, formats)} here,{" "}
                      {cell.there === null ? "–" : figureOf(cell.there, scale, formats)} there
                    </span>
                  </td>
                ))}
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
