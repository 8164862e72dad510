import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { contentChoiceQuery, modelsQuery } from "../../../api/queries";
import type { Run } from "../../../api/types";
import { useApi } from "../../../app/context";
import { Button } from "../../../components/Button";
import { Dialog } from "../../../components/Dialog";
import { Check, SelectField } from "../../../components/Field";
import { ErrorNote } from "../../../components/Feedback";
import type { Controls } from "../useControls";

interface Props {
  run: Run;
  controls: Controls;
  isOpen: boolean;
  onClose: () => void;
}

/** Another round over the same answers. */
export function ReevaluateDialog({ run, controls, isOpen, onClose }: Props) {
  return (
    <Dialog title="Judge the same answers again" isOpen={isOpen} onClose={onClose}>
      <Form run={run} controls={controls} onClose={onClose} />
    </Dialog>
  );
}

function Form({ run, controls, onClose }: Omit<Props, "isOpen">) {
  const api = useApi();
  const models = useQuery(modelsQuery(api));
  const criteria = useQuery(contentChoiceQuery(api, "criteria"));
  const unjudged = !run.configuration.scoring && !run.configuration.comparison;
  const before = (run.configuration.scoring ?? run.configuration.comparison)?.judges ?? [];
  const [judges, setJudges] = useState<readonly string[]>(before.map((judge) => judge.model));
  const [criteriaId, setCriteriaId] = useState("");
  const judging = models.data?.items.filter((model) => model.available && model.roles.includes("judge")) ?? [];
  const names = [...new Set([...before.map((judge) => judge.model), ...judging.map((model) => model.model)])];
  const submit = () =>
    controls.reevaluate.mutate(
      {
        judges: judges.map((model) => before.find((judge) => judge.model === model) ?? { model }),
        ...(criteriaId ? { criteria: criteriaId } : {}),
      },
      { onSuccess: onClose },
    );
  return (
    <>
      <p className="dim">A new round asks the judges again, about the answers that are there. Nothing is generated.</p>
      <fieldset className="stack tight">
        <legend className="label">Judges</legend>
        {names.map((name) => (
          <Check
            key={name}
            label={name}
            checked={judges.includes(name)}
            onChange={(event) =>
              setJudges(event.target.checked ? [...judges, name] : judges.filter((other) => other !== name))
            }
          />
        ))}
      </fieldset>
      {unjudged && (
        <p className="small dim">
          This run was made without judges: these compare its answers, and with criteria they also score them.
        </p>
      )}
      {(run.configuration.scoring || unjudged) && (
        <SelectField label="Criteria" value={criteriaId} onChange={(event) => setCriteriaId(event.target.value)}>
          <option value="">{unjudged ? "None, or as before" : "As before"}</option>
          {criteria.data?.map((content) => (
            <option key={content.id} value={content.id}>
              {content.name}
            </option>
          ))}
        </SelectField>
      )}
      {controls.reevaluate.isError && <ErrorNote error={controls.reevaluate.error} />}
      <div className="row end">
        <Button onPress={onClose}>Cancel</Button>
        <Button variant="primary" onPress={submit} isDisabled={judges.length === 0 || controls.reevaluate.isPending}>
          Judge again
        </Button>
      </div>
    </>
  );
}
