import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { contentChoiceQuery, modelsQuery, offeredModelsQuery, rehearsalQuery } from "../../../api/queries";
import type { Judge, Run } from "../../../api/types";
import { useApi, useFormats } from "../../../app/context";
import { Button } from "../../../components/Button";
import { Dialog } from "../../../components/Dialog";
import { Check, SelectField } from "../../../components/Field";
import { ErrorNote } from "../../../components/Feedback";
import { ModelSelect } from "../../../components/ModelSelect";
import { useSettled } from "../../../lib/useSettled";
import type { Controls } from "../useControls";
import { differences, judgedBy, judgingCost } from "./judging";

const QUIET_MS = 400;

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
  const offered = useQuery(offeredModelsQuery(api));
  const criteria = useQuery(contentChoiceQuery(api, "criteria"));
  const unjudged = !run.configuration.scoring && !run.configuration.comparison;
  const before = (run.configuration.scoring ?? run.configuration.comparison)?.judges ?? [];
  const [judges, setJudges] = useState<readonly string[]>(before.map((judge) => judge.model));
  const [criteriaId, setCriteriaId] = useState("");
  const [another, setAnother] = useState("");
  const judging = models.data?.items.filter((model) => model.available && model.roles.includes("judge")) ?? [];
  const names = [...new Set([...before, ...judging].map(({ model }) => model).concat(judges))];
  const asked = judges.map((model): Judge => before.find((judge) => judge.model === model) ?? { model });
  const all = (offered.data ?? models.data)?.items ?? [];
  const add = () => {
    setJudges([...new Set([...judges, another.trim()])]);
    setAnother("");
  };
  const submit = () =>
    controls.reevaluate.mutate(
      {
        judges: asked,
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
      <div className="row foot">
        <div className="grow">
          <ModelSelect
            label="Another judge"
            value={another}
            does="judge"
            models={all.filter(({ model, available }) => available && !names.includes(model))}
            faults={[]}
            isPartial={!offered.isSuccess || names.includes(another.trim())}
            onChange={setAnother}
          />
        </div>
        <Button onPress={add} isDisabled={!another.trim()}>
          Add
        </Button>
      </div>
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
      {!unjudged && (
        <p className="small">
          {differences(
            before.map((judge) => judge.model),
            judges,
            criteriaId !== "",
          )}
        </p>
      )}
      {judges.length > 0 && <Cost run={run} judges={asked} criteria={criteriaId} />}
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

function Cost({ run, judges, criteria }: { run: Run; judges: readonly Judge[]; criteria: string }) {
  const api = useApi();
  const formats = useFormats();
  const settled = useSettled(JSON.stringify({ judges, criteria }), QUIET_MS);
  const [judged, bare] = judgedBy(run.configuration, JSON.parse(settled) as { judges: Judge[]; criteria: string });
  const withJudges = useQuery(rehearsalQuery(api, judged));
  const without = useQuery(rehearsalQuery(api, bare));
  const isKnown = withJudges.data && without.data && !run.configuration.combination;
  const isUnknown = withJudges.isError || without.isError || run.configuration.combination;
  return (
    <p className="small" role="status">
      {isKnown
        ? judgingCost(withJudges.data, without.data, formats)
        : isUnknown
          ? "What this costs cannot be told before it is done."
          : "What this costs is being computed…"}
    </p>
  );
}
