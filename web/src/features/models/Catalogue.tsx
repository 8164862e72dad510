import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Search } from "lucide-react";
import { useDeferredValue } from "react";
import { modelsQuery } from "../../api/queries";
import type { Model } from "../../api/types";
import { useApi, useFormats } from "../../app/context";
import { Empty, Skeleton } from "../../components/Feedback";
import { Check } from "../../components/Field";
import { QueryView } from "../../components/QueryView";
import { DataTable } from "../../components/table/DataTable";
import { columnsOf } from "./columns";
import { modelQuery } from "./queries";

const keyOf = ({ model }: Model) => model;
const FULL_NAME = /^[a-z0-9-]+:\S+$/;

interface Props {
  words: string;
  isOnlyReady: boolean;
  onLook: (words: string, isOnlyReady: boolean) => void;
}

/** The models that are listed, and any other by its full name. */
export function Catalogue({ words, isOnlyReady, onLook }: Props) {
  const formats = useFormats();
  const query = useQuery(modelsQuery(useApi()));
  const wanted = words.trim().toLowerCase();
  return (
    <div className="stack">
      <div className="row">
        <div className="search grow limited">
          <Search size={16} aria-hidden />
          <input
            className="input"
            type="search"
            aria-label="Find a model"
            aria-describedby="by-name"
            placeholder="Model, provider or family"
            value={words}
            onChange={(event) => onLook(event.target.value, isOnlyReady)}
          />
        </div>
        <Check
          label="Only those that can be called now"
          checked={isOnlyReady}
          onChange={(event) => onLook(words, event.target.checked)}
        />
      </div>
      <p className="small dim" id="by-name">
        Listed are the built-in models and those of your own servers. A provider’s model is called by its full name:
        type one, such as <code>openai:gpt-6-luna</code>, to see what it costs and whether{" "}
        <Link to="/models" search={{ tab: "keys" }}>
          a key
        </Link>{" "}
        is stored for it.
      </p>
      <QueryView query={query}>
        {({ items }) => {
          const shown = items.filter(
            (model) =>
              (!isOnlyReady || model.available) &&
              (!wanted || `${model.model} ${model.family}`.toLowerCase().includes(wanted)),
          );
          if (shown.length === 0)
            return FULL_NAME.test(wanted) ? (
              <ByName name={words.trim()} />
            ) : (
              <Empty title="No model fits">
                Look for other words, or type a full name: a provider, a colon, and what it calls the model.
              </Empty>
            );
          return (
            <DataTable
              label="Models"
              unsorted="Those that can be called first"
              rows={shown}
              keyOf={keyOf}
              columns={columnsOf(formats)}
            />
          );
        }}
      </QueryView>
    </div>
  );
}

function ByName({ name }: { name: string }) {
  const formats = useFormats();
  const query = useQuery(modelQuery(useApi(), useDeferredValue(name)));
  if (query.isError) return <Empty title="No such model">Carrel knows no provider of that name.</Empty>;
  if (!query.data) return <Skeleton lines={2} />;
  return (
    <div role="status">
      <DataTable label="Model" unsorted="The only one" rows={[query.data]} keyOf={keyOf} columns={columnsOf(formats)} />
    </div>
  );
}
