import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError, data } from "carrel-sdk";
import { queryKeys } from "../../api/queryKeys";
import type { CriteriaRows, CriterionRow } from "../../api/types";
import { useApi } from "../../app/context";
import { yamlOf } from "../../lib/criteria";
import { ErrorNote, Note, Skeleton } from "../Feedback";
import { Segments } from "../Segments";
import { CriteriaTable } from "./CriteriaTable";
import { CriteriaYaml } from "./CriteriaYaml";

type Mode = "rows" | "yaml";

interface Props {
  body: string;
  /** Why the text could not be saved. */
  error: unknown;
  onChange: (body: string) => void;
}

/** Criteria as rows, and as YAML for those who ask for it. What is kept is YAML: the service reads it as rows. */
export function CriteriaEditor({ body, error, onChange }: Props) {
  const api = useApi();
  const [mode, setMode] = useState<Mode>("rows");
  const [known, setKnown] = useState<{ body: string; found: CriteriaRows }>();
  const isKnown = known?.body === body || !body.trim();
  const reading = useQuery({
    queryKey: queryKeys.criteriaRows(body),
    queryFn: ({ signal }) => data(api.client.POST("/api/contents/criteria-rows", { body: { body }, signal })),
    enabled: mode === "rows" && !isKnown,
    staleTime: Infinity,
    retry: false,
  });
  const found = !body.trim() ? NOTHING : known?.body === body ? known.found : reading.data;
  const isUnreadable = reading.error instanceof ApiError && reading.error.faults.length > 0 && !isKnown;
  const shown = isUnreadable ? "yaml" : mode;
  const write = (rows: readonly CriterionRow[]) => {
    const written = yamlOf(rows);
    setKnown({ body: written, found: { rows: [...rows], comments: false } });
    onChange(written);
  };
  return (
    <div className="stack">
      <div className="row between">
        <p className="small dim">
          {shown === "rows"
            ? "What judges score, each for itself. The weights say how much each counts."
            : "A list, each with a name, and a description, a weight and a scale if you like."}
        </p>
        <Segments
          label="How to edit the criteria"
          value={shown}
          onChange={setMode}
          options={[
            ["rows", "Rows"],
            ["yaml", "YAML"],
          ]}
        />
      </div>
      {isUnreadable && mode === "rows" && (
        <Note tone="warn">This YAML cannot be shown as rows yet. Mend it here, then choose the rows again.</Note>
      )}
      {shown === "rows" && found?.comments && (
        <Note>This text has comments. A change in the rows leaves them out; a change in the YAML keeps them.</Note>
      )}
      {shown === "yaml" ? (
        <CriteriaYaml
          body={body}
          error={isUnreadable ? reading.error : error}
          onChange={(written) => {
            setMode("yaml");
            onChange(written);
          }}
        />
      ) : found ? (
        <CriteriaTable rows={found.rows} error={error} onChange={write} />
      ) : reading.error ? (
        <ErrorNote error={reading.error} onRetry={() => void reading.refetch()} />
      ) : (
        <Skeleton />
      )}
    </div>
  );
}

const NOTHING: CriteriaRows = { rows: [], comments: false };
