import { keepPreviousData, queryOptions, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { data } from "carrel-sdk";
import type { Api } from "../../../api/client";
import { queryKeys } from "../../../api/queryKeys";
import type { Trends } from "../../../api/types";
import { useApi } from "../../../app/context";
import { Empty } from "../../../components/Feedback";
import { Page } from "../../../components/Page";
import { QueryView } from "../../../components/QueryView";
import { presetQuery } from "../queries";
import { type Chosen, TrendsView } from "./TrendsView";

const route = getRouteApi("/presets/$presetId/trends");

function trendsQuery(api: Api, presetId: string, { candidate, baseline }: Omit<Chosen, "measure">) {
  return queryOptions({
    queryKey: queryKeys.preset.trends(presetId, { candidate, baseline }),
    queryFn: ({ signal }) =>
      data(
        api.client.GET("/api/presets/{preset_id}/trends", {
          params: {
            path: { preset_id: presetId },
            query: { ...(candidate ? { candidate } : {}), ...(baseline ? { baseline } : {}) },
          },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
  });
}

/** One candidate or check over the runs of a preset, and the last good run. */
export function TrendsPage() {
  const { presetId } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const api = useApi();
  const preset = useQuery(presetQuery(api, presetId)).data?.value;
  const query = useQuery(trendsQuery(api, presetId, search));
  const choose = (changes: Partial<Chosen>) =>
    void navigate({
      search: (now) => Object.fromEntries(Object.entries({ ...now, ...changes }).filter(([, value]) => value)),
      replace: true,
    });
  return (
    <Page
      title={preset ? `Trends of ${preset.name}` : "Trends"}
      back={{ to: "/presets", label: "Presets" }}
      actions={
        <Link to="/presets/$presetId" params={{ presetId }} className="btn">
          The preset
        </Link>
      }
    >
      <QueryView query={query} lines={8}>
        {(trends) => <Shown trends={trends} chosen={search} onChoose={choose} />}
      </QueryView>
    </Page>
  );
}

interface ShownProps {
  trends: Trends;
  chosen: Chosen;
  onChoose: (changes: Partial<Chosen>) => void;
}

function Shown({ trends, chosen, onChoose }: ShownProps) {
  if (!trends.points.length)
    return (
      <Empty
        title="No run has finished yet"
        action={
          <Link to="/presets/$presetId" params={{ presetId: trends.preset_id }} className="btn">
            Open the preset
          </Link>
        }
      >
        When runs of this preset have finished, this page shows one candidate over all of them, and the last good run.
      </Empty>
    );
  return <TrendsView trends={trends} chosen={chosen} onChoose={onChoose} />;
}
