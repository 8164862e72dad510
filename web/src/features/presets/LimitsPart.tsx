import type { PresetIn } from "../../api/types";
import { SelectField, TextField } from "../../components/Field";

interface Props {
  draft: PresetIn;
  change: (part: Partial<PresetIn>) => void;
  at: (path: string) => string[];
}

export function LimitsPart({ draft, change, at }: Props) {
  const limits = draft.limits ?? {};
  const set = (part: NonNullable<PresetIn["limits"]>) => change({ limits: { ...limits, ...part } });
  return (
    <details className="card">
      <summary>Limits and payment</summary>
      <div className="stack inset">
        <div className="columns narrow-columns">
          <TextField
            label="Budget, US dollars"
            hint="The run pauses before it spends more."
            inputMode="decimal"
            placeholder="no limit"
            value={limits.budget ?? ""}
            faults={at("limits.budget")}
            onChange={(event) => set({ budget: event.target.value.trim() || null })}
          />
          <TextField
            label="Calls at once"
            type="number"
            min={1}
            max={64}
            value={limits.concurrency ?? 8}
            faults={at("limits.concurrency")}
            onChange={(event) => set({ concurrency: event.target.valueAsNumber || 8 })}
          />
          <TextField
            label="Seconds for a call"
            type="number"
            min={1}
            max={3600}
            value={limits.timeout_seconds ?? 120}
            faults={at("limits.timeout_seconds")}
            onChange={(event) => set({ timeout_seconds: event.target.valueAsNumber || 120 })}
          />
          <TextField
            label="Attempts"
            type="number"
            min={1}
            max={10}
            value={limits.max_attempts ?? 3}
            faults={at("limits.max_attempts")}
            onChange={(event) => set({ max_attempts: event.target.valueAsNumber || 3 })}
          />
        </div>
        <div className="columns">
          <SelectField
            label="Paid with"
            value={draft.billing ?? "own_keys"}
            faults={at("billing")}
            onChange={(event) => change({ billing: event.target.value === "credits" ? "credits" : "own_keys" })}
          >
            <option value="own_keys">My own keys</option>
            <option value="credits">Credits</option>
          </SelectField>
          <SelectField
            label="Calls"
            hint="Batches cost half; OpenAI and Anthropic answer them within a day."
            value={draft.economy ? "batches" : "at once"}
            faults={at("economy")}
            onChange={(event) => change({ economy: event.target.value === "batches" })}
          >
            <option value="at once">At once</option>
            <option value="batches">In batches, at half the price</option>
          </SelectField>
          <SelectField
            label="Earlier runs"
            hint="A result is taken where the same was asked of the same model in the same way."
            value={draft.reuse ? "taken" : "asked"}
            faults={at("reuse")}
            onChange={(event) => change({ reuse: event.target.value === "taken" })}
          >
            <option value="asked">Ask everything anew</option>
            <option value="taken">Take their results</option>
          </SelectField>
        </div>
      </div>
    </details>
  );
}
