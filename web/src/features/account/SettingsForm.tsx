import { useState } from "react";
import { faultsAt, type Tagged } from "carrel-sdk";
import type { UserSettings } from "../../api/types";
import { useModels } from "../../api/useModels";
import { useSaveSettings, useSettings } from "../../app/settings";
import { Button } from "../../components/Button";
import { EditGuard } from "../../components/EditGuard";
import { ErrorNote } from "../../components/Feedback";
import { Check, SelectField } from "../../components/Field";
import { ModelPicker } from "../../components/ModelPicker";
import { QueryView } from "../../components/QueryView";
import { Segments } from "../../components/Segments";
import { toast } from "../../components/Toasts";

const LANGUAGES = new Intl.DisplayNames("en", { type: "language" });
const LOCALES = byName(
  "ar cs da de de-AT de-CH el en en-GB en-IN es es-MX fi fr fr-CA he hi hu id it ja ko nb nl pl pt pt-BR ro ru sv th tr uk vi zh".split(
    " ",
  ),
  languageOf,
);
const ZONES = byName(Intl.supportedValuesOf("timeZone"), cityOf);

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
          <SelectField
            label="Numbers and dates as in"
            value={draft.locale ?? ""}
            faults={faultsAt(save.error, "locale")}
            onChange={(event) => change({ locale: event.target.value || null })}
          >
            <option value="">As this browser: {languageOf(navigator.language)}</option>
            {withOwn(LOCALES, settings.value.locale).map((locale) => (
              <option key={locale} value={locale}>
                {languageOf(locale)}
              </option>
            ))}
          </SelectField>
          <SelectField
            label="Timezone"
            value={draft.timezone ?? ""}
            hint={draft.timezone && draft.timezone !== here ? `This browser is in ${cityOf(here)}.` : undefined}
            faults={faultsAt(save.error, "timezone")}
            onChange={(event) => change({ timezone: event.target.value || null })}
          >
            <option value="">As this browser: {cityOf(here)}</option>
            {withOwn(ZONES, settings.value.timezone).map((zone) => (
              <option key={zone} value={zone}>
                {cityOf(zone)}
              </option>
            ))}
          </SelectField>
        </div>
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

/** What a language is called: people know no tags. */
function languageOf(locale: string): string {
  try {
    return LANGUAGES.of(locale) ?? locale;
  } catch {
    return locale;
  }
}

/** The city first, by whose letters a list is gone through. */
function cityOf(zone: string): string {
  const [area, ...city] = zone.replaceAll("_", " ").split("/");
  return city.length ? `${city.reverse().join(", ")} (${area})` : zone;
}

function byName(values: readonly string[], nameOf: (value: string) => string): string[] {
  return [...values].sort((one, other) => nameOf(one).localeCompare(nameOf(other), "en"));
}

/** A value that another program saved stays among those that there are to choose from. */
function withOwn(values: readonly string[], own: string | null | undefined): readonly string[] {
  return own && !values.includes(own) ? [own, ...values] : values;
}
