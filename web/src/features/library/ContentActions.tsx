import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Copy, FileDown, Trash2 } from "lucide-react";
import { useState } from "react";
import type { ContentSummary } from "../../api/types";
import { documentsQuery } from "../../api/queries";
import { useApi, useFormats } from "../../app/context";
import { Button, IconButton } from "../../components/Button";
import { Dialog, Confirm } from "../../components/Dialog";
import { WhyNotDeleted } from "./InUse";
import { useContentActions, useDownloadOriginal } from "./queries";

/** The buttons of a text in a list. */
export function ContentActions({ content }: { content: ContentSummary }) {
  const formats = useFormats();
  const navigate = useNavigate();
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
    <>
      <div className="row tight nowrap end">
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
    </>
  );
}
