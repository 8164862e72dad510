import { useState } from "react";
import { same } from "../lib/useDraft";
import { tagsIn } from "../lib/tags";
import { TextField } from "./Field";

interface Props {
  tags: readonly string[];
  faults: readonly string[];
  onChange: (tags: string[]) => void;
}

/**
 * Tags as a text. The text stays as the user writes it, commas and spaces included, unless other tags come from
 * outside.
 */
export function TagsField({ tags, faults, onChange }: Props) {
  const [text, setText] = useState(tags.join(", "));
  const shown = same(tagsIn(text), tags) ? text : tags.join(", ");
  const write = (next: string) => {
    setText(next);
    onChange(tagsIn(next));
  };
  return (
    <TextField
      label="Tags"
      hint="With commas between."
      value={shown}
      faults={faults}
      onChange={(event) => write(event.target.value)}
    />
  );
}
