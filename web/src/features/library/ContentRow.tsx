import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { Copy, FileDown, Trash2 } from "lucide-react";
import { useState } from "react";
import type { ContentSummary } from "../../api/types";
import { useApi, useFormats } from "../../app/context";
import { Button, IconButton } from "../../components/Button";
import { Dialog, Confirm } from "../../components/Dialog";
import { useNow } from "../../lib/useNow";
import { WhyNotDeleted } from "./InUse";
import { documentsQuery, useContentActions, useDownloadOriginal } from "./queries";
import { wordsForType } from "../../lib/contentTypes";

interface Props {
  content: ContentSummary;
  showType: boolean;
  isChosen: boolean;
  onToggle: () => void;
}

export function ContentRow({ content, showType, isChosen, onToggle }: Props) {
  const formats = useFormats();
  const navigate = useNavigate();
  const now = useNow(60_000);
  const { duplicate, remove } = useContentActions();
  const api = useApi();
  const original = useQuery({
    ...documentsQuery(api),
    enabled: content.type === "input_document",
    select: (documents) => documents.get(content.id),
  }).data;
  const get = useDownloadOriginal();
  const [isAsking, setAsking] = useState(false);
  return (
    <div className="list-row content-row">
      <input type="checkbox" aria-label={`Choose ${content.name}`} checked={isChosen} onChange={onToggle} />
      <div className="grow">
        <div className="row tight">
          <Link to="/library/$contentId" params={{ contentId: content.id }} className="title ellipsis">
            {content.name}
          </Link>
          {showType && <span className="chip">{wordsForType(content.type)}</span>}
          {content.tags.map((tag) => (
            <Link key={tag} to="/library" search={{ tag }} className="chip accent">
              {tag}
            </Link>
          ))}
        </div>
        <p className="small dim ellipsis">{content.body_preview}</p>
      </div>
      <div className="row tight nowrap">
        <span className="small dim num">
          {formats.bytes(content.body_bytes)} · {formats.ago(content.updated_at, now)}
        </span>
        {original && (
          <IconButton
            small
            label={`Download the original of ${content.name}, ${original.format.toUpperCase()}, ${formats.bytes(original.bytes)}`}
            icon={<FileDown size={16} aria-hidden />}
            isDisabled={get.isPending}
            onPress={() => get.mutate(original)}
          />
        )}
        <IconButton
          small
          label={`Duplicate ${content.name}`}
          icon={<Copy size={16} aria-hidden />}
          onPress={() =>
            duplicate.mutate(content.id, {
              onSuccess: (copy) => void navigate({ to: "/library/$contentId", params: { contentId: copy.id } }),
            })
          }
        />
        <IconButton
          small
          label={`Delete ${content.name}`}
          icon={<Trash2 size={16} aria-hidden />}
          onPress={() => setAsking(true)}
        />
      </div>
      <Confirm
        title="Delete this text?"
        text={`“${content.name}”${original ? ", its original" : ""} and its versions are deleted for good. Runs that used it keep a copy.`}
        action="Delete"
        isOpen={isAsking}
        isPending={remove.isPending}
        onClose={() => setAsking(false)}
        onConfirm={() => remove.mutate(content.id, { onSettled: () => setAsking(false) })}
      />
      <Dialog title="It cannot be deleted" isOpen={remove.isError} onClose={() => remove.reset()}>
        <WhyNotDeleted error={remove.error} />
        <div className="row end">
          <Button onPress={() => remove.reset()}>Close</Button>
        </div>
      </Dialog>
    </div>
  );
}
