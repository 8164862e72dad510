import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import { data } from "carrel-sdk";
import { queryKeys } from "../../api/queryKeys";
import { useApi, useFormats } from "../../app/context";
import { useSettings } from "../../app/settings";
import { Breakable } from "../../components/Breakable";
import { Empty, Note, Skeleton } from "../../components/Feedback";
import { QueryView } from "../../components/QueryView";
import { Segments } from "../../components/Segments";
import type { Column } from "../../components/table/column";
import { DataTable } from "../../components/table/DataTable";
import type { Formats } from "../../lib/format";
import { part } from "../../lib/part";
import { beyondBrief, knownCost, spentInBrief } from "../../lib/spend";
import { chartOf, colourOf, dayAfter, lastDays, type Measure, nameOf, type Totals, type Usage } from "./usage";

const UsageChart = lazy(part(() => import("./UsageChart").then((m) => ({ default: m.UsageChart }))));
const PERIODS = { "7": 7, "30": 30, "90": 90 } as const;
type Period = keyof typeof PERIODS;

/** Usage: cost and number of calls, by day and by model. */
export function UsagePanel() {
  const api = useApi();
  const timeZone = useSettings().data?.value.timezone ?? "UTC";
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
    (one, other) => place(chart.models, nameOf(one)) - place(chart.models, nameOf(other)),
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
      <DataTable
        label="Usage by model"
        className="usage"
        unsorted="As in the chart"
        rows={items}
        keyOf={(item) => nameOf(item) ?? ""}
        columns={columnsOf(total, chart.models, formats)}
        wordsOf={(item) => nameOf(item) ?? "unknown"}
      />
    </div>
  );
}

type Item = Usage["items"][number];

function columnsOf(total: Totals, charted: readonly string[], formats: Formats): [Column<Item>, ...Column<Item>[]] {
  const number = (id: string, label: string, of: (totals: Totals) => number): Column<Item> => ({
    id,
    label,
    isBestHigh: true,
    value: ({ totals }) => of(totals),
    cell: ({ totals }) => formats.integer(of(totals)),
    total: formats.integer(of(total)),
  });
  return [
    {
      id: "model",
      label: "Model",
      isText: true,
      value: (item) => nameOf(item) ?? "unknown",
      cell: (item) => {
        const name = nameOf(item);
        const colour = colourOf(name ?? "", charted);
        return (
          <>
            {colour && <i className="swatch" style={{ background: colour }} />}
            <Breakable name={name ?? "unknown"} />
          </>
        );
      },
      total: "All",
    },
    number("calls", "Calls", ({ calls }) => calls),
    number("in", "Tokens in", (of) => of.input_tokens + of.cached_read_tokens + of.cached_write_tokens),
    number("out", "Tokens out", ({ output_tokens }) => output_tokens),
    {
      id: "cost",
      label: "Cost",
      isBestHigh: true,
      value: ({ totals }) => knownCost(totals),
      cell: ({ totals }) => <Cost of={totals} />,
      total: <Cost of={total} />,
    },
  ];
}

function Cost({ of }: { of: Totals }) {
  const formats = useFormats();
  return (
    <>
      {spentInBrief(of, formats)}
      {of.unknown_calls > 0 && <span className="small dim block">{beyondBrief(of, formats)}</span>}
    </>
  );
}

function place(models: readonly string[], name: string | undefined): number {
  const found = models.indexOf(name ?? "");
  return found < 0 ? models.length : found;
}
