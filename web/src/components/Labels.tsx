import { Pin } from "lucide-react";

/** The tags of a run, and whether it is pinned. */
export function Labels({ tags, pinned }: { tags: readonly string[]; pinned: boolean }) {
  return (
    <>
      {pinned && (
        <span className="chip">
          <Pin size={12} aria-hidden /> pinned
        </span>
      )}
      {tags.map((tag) => (
        <span key={tag} className="chip">
          {tag}
        </span>
      ))}
    </>
  );
}
