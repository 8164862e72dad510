import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import { data } from "carrel-sdk";
import { queryKeys } from "../../api/queryKeys";
import { useApi, useFormats } from "../../app/context";
import { useSettings } from "../../app/settings";
import { Empty, Note, Skeleton } from "../../components/Feedback";
import { QueryView } from "../../components/QueryView";
import { Scroll } from "../../components/Scroll";
import { Segments } from "../../components/Segments";
import { part } from "../../lib/part";
import { beyondBrief, spentInBrief } from "../../lib/spend";
import { chartOf, colourOf, dayAfter, lastDays, type Measure, type Totals, type Usage } from "./usage";

const UsageChart = lazy(part(() => import("./UsageChart").then((m) => ({ default: m.UsageChart }))));
const PERIODS = { "7": 7, "30": 30, "90": 90 } as const;
type Period = keyof typeof PERIODS;

/** Usage: cost and number of calls, by day and by model. */
export function UsagePanel() {
  const api = useApi();
  const timeZone = useSettings().data?.value.timezone;
  const [period, setPeriod] = useState<Period>("30");
  const [wanted, setMeasure] = useState<Measure>();
  const [now] = useState(() => new Date());
  const days = lastDays(PERIODS[period], now, timeZone);
  const span = { from: days[0] ?? "", to: dayAfter(days.at(-1) ?? "") };
  const query = useQuery({
    queryKey: queryKeys.usage(span),
    queryFn: async ({ signal }) => {
      const by = (group_by: string) =>
        data(api.client.GET("/api/metering/usage", { params: { query: { ...span, group_by } }, signal }));
      const [byDay, byModel] = await Promise.all([by("day,model"), by("model")]);
      return { byDay, byModel };
    },
  });
  // Built-in models cost nothing. If only those were called, show the number of calls.
  const measure = wanted ?? (query.data && Number(query.data.byModel.total.cost) === 0 ? "calls" : "cost");
  return (
    <div className="stack">
      <div className="row between">
        <Segments
          label="Period"
          value={period}
          onChange={setPeriod}
          options={[
            ["7", "7 days"],
            ["30", "30 days"],
            ["90", "90 days"],
          ]}
        />
        <Segments
          label="Measure"
          value={measure}
          onChange={setMeasure}
          options={[
            ["cost", "Cost"],
            ["calls", "Calls"],
          ]}
        />
      </div>
      <QueryView query={query} lines={8}>
        {({ byDay, byModel }) =>
          byModel.items.length ? (
            <Figures byDay={byDay} byModel={byModel} days={days} measure={measure} />
          ) : (
            <Empty title="No calls in this time">
              Every call to a model is counted here, those of runs and single ones.
            </Empty>
          )
        }
      </QueryView>
    </div>
  );
}

function Figures({
  byDay,
  byModel,
  days,
  measure,
}: {
  byDay: Usage;
  byModel: Usage;
  days: readonly string[];
  measure: Measure;
}) {
  const formats = useFormats();
  const chart = chartOf(byDay.items, days, measure);
  const { total } = byModel;
  const items = [...byModel.items].sort(
    (one, other) => place(chart.models, one.model) - place(chart.models, other.model),
  );
  return (
    <div className="stack">
      {chart.models.length > 0 ? (
        <div className="card">
          <Suspense fallback={<Skeleton lines={8} />}>
            <UsageChart chart={chart} measure={measure} />
          </Suspense>
        </div>
      ) : (
        !total.unknown_calls && <Note>Nothing in this time had a price: built-in models cost nothing.</Note>
      )}
      {total.unknown_calls > 0 && (
        <Note tone="warn">
          What {formats.integer(total.unknown_calls)} of the calls cost is not known; they are not in the cost.
        </Note>
      )}
      <Scroll label="Usage by model">
        <table className="table usage">
          <thead>
            <tr>
              <th scope="col">Model</th>
              <th scope="col">Calls</th>
              <th scope="col">Tokens in</th>
              <th scope="col">Tokens out</th>
              <th scope="col">Cost, US dollars</th>
            </tr>
          </thead>
          <tbody>
            {items.map(({ model, totals }) => (
              <Line
                key={model}
                name={model ?? "unknown"}
                totals={totals}
                colour={colourOf(model ?? "", chart.models)}
              />
            ))}
          </tbody>
          <tfoot>
            <Line name="All" totals={total} />
          </tfoot>
        </table>
      </Scroll>
    </div>
  );
}

function Line({ name, totals, colour }: { name: string; totals: Totals; colour?: string }) {
  const formats = useFormats();
  return (
    <tr>
      <th scope="row">
        {colour && <i className="swatch" style={{ background: colour }} />}
        {name}
      </th>
      <td>{formats.integer(totals.calls)}</td>
      <td>{formats.integer(totals.input_tokens + totals.cached_read_tokens + totals.cached_write_tokens)}</td>
      <td>{formats.integer(totals.output_tokens)}</td>
      <td>
        {spentInBrief(totals, formats)}
        {totals.unknown_calls > 0 && <span className="small dim block">{beyondBrief(totals, formats)}</span>}
      </td>
    </tr>
  );
}

function place(models: readonly string[], model: string | null | undefined): number {
  const found = models.indexOf(model ?? "");
  return found < 0 ? models.length : found;
}
