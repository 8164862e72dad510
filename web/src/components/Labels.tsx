import { Pin } from "lucide-react";

/** Tags, and for a run whether it is pinned. */
export function Labels({ tags, pinned = false }: { tags: readonly string[]; pinned?: boolean }) {
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
