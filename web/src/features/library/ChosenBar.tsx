import { useMutation, useQueryClient } from "@tanstack/react-query";
import { FolderGit2, Trash2 } from "lucide-react";
import { useState } from "react";
import { data } from "carrel-sdk";
import { MOST_SENT } from "../../api/github";
import { queryKeys } from "../../api/queryKeys";
import type { ContentSummary } from "../../api/types";
import { useApi, useFormats } from "../../app/context";
import { Button } from "../../components/Button";
import { Confirm, Dialog } from "../../components/Dialog";
import { SendDialog } from "../../components/github/SendDialog";
import { toast } from "../../components/Toasts";
import { WhyNotDeleted } from "./InUse";

interface Props {
  shown: readonly ContentSummary[];
  chosen: ReadonlySet<string>;
  onChange: (chosen: ReadonlySet<string>) => void;
}

/** What can be done with several texts at once. */
export function ChosenBar({ shown, chosen, onChange }: Props) {
  const formats = useFormats();
  const [open, setOpen] = useState<"send" | "delete">();
  const close = () => setOpen(undefined);
  const { remove, done } = useDeleteMany((left) => {
    onChange(left);
    close();
  });
  if (!chosen.size && !remove.data) return null;
  const refused = remove.data ?? [];
  return (
    <div className="card row chosen-bar" role="group" aria-label="Chosen texts">
      <span className="grow" role="status">
        <strong className="num">{formats.integer(chosen.size)}</strong> chosen
        {chosen.size > MOST_SENT && `; at most ${formats.integer(MOST_SENT)} go to GitHub at a time`}
      </span>
      <Button small onPress={() => onChange(new Set([...chosen, ...shown.map(({ id }) => id)]))}>
        Choose all shown
      </Button>
      <Button small onPress={() => onChange(new Set())}>
        None
      </Button>
      <Button small onPress={() => setOpen("send")} isDisabled={!chosen.size || chosen.size > MOST_SENT}>
        <FolderGit2 size={14} aria-hidden /> To GitHub
      </Button>
      <Button small variant="danger" onPress={() => setOpen("delete")} isDisabled={!chosen.size}>
        <Trash2 size={14} aria-hidden /> Delete
      </Button>
      {open === "send" && (
        <SendDialog
          title="Send texts to GitHub"
          what={{ contents: [...chosen] }}
          message="Add texts from Carrel"
          onClose={close}
        />
      )}
      <Confirm
        title={`Delete ${formats.counted(chosen.size, "text")}?`}
        text={
          remove.isPending
            ? `${formats.integer(done)} of ${formats.integer(chosen.size)} done…`
            : "They are deleted for good, with their originals and versions. Runs that used them keep a copy. A text that a preset or another text uses is not deleted."
        }
        action="Delete"
        isOpen={open === "delete"}
        isPending={remove.isPending}
        onClose={close}
        onConfirm={() => remove.mutate([...chosen])}
      />
      <Dialog title="Some could not be deleted" isOpen={refused.length > 0} onClose={() => remove.reset()}>
        <p>
          {formats.integer(refused.length)} {refused.length === 1 ? "text is" : "texts are"} still here, and still
          chosen. The first reason:
        </p>
        <WhyNotDeleted error={refused[0]?.error} />
        <div className="row end">
          <Button onPress={() => remove.reset()}>Close</Button>
        </div>
      </Dialog>
    </div>
  );
}

interface Refused {
  id: string;
  error: unknown;
}

/**
 * Deletes one after the other, because the service has no route for many. A refused one stays and does not stop the
 * others.
 */
function useDeleteMany(onDone: (left: ReadonlySet<string>) => void) {
  const api = useApi();
  const queries = useQueryClient();
  const [done, setDone] = useState(0);
  const remove = useMutation({
    mutationFn: async (ids: readonly string[]) => {
      const refused: Refused[] = [];
      for (const [index, id] of ids.entries()) {
        setDone(index);
        try {
          await data(api.client.DELETE("/api/contents/{content_id}", { params: { path: { content_id: id } } }));
        } catch (error) {
          refused.push({ id, error });
        }
      }
      return refused;
    },
    onSuccess: (refused, ids) => {
      if (ids.length > refused.length) toast.done(`${ids.length - refused.length} deleted.`);
      onDone(new Set(refused.map(({ id }) => id)));
      return queries.invalidateQueries({ queryKey: queryKeys.contents.all });
    },
  });
  return { remove, done };
}
