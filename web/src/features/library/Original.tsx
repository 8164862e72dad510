import { useQuery } from "@tanstack/react-query";
import type { Content, Document } from "../../api/types";
import { useApi } from "../../app/context";
import { Button } from "../../components/Button";
import { documentsQuery, useReread } from "./queries";

type Kind = Document["remarks"][number]["kind"];

const WORDS: Record<Kind, readonly [string, string]> = {
  attachment: ["attachment", "attachments"],
  comment: ["comment", "comments"],
  deleted_text: ["deleted piece of text", "deleted pieces of text"],
  doubtful_page: ["page whose text may be garbage", "pages whose text may be garbage"],
  header_or_footer: ["header or footer", "headers or footers"],
  hidden_text: ["hidden piece of text", "hidden pieces of text"],
  page_without_text: ["page without text", "pages without text"],
  picture: ["picture", "pictures"],
  placeholder: ["placeholder", "placeholders"],
  unreadable_page: ["unreadable page", "unreadable pages"],
};

/** What of the original is not in the text, and a button that reads it again. */
export function Original({ content, onRead }: { content: Content; onRead: () => void }) {
  const api = useApi();
  const original = useQuery({ ...documentsQuery(api), select: (documents) => documents.get(content.id) }).data;
  const reread = useReread(content);
  if (!original) return null;
  const said = (isDoubt: boolean) =>
    original.remarks
      .filter(({ kind }) => (kind === "doubtful_page") === isDoubt)
      .map(({ kind, count }) => `${count} ${WORDS[kind][count === 1 ? 0 : 1]}`)
      .join(", ");
  return (
    <div className="row">
      {said(true) && <span className="chip warn">{said(true)}</span>}
      {said(false) && <span className="dim">Not in the text: {said(false)}.</span>}
      <Button
        small
        isDisabled={reread.isPending}
        onPress={() => reread.mutate(original, { onSuccess: ({ version }) => version !== content.version && onRead() })}
      >
        {reread.isPending ? "Reading…" : "Read the original again"}
      </Button>
    </div>
  );
}
