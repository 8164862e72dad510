import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { Copy, Play, Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import type { PresetSummary } from "../../api/types";
import { useApi, useFormats } from "../../app/context";
import { Button, IconButton } from "../../components/Button";
import { Confirm } from "../../components/Dialog";
import { Empty, ErrorNote, Skeleton } from "../../components/Feedback";
import { Page } from "../../components/Page";
import { useNow } from "../../lib/useNow";
import { ExecuteDialog } from "./ExecuteDialog";
import { presetsQuery, useDeletePreset, useDuplicatePreset } from "./queries";

export function PresetsPage() {
  const list = useInfiniteQuery(presetsQuery(useApi()));
  const presets = list.data?.pages.flatMap((page) => page.items);
  const [executing, setExecuting] = useState<PresetSummary>();
  const [deleting, setDeleting] = useState<PresetSummary>();
  const duplicate = useDuplicatePreset();
  const remove = useDeletePreset();
  const navigate = useNavigate();
  return (
    <Page
      title="Presets"
      intro="A preset is a question that you can ask again: which documents, which candidates, which judges."
      actions={
        <Link to="/presets/$presetId" params={{ presetId: "new" }} className="btn primary">
          <Plus size={16} aria-hidden /> New preset
        </Link>
      }
    >
      {list.isPending && <Skeleton />}
      {list.isError && !presets && <ErrorNote error={list.error} onRetry={() => void list.refetch()} />}
      {presets?.length === 0 && <Empty title="No presets yet">Start with a handful of documents, two candidates and two judges. A dry run tells what it would cost before anything is spent.</Empty>}
      {presets && presets.length > 0 && (
        <ul className="card flush">
          {presets.map((preset) => (
            <PresetRow
              key={preset.id}
              preset={preset}
              onExecute={() => setExecuting(preset)}
              onDelete={() => setDeleting(preset)}
              onDuplicate={() => duplicate.mutate(preset.id, { onSuccess: (copy) => void navigate({ to: "/presets/$presetId", params: { presetId: copy.id } }) })}
            />
          ))}
        </ul>
      )}
      {list.hasNextPage && (
        <div>
          <Button onPress={() => void list.fetchNextPage()} isDisabled={list.isFetchingNextPage}>
            More
          </Button>
        </div>
      )}
      {executing && <ExecuteDialog preset={executing} onClose={() => setExecuting(undefined)} />}
      <Confirm
        title="Delete this preset?"
        text={`“${deleting?.name ?? ""}” goes for good. Runs that were made from it stay, with a copy of everything they used.`}
        action="Delete"
        isOpen={deleting !== undefined}
        isPending={remove.isPending}
        onClose={() => setDeleting(undefined)}
        onConfirm={() => deleting && remove.mutate(deleting.id, { onSettled: () => setDeleting(undefined) })}
      />
    </Page>
  );
}

interface RowProps {
  preset: PresetSummary;
  onExecute: () => void;
  onDuplicate: () => void;
  onDelete: () => void;
}

function PresetRow({ preset, onExecute, onDuplicate, onDelete }: RowProps) {
  const formats = useFormats();
  const now = useNow(60_000);
  return (
    <li className="list-row preset-row">
      <div className="grow">
        <Link to="/presets/$presetId" params={{ presetId: preset.id }} className="title">
          {preset.name}
        </Link>
        {preset.description && <p className="small clamp">{preset.description}</p>}
        <p className="small dim">
          {formats.integer(preset.input_count)} {preset.input_count === 1 ? "document" : "documents"} · {preset.candidate_labels.join(", ")} · changed {formats.ago(preset.updated_at, now)}
        </p>
      </div>
      <div className="row tight nowrap">
        <Button small onPress={onExecute} aria-label={`Run ${preset.name}`}>
          <Play size={14} aria-hidden /> Run
        </Button>
        <IconButton small label={`Duplicate ${preset.name}`} icon={<Copy size={16} aria-hidden />} onPress={onDuplicate} />
        <IconButton small label={`Delete ${preset.name}`} icon={<Trash2 size={16} aria-hidden />} onPress={onDelete} />
      </div>
    </li>
  );
}
