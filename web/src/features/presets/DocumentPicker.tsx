import { Link } from "@tanstack/react-router";
import { Search } from "lucide-react";
import { useState } from "react";
import type { ContentSummary } from "../../api/types";
import { useFormats } from "../../app/context";
import { Button } from "../../components/Button";
import { Note } from "../../components/Feedback";
import { isFound } from "../../lib/tags";
import { VirtualList } from "../../components/VirtualList";

const ENOUGH = 10;

interface Props {
  documents: readonly ContentSummary[];
  chosen: readonly string[];
  onChange: (chosen: string[]) => void;
}

export function DocumentPicker({ documents, chosen, onChange }: Props) {
  const formats = useFormats();
  const [words, setWords] = useState("");
  // Documents that were chosen when the page opened come first; the order stays while the user chooses.
  const [first] = useState(() => new Set(chosen));
  const picked = new Set(chosen);
  const sorted = [...documents].sort((one, other) => Number(first.has(other.id)) - Number(first.has(one.id)));
  const shown = sorted.filter((document) => isFound(words, document));
  const toggle = (id: string) =>
    onChange(chosen.includes(id) ? chosen.filter((other) => other !== id) : [...chosen, id]);
  const addShown = () => onChange([...new Set([...chosen, ...shown.map((document) => document.id)])]);
  if (!documents.length)
    return (
      <Note>
        <p>
          The library has no documents yet. <Link to="/library">Put some in</Link>, ten or more like those that the
          winner will have to work on.
        </p>
      </Note>
    );
  return (
    <div className="stack tight">
      <div className="row between">
        <div className="search grow limited">
          <Search size={16} aria-hidden />
          <input
            className="input"
            type="search"
            aria-label="Find documents"
            placeholder="Name or tag"
            value={words}
            onChange={(event) => setWords(event.target.value)}
          />
        </div>
        <div className="row tight">
          <Button small onPress={addShown}>
            Choose all shown
          </Button>
          <Button small variant="quiet" onPress={() => onChange([])} isDisabled={!chosen.length}>
            None
          </Button>
        </div>
      </div>
      <div className="picker">
        <VirtualList
          items={shown}
          label="Documents to choose from"
          estimate={38}
          keyOf={(document) => document.id}
          render={(document) => (
            <label className="check picker-line">
              <input type="checkbox" checked={picked.has(document.id)} onChange={() => toggle(document.id)} />
              <span className="grow ellipsis">{document.name}</span>
              <span className="small dim num">{formats.bytes(document.body_bytes)}</span>
            </label>
          )}
        />
      </div>
      <p className="small" role="status">
        <strong className="num">{chosen.length}</strong> chosen
        {chosen.length > 0 && chosen.length < ENOUGH && (
          <span className="warn">; with fewer than ten, chance decides more than the candidates do</span>
        )}
      </p>
    </div>
  );
}
