import { Plus } from "lucide-react";
import { useEffect, useRef } from "react";
import { ApiError } from "carrel-sdk";
import type { CriterionRow } from "../../api/types";
import { NO_ROW, sharesOf } from "../../lib/criteria";
import { TEMPLATES, withTemplate } from "../../lib/criteriaTemplates";
import { withoutLine } from "../../lib/yamlLines";
import { Button } from "../Button";
import { Disclosure } from "../Disclosure";
import { Note } from "../Feedback";
import { CriterionFields } from "./CriterionFields";

interface Props {
  rows: readonly CriterionRow[];
  error: unknown;
  onChange: (rows: readonly CriterionRow[]) => void;
}

/** One row a criterion, with templates to begin with. A fault stands at its field, and the focus goes there. */
export function CriteriaTable({ rows, error, onChange }: Props) {
  const frame = useRef<HTMLDivElement>(null);
  const faults = error instanceof ApiError ? error.faults : [];
  const shares = sharesOf(rows);
  const ofAll = faults.filter(({ path }) => path === "body");
  useEffect(() => {
    if (error instanceof ApiError) frame.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [error]);
  return (
    <div className="stack" ref={frame}>
      {ofAll.map(({ message }) => (
        <Note key={message} tone="bad" role="alert">
          The list {withoutLine(message)}.
        </Note>
      ))}
      {rows.length > 0 && (
        <ol className="criteria stack">
          {rows.map((row, at) => (
            <CriterionFields
              key={at}
              number={at + 1}
              row={row}
              share={rows.length > 1 ? shares?.[at] : undefined}
              faultsAt={(field) =>
                faults.filter(({ path }) => path === `body[${at}].${field}`).map(({ message }) => withoutLine(message))
              }
              onChange={(part) => onChange(rows.map((one, other) => (other === at ? { ...one, ...part } : one)))}
              onRemove={() => onChange(rows.filter((_, other) => other !== at))}
            />
          ))}
        </ol>
      )}
      <div>
        <Button small onPress={() => onChange([...rows, { ...NO_ROW, name: "" }])}>
          <Plus size={14} aria-hidden /> Criterion
        </Button>
      </div>
      <Disclosure title="From a template" summary="by what the answers are for" isOpen={!rows.length}>
        <div className="row tight">
          {TEMPLATES.map((template) => (
            <Button small key={template.task} onPress={() => onChange(withTemplate(rows, template))}>
              {template.task}
            </Button>
          ))}
        </div>
      </Disclosure>
    </div>
  );
}
