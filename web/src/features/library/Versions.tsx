import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import type { Content } from "../../api/types";
import { useApi, useFormats } from "../../app/context";
import { Button } from "../../components/Button";
import { Skeleton } from "../../components/Feedback";
import { SelectField } from "../../components/Field";
import { QueryView } from "../../components/QueryView";
import { Scroll } from "../../components/Scroll";
import { part } from "../../lib/part";
import { versionQuery, versionsQuery } from "./queries";

const Diff = lazy(part(() => import("../../components/Diff").then((m) => ({ default: m.Diff }))));

/** Earlier versions, and what has changed since. */
export function Versions({ content, onTake }: { content: Content; onTake: (body: string, version: number) => void }) {
  const formats = useFormats();
  const list = useQuery(versionsQuery(useApi(), content.id));
  const [chosen, setChosen] = useState<number>();
  return (
    <QueryView query={list}>
      {({ items }) => {
        const earlier = items.filter((item) => item.version !== content.version);
        const version = chosen ?? earlier[0]?.version;
        if (version === undefined) return <p className="dim">This is the first version.</p>;
        return (
          <div className="stack">
            <div className="limited">
              <SelectField
                label="Since version"
                value={version}
                onChange={(event) => setChosen(Number(event.target.value))}
              >
                {earlier.map((item) => (
                  <option key={item.version} value={item.version}>
                    {item.version} · {formats.dateTime(item.updated_at)} · {item.name}
                  </option>
                ))}
              </SelectField>
            </div>
            <Changes content={content} version={version} onTake={onTake} />
          </div>
        );
      }}
    </QueryView>
  );
}

function Changes({
  content,
  version,
  onTake,
}: {
  content: Content;
  version: number;
  onTake: (body: string, version: number) => void;
}) {
  const query = useQuery(versionQuery(useApi(), content.id, version));
  return (
    <QueryView query={query}>
      {(old) => (
        <>
          <Scroll isPane label="What has changed">
            <Suspense fallback={<Skeleton />}>
              {old.body === content.body ? (
                <p className="dim">The text is the same.</p>
              ) : (
                <Diff from={old.body} to={content.body} />
              )}
            </Suspense>
          </Scroll>
          <div>
            <Button small onPress={() => onTake(old.body, version)}>
              Take the text of version {version} into the editor
            </Button>
          </div>
        </>
      )}
    </QueryView>
  );
}
