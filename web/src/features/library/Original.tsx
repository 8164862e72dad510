import { useQuery } from "@tanstack/react-query";
import { documentsQuery } from "../../api/queries";
import type { Content } from "../../api/types";
import { useApi } from "../../app/context";
import { Button } from "../../components/Button";
import { Disclosure } from "../../components/Disclosure";
import { OriginalPages } from "../../components/originals/OriginalPages";
import { doubtfulPages, remarksInWords } from "../../components/originals/remarks";
import { useReread } from "./queries";

/** What of the original is not in the text, its pages beside the text, and a button that reads it anew. */
export function Original({ content, onRead }: { content: Content; onRead: () => void }) {
  const api = useApi();
  const original = useQuery({ ...documentsQuery(api), select: (documents) => documents.get(content.id) }).data;
  const reread = useReread(content);
  if (!original) return null;
  const doubts = remarksInWords(original, true);
  const leftOut = remarksInWords(original, false);
  return (
    <div className="stack tight">
      <div className="row">
        {doubts && <span className="chip warn">{doubts}</span>}
        {leftOut && <span className="dim">Not in the text: {leftOut}.</span>}
        <Button
          small
          isDisabled={reread.isPending}
          onPress={() =>
            reread.mutate(original, { onSuccess: ({ version }) => version !== content.version && onRead() })
          }
        >
          {reread.isPending ? "Reading…" : "Read anew"}
        </Button>
      </div>
      {original.format === "pdf" && (
        <Disclosure title="The original beside the text" isLazy isOpen={doubtfulPages(original).length > 0}>
          <OriginalPages document={original} />
        </Disclosure>
      )}
    </div>
  );
}
