import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { Copy, FileDown, Play, Plus, Search, Trash2 } from "lucide-react";
import { useState } from "react";
import type { PresetSummary } from "../../api/types";
import { useApi, useFormats } from "../../app/context";
import { Button, IconButton } from "../../components/Button";
import { Confirm } from "../../components/Dialog";
import { Empty, ErrorNote, Skeleton } from "../../components/Feedback";
import { Labels } from "../../components/Labels";
import { Page } from "../../components/Page";
import { isFound } from "../../lib/tags";
import { useNextPage } from "../../lib/useNextPage";
import { useNow } from "../../lib/useNow";
import { ExecuteDialog } from "./ExecuteDialog";
import { UnfinishedList } from "./UnfinishedList";
import { presetsQuery, useDeletePreset, useDuplicatePreset, useExportSuite } from "./queries";

const route = getRouteApi("/presets");
export function PresetsPage() {
  const words = route.useSearch().find ?? "";
  const find = route.useNavigate();
  const list = useInfiniteQuery(presetsQuery(useApi()));
  const all = list.data?.pages.flatMap((page) => page.items);
  const presets = all?.filter((preset) => isFound(words, preset));
  const { hasNextPage, isFetchingNextPage } = list;
  // The filter works on the page, so all presets must be loaded.
  const next = useNextPage(list, words !== "");
  const [executing, setExecuting] = useState<PresetSummary>();
  const [deleting, setDeleting] = useState<PresetSummary>();
  const duplicate = useDuplicatePreset();
  const exported = useExportSuite();
  const remove = useDeletePreset();
  const navigate = useNavigate();
  return (
    <Page
      title="Presets"
      back={{ to: "/runs", label: "Comparisons" }}
      intro="A preset is a saved comparison, a question that you can ask again: which documents, candidates and judges."
      actions={
        <Link to="/compare" className="btn primary">
          <Plus size={16} aria-hidden /> New comparison
        </Link>
      }
    >
      {all && all.length > 0 && (
        <div className="search limited">
          <Search size={16} aria-hidden />
          <input
            className="input"
            type="search"
            aria-label="Filter by name or tag"
            placeholder="Name or tag"
            value={words}
            onChange={(event) =>
              void find({ search: event.target.value ? { find: event.target.value } : {}, replace: true })
            }
          />
        </div>
      )}
      <UnfinishedList words={words} />
      {list.isPending && <Skeleton />}
      {list.isError && !presets && <ErrorNote error={list.error} onRetry={() => void list.refetch()} />}
      {all?.length === 0 && (
        <Empty
          title="No presets yet"
          action={
            <Link to="/compare" className="btn primary">
              Set up the first comparison
            </Link>
          }
        >
          Take ten documents or more, two candidates and two judges. You see what it costs, and what so many documents
          can decide, before anything is spent.
        </Empty>
      )}
      {all && all.length > 0 && presets?.length === 0 && (
        <Empty
          title="No preset fits"
          action={<Button onPress={() => void find({ search: {} })}>Show all presets</Button>}
        >
          {hasNextPage ? "Looking through the older ones…" : "Try other words."}
        </Empty>
      )}
      {presets && presets.length > 0 && (
        <ul className="card flush">
          {presets.map((preset) => (
            <PresetRow
              key={preset.id}
              preset={preset}
              onExecute={() => setExecuting(preset)}
              onDelete={() => setDeleting(preset)}
              onExport={() => exported.mutate(preset.id)}
              onDuplicate={() =>
                duplicate.mutate(preset.id, {
                  onSuccess: (copy) => void navigate({ to: "/presets/$presetId", params: { presetId: copy.id } }),
                })
              }
            />
          ))}
        </ul>
      )}
      {hasNextPage && !words && (
        <div>
          <Button onPress={next} isDisabled={isFetchingNextPage}>
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
  onExport: () => void;
  onDelete: () => void;
}

function PresetRow({ preset, onExecute, onDuplicate, onExport, onDelete }: RowProps) {
  const formats = useFormats();
  const now = useNow(60_000);
  return (
    <li className="list-row preset-row">
      <div className="grow">
        <div className="row tight">
          <Link to="/presets/$presetId" params={{ presetId: preset.id }} className="title">
            {preset.name}
          </Link>
          <Labels tags={preset.tags} />
        </div>
        {preset.description && <p className="small clamp">{preset.description}</p>}
        <p className="small dim">
          {formats.counted(preset.input_count, "document")} · {preset.candidate_labels.join(", ")} · changed{" "}
          {formats.ago(preset.updated_at, now)}
        </p>
      </div>
      <div className="row tight nowrap">
        <Button small onPress={onExecute} aria-label={`Run ${preset.name}`}>
          <Play size={14} aria-hidden /> Run
        </Button>
        <IconButton
          small
          label={`Duplicate ${preset.name}`}
          icon={<Copy size={16} aria-hidden />}
          onPress={onDuplicate}
        />
        <IconButton
          small
          label={`Save ${preset.name} for promptfoo`}
          icon={<FileDown size={16} aria-hidden />}
          onPress={onExport}
        />
        <IconButton small label={`Delete ${preset.name}`} icon={<Trash2 size={16} aria-hidden />} onPress={onDelete} />
      </div>
    </li>
  );
}
