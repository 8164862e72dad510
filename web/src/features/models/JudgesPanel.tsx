import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { data } from "carrel-sdk";
import { modelsQuery } from "../../api/queries";
import { queryKeys } from "../../api/queryKeys";
import type { JudgeCheckCost, JudgePassport } from "../../api/types";
import { useApi, useFormats } from "../../app/context";
import { Button } from "../../components/Button";
import { Empty, ErrorNote, Spinner } from "../../components/Feedback";
import { TextField } from "../../components/Field";
import { Passports } from "../../components/Passports";
import { QueryView } from "../../components/QueryView";
import type { Formats } from "../../lib/format";
import { writtenDifference } from "../../lib/intervals";
import { modelAt } from "../../lib/modelAt";
import { priced } from "../../lib/spend";
import { useSettled } from "../../lib/useSettled";
import { Checks } from "./Checks";
import { judgesQuery } from "./queries";

/** How far each judge can be trusted, over all runs, and a check for those that were never used. */
export function JudgesPanel() {
  const query = useQuery(judgesQuery(useApi()));
  return (
    <div className="stack wide">
      <CheckCard />
      <QueryView query={query}>
        {({ items }) =>
          items.length ? (
            <>
              <InRuns judges={items} />
              <Checks judges={items} />
            </>
          ) : (
            <Empty title="No judge yet">Finish a run or check a judge, and what is known of it appears here.</Empty>
          )
        }
      </QueryView>
    </div>
  );
}

function CheckCard() {
  const api = useApi();
  const queries = useQueryClient();
  const [model, setModel] = useState("");
  const models = useQuery(modelsQuery(api));
  const formats = useFormats();
  const asked = useSettled(model.trim(), 400);
  const cost = useQuery({
    queryKey: queryKeys.judgeCheckCost(asked),
    queryFn: () => data(api.client.GET("/api/evaluation/judges/check-cost", { params: { query: { model: asked } } })),
    enabled: /^\w+:./.test(asked),
    retry: false,
  });
  const check = useMutation({
    mutationFn: (name: string) =>
      data(api.client.POST("/api/evaluation/judges/check", { body: { judge: { model: name } } })),
    // Also after an error: the words that were paid for are kept.
    onSettled: () => queries.invalidateQueries({ queryKey: queryKeys.judges }),
  });
  return (
    <form
      className="card stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (model.trim() && !check.isPending) check.mutate(model.trim());
      }}
    >
      <h2>Check a judge</h2>
      <p className="dim">
        It compares twelve pairs of answers, in both orders. Which is better is known; the facts in them are drawn anew
        for each check, so that no model has learnt them. If it breaks off, check again: it goes on where it was.
      </p>
      <div className="row foot">
        <div className="grow limited">
          <TextField
            label="Model"
            placeholder="openai:gpt-6-luna"
            list="judges-to-check"
            value={model}
            onChange={(event) => setModel(event.target.value)}
          />
        </div>
        <datalist id="judges-to-check">
          {(models.data?.items ?? [])
            .filter((one) => one.available && one.roles.includes("judge"))
            .map((one) => (
              <option key={one.model} value={one.model} />
            ))}
        </datalist>
        <Button type="submit" variant="primary" isDisabled={!model.trim() || check.isPending}>
          Check
        </Button>
        {check.isPending && <Spinner label="Asking the judge" />}
      </div>
      {cost.data && (
        <p className="small" role="status">
          {formats.counted(cost.data.calls, "call")}, {costWords(cost.data, formats)}
        </p>
      )}
      {check.isError && <ErrorNote error={check.error} />}
    </form>
  );
}

function costWords({ likely, most }: JudgeCheckCost, formats: Formats): string {
  if (likely === null || most === null) return "which cost what such calls cost: the price is not known";
  return `likely ${formats.briefDollars(likely)}, at most ${formats.briefDollars(most)}`;
}

function InRuns({ judges }: { judges: readonly JudgePassport[] }) {
  const formats = useFormats();
  const rows = judges.flatMap((judge) => {
    const { runs, in_runs, cost_per_verdict } = judge;
    const write = (cost: string) => `${formats.briefDollars(cost)} a verdict`;
    const cost = cost_per_verdict === null ? "" : `, ${priced(cost_per_verdict, write)}`;
    const below = `${formats.counted(runs, "comparison")}${cost}`;
    return in_runs ? [{ judge: modelAt(judge), below, passport: in_runs }] : [];
  });
  if (rows.length === 0) return null;
  return (
    <section className="stack" aria-labelledby="in-runs-title">
      <h2 id="in-runs-title">In your newest comparisons</h2>
      <Passports label="Judges in comparisons" rows={rows} />
      <BesideOthers judges={judges} />
      <p className="small dim">
        With 95 % intervals; each document has one voice. A judge without a lean takes the first answer half of the
        time. Leniency is how much higher it scores than the other judges of the same answers, on scales from 0 to 1.
      </p>
    </section>
  );
}

/** How often each two judges said the same, and how a judge treats models of its own family. */
function BesideOthers({ judges }: { judges: readonly JudgePassport[] }) {
  const formats = useFormats();
  const pairs = judges.flatMap((judge) => judge.agreement.filter((pair) => pair.first === modelAt(judge) && pair.of));
  const lifts = judges.flatMap((judge) => {
    const lift = judge.health?.own_family_lift;
    return lift && lift.lift !== null ? [{ name: modelAt(judge), lift }] : [];
  });
  if (!pairs.length && !lifts.length) return null;
  return (
    <dl className="card facts">
      {pairs.map(({ first, second, same, of }) => (
        <Fact key={`${first} ${second}`} name={`${first} and ${second}`}>
          the same in {formats.percent(same / of)} of {formats.counted(of, "pair")}
        </Fact>
      ))}
      {lifts.map(({ name, lift }) => {
        const { value, interval } = writtenDifference({ ...lift, difference: lift.lift }, formats);
        return (
          <Fact key={name} name={`${name} and its own family`}>
            preferred by {value}
            {interval && ` (${interval})`} more than by other judges, of 1
          </Fact>
        );
      })}
    </dl>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}
