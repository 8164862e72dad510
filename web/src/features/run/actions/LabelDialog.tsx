import { useState } from "react";
import { faultsAt } from "carrel-sdk";
import type { Run } from "../../../api/types";
import { Button } from "../../../components/Button";
import { Dialog } from "../../../components/Dialog";
import { Check, TextField } from "../../../components/Field";
import { ErrorNote } from "../../../components/Feedback";
import { TagsField } from "../../../components/TagsField";
import type { Controls } from "../useControls";

/** The name and tags of a run, and whether it is pinned, which keeps it from being deleted by age. */
export function LabelDialog({ run, controls, onClose }: { run: Run; controls: Controls; onClose: () => void }) {
  const [name, setName] = useState(run.name);
  const [tags, setTags] = useState(run.tags);
  const [pinned, setPinned] = useState(run.pinned);
  const { error, isError, isPending } = controls.label;
  const submit = () => controls.label.mutate({ name: name.trim(), tags, pinned }, { onSuccess: onClose });
  return (
    <Dialog title="Name, tags and pin" isOpen onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <TextField
          label="Name"
          value={name}
          maxLength={200}
          required
          faults={faultsAt(error, "name")}
          onChange={(event) => setName(event.target.value)}
        />
        <TagsField tags={tags} faults={faultsAt(error, "tags")} onChange={setTags} />
        <Check
          label="Pin it: it stays, however few days your settings keep runs for"
          checked={pinned}
          onChange={(event) => setPinned(event.target.checked)}
        />
        {isError && <ErrorNote error={error} />}
        <div className="row end">
          <Button onPress={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" isDisabled={!name.trim() || isPending}>
            Save
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
