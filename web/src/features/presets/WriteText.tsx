import { Plus } from "lucide-react";
import { useState } from "react";
import { ApiError, faultsAt } from "carrel-sdk";
import { Button } from "../../components/Button";
import { CriteriaEditor } from "../../components/criteria/CriteriaEditor";
import { Dialog } from "../../components/Dialog";
import { ErrorNote } from "../../components/Feedback";
import { TextArea, TextField } from "../../components/Field";
import { useWriteText } from "./queries";

/** Texts that every preset needs. A user who has none writes one here without leaving the page. */
const KINDS = {
  generation_instructions: {
    action: "Write instructions",
    name: "Instructions",
    placeholder: "Summarise the document in five sentences, for readers who are in a hurry.",
    hint: "What the candidates are told. Each document follows it, or stands where {{document}} does.",
  },
  criteria: {
    action: "Write criteria",
    name: "Criteria",
    placeholder: "",
    hint: "",
  },
} as const;

export type Written = keyof typeof KINDS;

export function isWritten(type: string): type is Written {
  return type in KINDS;
}

/** A button that asks for a new text of this type; `onWritten` is told its id. */
export function WriteText({ type, onWritten }: { type: Written; onWritten: (id: string) => void }) {
  const [isOpen, setOpen] = useState(false);
  const done = (id: string) => {
    setOpen(false);
    onWritten(id);
  };
  return (
    <>
      <Button small onPress={() => setOpen(true)}>
        <Plus size={14} aria-hidden /> {KINDS[type].action}
      </Button>
      {isOpen && <WriteDialog type={type} onDone={done} onClose={() => setOpen(false)} />}
    </>
  );
}

function WriteDialog({ type, onDone, onClose }: { type: Written; onDone: (id: string) => void; onClose: () => void }) {
  const kind = KINDS[type];
  const [name, setName] = useState<string>(kind.name);
  const [body, setBody] = useState("");
  const write = useWriteText();
  const { error, isPending } = write;
  const submit = () => write.mutate({ name: name.trim(), type, body }, { onSuccess: (saved) => onDone(saved.id) });
  return (
    <Dialog title={kind.action} isOpen onClose={onClose} wide>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <TextField
          label="Name of the text"
          value={name}
          maxLength={200}
          required
          faults={faultsAt(error, "name")}
          onChange={(event) => setName(event.target.value)}
        />
        {type === "criteria" ? (
          <CriteriaEditor body={body} error={error} onChange={setBody} />
        ) : (
          <TextArea
            label="Its text"
            hint={kind.hint}
            rows={8}
            value={body}
            required
            placeholder={kind.placeholder}
            faults={faultsAt(error, "body")}
            onChange={(event) => setBody(event.target.value)}
          />
        )}
        {error && !isOfFields(error) && <ErrorNote error={error} />}
        <p className="small dim">It is kept in your library, where it can be changed.</p>
        <div className="row end">
          <Button onPress={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" isDisabled={isPending || !name.trim() || !body.trim()}>
            Keep and use it
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** Whether every fault is shown beside the two fields. */
function isOfFields(error: unknown): boolean {
  return (
    error instanceof ApiError &&
    error.faults.length > 0 &&
    error.faults.every(({ path }) => path === "name" || /^body\b/.test(path))
  );
}
