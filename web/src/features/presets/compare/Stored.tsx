import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { isMissing } from "carrel-sdk";
import type { PresetIn } from "../../../api/types";
import { Button } from "../../../components/Button";
import { Confirm } from "../../../components/Dialog";
import { Behind, Gone } from "../../../components/EditGuard";
import { ErrorNote } from "../../../components/Feedback";
import { changedFields, type Draft, type Saved } from "../../../lib/useDraft";
import { wordsForField } from "../draft";
import { useSavePreset } from "../queries";
import { presetOf, type Setup } from "./setup";

interface ActionsProps {
  presetId: string;
  isDirty: boolean;
  isSaving: boolean;
  /** Left out while it cannot be saved. */
  onSave: (() => void) | undefined;
  /** What running it is called, and left out while it cannot run. */
  start: string;
  onRun: (() => void) | undefined;
  onDiscard: () => void;
}

/** What can be done with a preset that is changed, beside running it. */
export function StoredActions({ presetId, isDirty, isSaving, onSave, start, onRun, onDiscard }: ActionsProps) {
  const [isDiscarding, setDiscarding] = useState(false);
  return (
    <>
      <Link to="/presets/$presetId/trends" params={{ presetId }} className="btn">
        Trends
      </Link>
      {isDirty && (
        <Button variant="quiet" onPress={() => setDiscarding(true)}>
          Discard
        </Button>
      )}
      <Button onPress={onSave} isDisabled={!onSave}>
        {isSaving ? "Saving…" : "Save"}
      </Button>
      <span className="only-narrow">
        <Button variant="primary" onPress={onRun} isDisabled={!onRun}>
          {start}
        </Button>
      </span>
      <Confirm
        title="Discard the changes?"
        text="The preset stays as it was saved."
        action="Discard"
        isOpen={isDiscarding}
        onClose={() => setDiscarding(false)}
        onConfirm={() => {
          onDiscard();
          setDiscarding(false);
        }}
      />
    </>
  );
}

interface NotesProps {
  draft: Draft<Setup>;
  saved: Saved<Setup>;
  /** As it would be saved now. */
  preset: PresetIn;
  error: Error | null;
  isSaving: boolean;
  onSaved: (presetId: string) => void;
}

/** Somebody else saved another version of the preset, or deleted it. */
export function StoredNotes({ draft, saved, preset, error, isSaving, onSaved }: NotesProps) {
  const asNew = useSavePreset(undefined, undefined);
  return (
    <>
      {draft.isBehind && !isSaving && (
        <Behind
          draft={draft}
          fields={changedFields(presetOf(saved.value, undefined), preset).map(wordsForField)}
          after="If you keep yours, it takes the other one’s place when you save it."
        />
      )}
      {isMissing(error) && (
        <Gone
          isPending={asNew.isPending}
          onSaveAsNew={() => asNew.mutate(preset, { onSuccess: ({ value: { id } }) => onSaved(id) })}
        />
      )}
      {asNew.isError && <ErrorNote error={asNew.error} />}
    </>
  );
}
