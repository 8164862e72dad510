import { useBlocker } from "@tanstack/react-router";
import { type ReactNode, useEffect } from "react";
import type { Draft } from "../lib/useDraft";
import { Button } from "./Button";
import { Dialog } from "./Dialog";
import { Note } from "./Feedback";

interface Props<T> {
  draft: Pick<Draft<T>, "isDirty">;
  /** Changes are being saved by themselves: only closing the window would lose them. */
  isUnderWay?: boolean;
  /** Ctrl+S or ⌘S saves, if it can be saved. */
  onSave: (() => void) | undefined;
}

/** Ask before unsaved changes are lost: by a link, by the back button, by closing the window. */
export function EditGuard<T>({ draft: { isDirty }, isUnderWay = false, onSave }: Props<T>) {
  const blocker = useBlocker({
    shouldBlockFn: () => isDirty,
    enableBeforeUnload: () => isDirty || isUnderWay,
    withResolver: true,
  });
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "s" || !(event.ctrlKey || event.metaKey) || event.altKey) return;
      event.preventDefault();
      onSave?.();
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, [onSave]);
  const isAsking = blocker.status === "blocked";
  return (
    <Dialog title="Leave without saving?" isOpen={isAsking} onClose={() => blocker.reset?.()} urgent>
      <p>What you changed on this page is not saved yet.</p>
      <div className="row end">
        <Button variant="danger" onPress={() => blocker.proceed?.()}>
          Leave
        </Button>
        <Button variant="primary" onPress={() => blocker.reset?.()}>
          Stay
        </Button>
      </div>
    </Dialog>
  );
}

interface BehindProps<T> {
  draft: Draft<T>;
  /** The fields in which the two differ. */
  fields: readonly string[];
  /** What happens to the other version if the user keeps their own. */
  after: string;
  children?: ReactNode;
}

/** Somebody saved another version meanwhile: nothing is lost, and the user says which one it is to be. */
export function Behind<T>({ draft, fields, after, children }: BehindProps<T>) {
  return (
    <Note tone="warn" role="alert">
      <p>
        <strong>Another version was saved meanwhile</strong>, in another tab or by a program. What you wrote is still
        here.
      </p>
      {fields.length > 0 && <p>The two differ in: {fields.join(", ")}.</p>}
      {children}
      <p className="small">{after}</p>
      <div className="row">
        <Button small onPress={draft.keepOwn}>
          Keep mine
        </Button>
        <Button small onPress={draft.takeOther}>
          Drop mine and take the other
        </Button>
      </div>
    </Note>
  );
}

/** What the user edits was deleted elsewhere. They can still save their text as a new one. */
export function Gone({ isPending, onSaveAsNew }: { isPending: boolean; onSaveAsNew: () => void }) {
  return (
    <Note tone="warn" role="alert">
      <p>
        <strong>It was deleted meanwhile</strong>, in another tab or by a program. What you wrote is still here.
      </p>
      <div>
        <Button small onPress={onSaveAsNew} isDisabled={isPending}>
          Save it as a new one
        </Button>
      </div>
    </Note>
  );
}
