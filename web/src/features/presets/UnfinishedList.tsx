import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Trash2 } from "lucide-react";
import { useState } from "react";
import { data } from "carrel-sdk";
import { draftsQuery } from "../../api/queries";
import { queryKeys } from "../../api/queryKeys";
import type { DraftSummary } from "../../api/types";
import { useApi, useFormats } from "../../app/context";
import { IconButton } from "../../components/Button";
import { Confirm } from "../../components/Dialog";
import { ErrorNote } from "../../components/Feedback";
import { toast } from "../../components/Toasts";
import { isFound } from "../../lib/tags";
import { useNow } from "../../lib/useNow";

/** The set-ups that are not finished, each with the way on. */
export function UnfinishedList({ words }: { words: string }) {
  const list = useQuery(draftsQuery(useApi()));
  const [deleting, setDeleting] = useState<DraftSummary>();
  const remove = useDeleteDraft();
  const drafts = (list.data?.items ?? []).filter(({ name }) => isFound(words, { name, tags: [] }));
  if (list.isError && !list.data) return <ErrorNote error={list.error} onRetry={() => void list.refetch()} />;
  if (!drafts.length) return null;
  return (
    <>
      <ul className="card flush" aria-label="Unfinished">
        {drafts.map((draft) => (
          <DraftRow key={draft.id} draft={draft} onDelete={() => setDeleting(draft)} />
        ))}
      </ul>
      <Confirm
        title="Delete this draft?"
        text={`What is unfinished of “${deleting?.name ?? ""}” goes for good. Texts in the library stay.`}
        action="Delete"
        isOpen={deleting !== undefined}
        isPending={remove.isPending}
        onClose={() => setDeleting(undefined)}
        onConfirm={() => deleting && remove.mutate(deleting.id, { onSettled: () => setDeleting(undefined) })}
      />
    </>
  );
}

function DraftRow({ draft, onDelete }: { draft: DraftSummary; onDelete: () => void }) {
  const formats = useFormats();
  const now = useNow(60_000);
  const { id, name, form, preset_id } = draft;
  return (
    <li className="list-row draft-row">
      <div className="grow">
        <div className="row tight">
          {form === "comparison" ? (
            <Link to="/compare" search={{ draft: id }} className="title">
              {name}
            </Link>
          ) : (
            <Link
              to="/presets/$presetId"
              params={{ presetId: preset_id ?? "new" }}
              search={preset_id ? {} : { draft: id }}
              className="title"
            >
              {name}
            </Link>
          )}
          <span className="chip warn">unfinished</span>
        </div>
        <p className="small dim">
          {preset_id ? "Changes of a preset" : form === "comparison" ? "New comparison" : "New preset"} · changed{" "}
          {formats.ago(draft.updated_at, now)}
        </p>
      </div>
      <IconButton small label={`Delete the draft ${name}`} icon={<Trash2 size={16} aria-hidden />} onPress={onDelete} />
    </li>
  );
}

export function useDeleteDraft() {
  const api = useApi();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (id: string) =>
      data(api.client.DELETE("/api/preset-drafts/{draft_id}", { params: { path: { draft_id: id } } })),
    onSettled: () => queries.invalidateQueries({ queryKey: queryKeys.drafts }),
    onError: toast.failed,
  });
}
