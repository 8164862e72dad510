import { Plus, X } from "lucide-react";
import { useApi } from "../../../app/context";
import { Button, IconButton } from "../../../components/Button";
import { TextArea } from "../../../components/Field";
import { toast } from "../../../components/Toasts";
import { ContentSelect } from "../ContentSelect";
import { letterOf, type Prompt } from "./setup";
import { fetchPrompt } from "./usePrompts";

const MOST = 6;
const PLACEHOLDER = "Summarise the document in five sentences, for readers who are in a hurry.";
const HINT = "Each document follows it, or stands where {{document}} does.";
const HINT_OF_ROWS = "Each row follows it, or its columns stand where their names do, as in {{question}}.";

interface Props {
  prompts: readonly Prompt[];
  /** The inputs are rows of a data set. */
  hasRows: boolean;
  onPrompt: (number: number, change: Partial<Prompt>) => void;
  /** Left out where another prompt would be nobody's. */
  onAdd: (() => void) | undefined;
  onRemove: (number: number) => void;
}

/** The prompt that the models get, or several of them beside each other, edited in place. */
export function TaskStep({ prompts, hasRows, onPrompt, onAdd, onRemove }: Props) {
  const isOne = prompts.length === 1;
  return (
    <section className="card stack" aria-labelledby="task-title">
      <div className="row between">
        <h2 id="task-title">2 · The task</h2>
        {onAdd && prompts.length < MOST && (
          <Button small variant="quiet" onPress={onAdd}>
            <Plus size={14} aria-hidden /> Another prompt
          </Button>
        )}
      </div>
      <div className="columns" data-part="instructions">
        {prompts.map((prompt, number) => (
          <PromptCard
            key={number}
            label={isOne ? "What the models are to do" : `Prompt ${letterOf(number)}`}
            hint={isOne ? (hasRows ? HINT_OF_ROWS : HINT) : ""}
            prompt={prompt}
            onChange={(change) => onPrompt(number, change)}
            onRemove={number > 0 ? () => onRemove(number) : undefined}
          />
        ))}
      </div>
    </section>
  );
}

interface CardProps {
  label: string;
  hint: string;
  prompt: Prompt;
  onChange: (change: Partial<Prompt>) => void;
  onRemove: (() => void) | undefined;
}

function PromptCard({ label, hint, prompt, onChange, onRemove }: CardProps) {
  const api = useApi();
  const take = (id: string | null) => {
    if (id) void fetchPrompt(api, id, true).then(onChange, toast.failed);
  };
  return (
    <div className="stack tight">
      <TextArea
        label={label}
        hint={hint}
        rows={5}
        value={prompt.text}
        placeholder={PLACEHOLDER}
        onChange={(event) => onChange({ text: event.target.value })}
      />
      {!prompt.text && (
        <ContentSelect
          label="or take one from the library"
          type="generation_instructions"
          value={null}
          onChange={take}
          faults={[]}
          none="Choose"
          isPlain
        />
      )}
      {onRemove && (
        <div>
          <IconButton small label={`Remove ${label}`} icon={<X size={16} aria-hidden />} onPress={onRemove} />
        </div>
      )}
    </div>
  );
}
