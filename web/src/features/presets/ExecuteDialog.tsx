import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Play } from "lucide-react";
import { useState } from "react";
import { ApiError } from "carrel-sdk";
import { useApi } from "../../app/context";
import { Button } from "../../components/Button";
import { Dialog } from "../../components/Dialog";
import { ErrorNote, Note } from "../../components/Feedback";
import { TextArea, TextField } from "../../components/Field";
import { QueryView } from "../../components/QueryView";
import { useSettled } from "../../lib/useSettled";
import { Estimate } from "./Estimate";
import { dryRunQuery, useExecute } from "./queries";

const MAX_NAME = 200;

interface Props {
  preset: { id: string; name: string; version: number };
  onClose: () => void;
}

/** Shows the estimate of a run, asks for open variables, and starts it. */
export function ExecuteDialog({ preset, onClose }: Props) {
  const navigate = useNavigate();
  const [key] = useState(() => crypto.randomUUID());
  // Runs of a preset that was changed are told apart by their names.
  const named = preset.version > 1 ? `${preset.name.slice(0, MAX_NAME - 8)} v${preset.version}` : preset.name;
  const [name, setName] = useState(named);
  const [values, setValues] = useState<Record<string, string>>({});
  const given = useSettled(values, 600);
  const estimate = useQuery({
    ...dryRunQuery(useApi(), preset.id, preset.version, given),
    placeholderData: keepPreviousData,
  });
  const execute = useExecute(preset.id, key);
  const missing = openVariables(estimate.error);
  const open = [...new Set([...Object.keys(values), ...missing, ...openVariables(execute.error)])];
  const isOpen = open.some((variable) => !values[variable]?.trim());
  const change = (variable: string, text: string) => setValues({ ...values, [variable]: text });
  const start = () =>
    execute.mutate(
      { name: name.trim() || named, ...(open.length ? { variables: values } : {}) },
      { onSuccess: (run) => void navigate({ to: "/runs/$runId", params: { runId: run.id } }) },
    );
  return (
    <Dialog title="Start a run" isOpen onClose={onClose}>
      <TextField
        label="Name of the run"
        value={name}
        maxLength={MAX_NAME}
        onChange={(event) => setName(event.target.value)}
      />
      {open.map((variable) => (
        <TextArea
          key={variable}
          label={`Text for {{${variable}}}`}
          rows={3}
          value={values[variable] ?? ""}
          onChange={(event) => change(variable, event.target.value)}
        />
      ))}
      {missing.length > 0 ? (
        <Note>
          The instructions ask for {missing.length === 1 ? "the text" : "the texts"} above. What the run takes is told
          once {missing.length === 1 ? "it is" : "they are"} there.
        </Note>
      ) : (
        <QueryView query={estimate}>{(found) => <Estimate estimate={found} />}</QueryView>
      )}
      {execute.isError && !openVariables(execute.error).length && <ErrorNote error={execute.error} />}
      <div className="row end">
        <Button onPress={onClose}>Cancel</Button>
        <Button
          variant="primary"
          onPress={start}
          isDisabled={execute.isPending || isOpen || (estimate.isError && missing.length === 0)}
        >
          <Play size={16} aria-hidden /> Start
        </Button>
      </div>
    </Dialog>
  );
}

/** The variables without a text, taken from the error that names them. */
export function openVariables(error: unknown): string[] {
  if (!(error instanceof ApiError) || error.code !== "variables-open") return [];
  return error.faults.flatMap((fault) => /(?:^|\.)variables\.(.+)$/.exec(fault.path)?.[1] ?? []);
}
