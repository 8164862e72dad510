import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Trash2 } from "lucide-react";
import { useState } from "react";
import { draftsQuery } from "../../api/queries";
import type { DraftSummary } from "../../api/types";
import { useApi, useFormats } from "../../app/context";
import { Button, IconButton } from "../../components/Button";
import { Confirm } from "../../components/Dialog";
import { ErrorNote } from "../../components/Feedback";
import { isFound } from "../../lib/tags";
import { useNow } from "../../lib/useNow";
import { useDeleteDrafts } from "./drafts";

const NONE: readonly DraftSummary[] = [];

/** The set-ups that are not finished, each with the way on, and one action that clears them. */
export function UnfinishedList({ words }: { words: string }) {
  const list = useQuery(draftsQuery(useApi()));
  const formats = useFormats();
  const [deleting, setDeleting] = useState(NONE);
  const [first, ...others] = deleting;
  const remove = useDeleteDrafts();
  const drafts = (list.data?.items ?? []).filter(({ name }) => isFound(words, { name, tags: [] }));
  if (list.isError && !list.data) return <ErrorNote error={list.error} onRetry={() => void list.refetch()} />;
  if (!drafts.length) return null;
  return (
    <>
      {drafts.length > 1 && (
        <div className="row between">
          <span className="dim">{formats.integer(drafts.length)} are unfinished.</span>
          <Button small onPress={() => setDeleting(drafts)}>
            Delete all {formats.integer(drafts.length)}
          </Button>
        </div>
      )}
      <ul className="card flush" aria-label="Unfinished">
        {drafts.map((draft) => (
          <DraftRow key={draft.id} draft={draft} onDelete={() => setDeleting([draft])} />
        ))}
      </ul>
      <Confirm
        title={others.length ? `Delete ${formats.counted(deleting.length, "draft")}?` : "Delete this draft?"}
        text={`What is unfinished${others.length ? "" : ` of “${first?.name ?? ""}”`} goes for good, and so do prompts that were written for it alone. Other texts in the library stay.`}
        action="Delete"
        isOpen={first !== undefined}
        isPending={remove.isPending}
        onClose={() => setDeleting(NONE)}
        onConfirm={() =>
          remove.mutate(
            deleting.map(({ id }) => id),
            { onSettled: () => setDeleting(NONE) },
          )
        }
      />
    </>
  );
}

function DraftRow({ draft, onDelete }: { draft: DraftSummary; onDelete: () => void }) {
  const formats = useFormats();
  const now = useNow(60_000);
  const { id, name, preset_id } = draft;
  return (
    <li className="list-row draft-row">
      <div className="grow">
        <div className="row tight">
          {preset_id ? (
            <Link to="/presets/$presetId" params={{ presetId: preset_id }} className="title">
              {name}
            </Link>
          ) : (
            <Link to="/compare" search={{ draft: id }} className="title">
              {name}
            </Link>
          )}
          <span className="chip warn">unfinished</span>
        </div>
        <p className="small dim">
          {preset_id ? "Changes of a preset" : "New comparison"} · changed {formats.ago(draft.updated_at, now)}
        </p>
      </div>
      <IconButton small label={`Delete the draft ${name}`} icon={<Trash2 size={16} aria-hidden />} onPress={onDelete} />
    </li>
  );
}
