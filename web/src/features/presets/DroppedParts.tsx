import type { PresetIn } from "../../api/types";
import { useFormats } from "../../app/context";
import { Note } from "../../components/Feedback";

/** What an import has left out, by kind and number: what does not stand here was taken. */
export function DroppedParts({ dropped }: { dropped: PresetIn["dropped"] }) {
  const formats = useFormats();
  if (!dropped?.length) return null;
  return (
    <Note tone="warn">
      <p>Left out, because Carrel has no word for it:</p>
      <ul className="small">
        {dropped.map(({ kind, count }) => (
          <li key={kind}>
            {formats.integer(count)} × <bdi>{kind}</bdi>
          </li>
        ))}
      </ul>
    </Note>
  );
}
