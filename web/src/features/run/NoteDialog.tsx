import { useState } from "react";
import { Button } from "../../components/Button";
import { Dialog } from "../../components/Dialog";
import { TextArea } from "../../components/Field";

const MAX_NOTE = 2_000;

interface Props {
  /** The candidate and the document. */
  about: string;
  note: string;
  onSave: (note: string) => void;
  onClose: () => void;
}

/** What a person wants to remember of an answer. */
export function NoteDialog({ about, note, onSave, onClose }: Props) {
  const [text, setText] = useState(note);
  return (
    <Dialog title="Note" isOpen onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          onSave(text.trim());
          onClose();
        }}
      >
        <TextArea
          label={about}
          rows={4}
          value={text}
          maxLength={MAX_NOTE}
          // The dialog is there to write in it.
          // eslint-disable-next-line jsx-a11y/no-autofocus
          autoFocus
          hint="Only you see it. It is in the export of the run."
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.currentTarget.form?.requestSubmit();
          }}
        />
        <div className="row end">
          <Button onPress={onClose}>Cancel</Button>
          <Button type="submit" variant="primary">
            Keep
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
