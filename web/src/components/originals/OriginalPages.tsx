import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { ChevronLeft, ChevronRight } from "lucide-react";
import { useState } from "react";
import { pageQuery } from "../../api/queries";
import type { Document } from "../../api/types";
import { useApi, useFormats } from "../../app/context";
import { Button, IconButton } from "../Button";
import { Note } from "../Feedback";
import { QueryView } from "../QueryView";
import { ReadingPane } from "../ReadingPane";
import { doubtfulPages } from "./remarks";

const NAMED = 8;

/** The pages of a PDF as they look, each beside the text that models get of it. The first doubtful page comes first. */
export function OriginalPages({ document }: { document: Document }) {
  const formats = useFormats();
  const doubtful = doubtfulPages(document);
  const [number, setNumber] = useState(doubtful[0] ?? 1);
  const page = useQuery({ ...pageQuery(useApi(), document.id, number), placeholderData: keepPreviousData });
  const last = page.data?.pages ?? number;
  return (
    <section className="stack tight" aria-label={`Pages of ${document.file_name}`}>
      <div className="row">
        <IconButton
          small
          label="The page before"
          icon={<ChevronLeft size={16} aria-hidden />}
          isDisabled={number <= 1}
          onPress={() => setNumber(number - 1)}
        />
        <span className="num" role="status">
          Page {formats.integer(number)} of {formats.integer(last)}
        </span>
        <IconButton
          small
          label="The next page"
          icon={<ChevronRight size={16} aria-hidden />}
          isDisabled={number >= last}
          onPress={() => setNumber(number + 1)}
        />
        {doubtful.length > 0 && <span className="small dim">Worth a look:</span>}
        {doubtful.slice(0, NAMED).map((one) => (
          <Button key={one} small variant="quiet" isDisabled={one === number} onPress={() => setNumber(one)}>
            <span className="visually-hidden">Page </span>
            {formats.integer(one)}
          </Button>
        ))}
      </div>
      <QueryView query={page}>
        {({ text, is_doubtful, image }) => (
          <>
            {is_doubtful && (
              <Note tone="warn">
                The text of this page may not be what it shows: its fonts do not name all characters.
              </Note>
            )}
            <div className="two-panes">
              <ReadingPane label="The original">
                <img
                  className="page-image"
                  src={`data:image/jpeg;base64,${image}`}
                  alt={`Page ${number} as it looks`}
                />
              </ReadingPane>
              <ReadingPane label="The text that models get">
                {text ? (
                  <p className="prewrap" dir="auto">
                    {text}
                  </p>
                ) : (
                  <p className="dim">No text was found on this page.</p>
                )}
              </ReadingPane>
            </div>
          </>
        )}
      </QueryView>
    </section>
  );
}
