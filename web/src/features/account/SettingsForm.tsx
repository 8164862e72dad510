import { useState } from "react";
import { faultsAt, type Tagged } from "carrel-sdk";
import type { UserSettings } from "../../api/types";
import { useModels } from "../../api/useModels";
import { useSaveSettings, useSettings } from "../../app/settings";
import { Button } from "../../components/Button";
import { EditGuard } from "../../components/EditGuard";
import { ErrorNote } from "../../components/Feedback";
import { Check, SelectField, TextField } from "../../components/Field";
import { ModelPicker } from "../../components/ModelPicker";
import { QueryView } from "../../components/QueryView";
import { Segments } from "../../components/Segments";
import { toast } from "../../components/Toasts";

const LOCALES = ["en", "en-GB", "de", "fr", "es", "it", "nl", "pl", "pt", "sv", "ja"];

export function SettingsForm() {
  return <QueryView query={useSettings()}>{(settings) => <Form key={settings.etag} settings={settings} />}</QueryView>;
}

function Form({ settings }: { settings: Tagged<UserSettings> }) {
  const known = useModels();
  const [draft, setDraft] = useState(settings.value);
  const change = (part: Partial<UserSettings>) => setDraft({ ...draft, ...part });
  const save = useSaveSettings(settings, () => toast.done("Saved."));
  const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const isDirty = JSON.stringify(draft) !== JSON.stringify(settings.value);
  return (
    <form className="stack wide" onSubmit={(event) => event.preventDefault()}>
      <EditGuard draft={{ isDirty }} onSave={isDirty && !save.isPending ? () => save.mutate(draft) : undefined} />
      <section className="card stack">
        <h2>How things look</h2>
        <div className="field">
          <span className="label">Theme</span>
          <Segments
            label="Theme"
            value={draft.theme ?? "system"}
            onChange={(theme) => change({ theme })}
            options={[
              ["system", "As the system"],
              ["light", "Light"],
              ["dark", "Dark"],
            ]}
          />
        </div>
        <div className="field">
          <span className="label">Rows of tables</span>
          <Segments
            label="Rows of tables"
            value={draft.density ?? "comfortable"}
            onChange={(density) => change({ density })}
            options={[
              ["comfortable", "Comfortable"],
              ["compact", "Compact"],
            ]}
          />
        </div>
        <div className="columns">
          <TextField
            label="Numbers and dates as in"
            list="carrel-locales"
            value={draft.locale ?? ""}
            placeholder={navigator.language}
            faults={faultsAt(save.error, "locale")}
            hint="A language tag such as en-GB or de; empty: as this browser."
            onChange={(event) => change({ locale: event.target.value || null })}
          />
          <TextField
            label="Timezone"
            list="carrel-zones"
            value={draft.timezone ?? ""}
            placeholder={here}
            hint={draft.timezone && draft.timezone !== here ? `This browser is in ${here}.` : "Empty: as this browser."}
            faults={faultsAt(save.error, "timezone")}
            onChange={(event) => change({ timezone: event.target.value || null })}
          />
        </div>
        <datalist id="carrel-locales">
          {LOCALES.map((locale) => (
            <option key={locale} value={locale} />
          ))}
        </datalist>
        <datalist id="carrel-zones">
          {Intl.supportedValuesOf("timeZone").map((zone) => (
            <option key={zone} value={zone} />
          ))}
        </datalist>
      </section>
      <section className="card stack">
        <h2>New comparisons begin with</h2>
        <div className="columns">
          <fieldset>
            <legend className="label">Candidates</legend>
            <ModelPicker
              label="Find a candidate"
              models={known.models}
              isPartial={known.isPartial}
              chosen={draft.default_candidates ?? []}
              onChange={(default_candidates) => change({ default_candidates })}
            />
          </fieldset>
          <fieldset>
            <legend className="label">Judges</legend>
            <ModelPicker
              label="Find a judge"
              does="judge"
              models={known.models}
              isPartial={known.isPartial}
              chosen={draft.default_judges ?? []}
              onChange={(default_judges) => change({ default_judges })}
            />
          </fieldset>
        </div>
      </section>
      <section className="card stack">
        <h2>Runs</h2>
        <Check
          label="Go on by themselves when I sign in after the service was restarted"
          checked={draft.resume_after_restart ?? true}
          onChange={(event) => change({ resume_after_restart: event.target.checked })}
        />
        <SelectField
          label="Keep finished runs"
          value={draft.retention_days ?? ""}
          faults={faultsAt(save.error, "retention_days")}
          onChange={(event) => change({ retention_days: Number(event.target.value) || null })}
        >
          <option value="">For good</option>
          {[7, 30, 90, 365].map((days) => (
            <option key={days} value={days}>
              {days} days
            </option>
          ))}
        </SelectField>
      </section>
      {save.isError && <ErrorNote error={save.error} />}
      <div className="row">
        <Button variant="primary" onPress={() => save.mutate(draft)} isDisabled={!isDirty || save.isPending}>
          Save settings
        </Button>
        {isDirty && <span className="chip warn">not saved</span>}
      </div>
    </form>
  );
}
