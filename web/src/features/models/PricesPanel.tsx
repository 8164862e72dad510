import { useQuery } from "@tanstack/react-query";
import { type SubmitEvent, useState } from "react";
import { faultsAt } from "carrel-sdk";
import { keysQuery } from "../../api/queries";
import { useModels } from "../../api/useModels";
import { useApi, useFormats } from "../../app/context";
import { Button } from "../../components/Button";
import { Empty, ErrorNote } from "../../components/Feedback";
import { TextField } from "../../components/Field";
import { QueryView } from "../../components/QueryView";
import { toast } from "../../components/Toasts";
import { type ModelPrice, modelPricesQuery, useModelPrices } from "./queries";

interface Props {
  /** The model that the form begins with; a provider for all of its models. */
  model: string;
  onModel: (model: string) => void;
}

/** What the user says that models cost whose price no list knows. */
export function PricesPanel({ model, onModel }: Props) {
  const query = useQuery(modelPricesQuery(useApi()));
  return (
    <div className="stack wide">
      <QueryView query={query}>
        {({ items }) => {
          const before = items.find((price) => price.model === model);
          return (
            <>
              <PriceForm key={model} model={model} before={before} onSaved={() => onModel("")} />
              {items.length ? (
                <ul className="card flush" aria-label="Your prices">
                  {items.map((price) => (
                    <PriceRow key={price.model} price={price} onChange={() => onModel(price.model)} />
                  ))}
                </ul>
              ) : (
                <Empty title="No prices of your own">
                  Carrel knows the list prices of many models. For others, such as those of your own servers, say here
                  what they cost; until then their calls have an unknown cost.
                </Empty>
              )}
            </>
          );
        }}
      </QueryView>
    </div>
  );
}

interface FormProps {
  model: string;
  before: ModelPrice | undefined;
  onSaved: () => void;
}

function PriceForm({ model, before, onSaved }: FormProps) {
  const { save } = useModelPrices();
  const { models } = useModels();
  const servers = useQuery(keysQuery(useApi())).data?.items.filter(({ base_url }) => base_url) ?? [];
  const [name, setName] = useState(model);
  const [read, setRead] = useState(before?.input_per_million ?? "");
  const [written, setWritten] = useState(before?.output_per_million ?? "");
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    save.mutate(
      { model: name.trim(), price: { input_per_million: read.trim(), output_per_million: written.trim() } },
      {
        onSuccess: (saved) => {
          toast.done(`Calls of ${saved.model} cost this from now on.`);
          setName("");
          setRead("");
          setWritten("");
          onSaved();
        },
      },
    );
  };
  const at = (field: string) => faultsAt(save.error, field);
  return (
    <form className="card stack" onSubmit={submit} aria-labelledby="price-title">
      <h2 id="price-title">Say what a model costs</h2>
      <div className="columns thirds">
        <TextField
          label="Model, or provider for all of its models"
          list="carrel-unpriced"
          required
          value={name}
          faults={at("model")}
          hint="Such as ollama:llama3. A provider, such as ollama, means its models whose price is not known."
          onChange={(event) => setName(event.target.value)}
        />
        <TextField
          label="In, $ per million tokens"
          inputMode="decimal"
          required
          placeholder="0.50"
          value={read}
          faults={at("input_per_million")}
          hint="What the model reads; 0 is free."
          onChange={(event) => setRead(event.target.value)}
        />
        <TextField
          label="Out, $ per million tokens"
          inputMode="decimal"
          required
          placeholder="1.50"
          value={written}
          faults={at("output_per_million")}
          hint="What the model writes; 0 is free."
          onChange={(event) => setWritten(event.target.value)}
        />
      </div>
      <datalist id="carrel-unpriced">
        {servers.map(({ provider }) => (
          <option key={provider} value={provider} />
        ))}
        {models.map(({ model, prices }) => prices === null && <option key={model} value={model} />)}
      </datalist>
      {save.isError && <ErrorNote error={save.error} />}
      <p className="small dim">
        It counts in estimates, budgets and costs where your own key pays. Credits are charged by the list, and calls
        that were made keep their costs.
      </p>
      <div className="row end">
        <Button type="submit" variant="primary" isDisabled={!name.trim() || !read || !written || save.isPending}>
          Save
        </Button>
      </div>
    </form>
  );
}

function PriceRow({ price, onChange }: { price: ModelPrice; onChange: () => void }) {
  const formats = useFormats();
  const { remove } = useModelPrices();
  const { model, input_per_million: read, output_per_million: written, updated_at: at } = price;
  return (
    <li className="list-row stack">
      <div className="row between">
        <div>
          <code>{model}</code>
          {!model.includes(":") && <span className="small dim"> all models whose price is not known</span>}
          <span className="small num block">
            {formats.dollars(read)} in, {formats.dollars(written)} out{" "}
            <span className="dim">for a million tokens, since {formats.dateTime(at)}</span>
          </span>
        </div>
        <div className="row tight">
          <Button small onPress={onChange} aria-label={`Change the price of ${model}`}>
            Change
          </Button>
          <Button
            small
            variant="danger"
            isDisabled={remove.isPending}
            onPress={() => remove.mutate(model)}
            aria-label={`Remove the price of ${model}`}
          >
            Remove
          </Button>
        </div>
      </div>
    </li>
  );
}
