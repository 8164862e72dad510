import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { dataSetsQuery } from "../../api/queries";
import type { ContentType } from "../../api/types";
import { useApi, useFormats } from "../../app/context";
import { TYPES } from "../../lib/contentTypes";
import { countsQuery } from "./queries";

const EXACT = { exact: true, includeSearch: true };

/** What the library holds: texts by their type, and data sets. `now` is what the page shows of it. */
export function Kinds({ now }: { now: ContentType | "all" | "data-sets" }) {
  const formats = useFormats();
  const counts = useQuery(countsQuery(useApi())).data;
  const dataSets = useQuery(dataSetsQuery(useApi())).data;
  const nav = useRef<HTMLElement>(null);
  // On a phone the types are one row, which scrolls.
  useEffect(() => {
    const row = nav.current;
    const chosen = row?.querySelector<HTMLElement>(".now");
    if (row && chosen) row.scrollLeft = chosen.offsetLeft - row.offsetLeft - (row.clientWidth - chosen.offsetWidth) / 2;
  }, [now, counts]);
  const count = (number: number | undefined) => counts && <span className="num">{formats.integer(number ?? 0)}</span>;
  return (
    <nav className="kinds" aria-label="Types of contents" ref={nav}>
      <Link to="/library" search={{}} activeOptions={EXACT} className={now === "all" ? "now" : ""}>
        All {count(counts?.total)}
      </Link>
      {TYPES.map(([kind, label]) => (
        <Link
          key={kind}
          to="/library"
          search={{ type: kind }}
          activeOptions={EXACT}
          className={now === kind ? "now" : ""}
        >
          {label} {count(counts?.by_type[kind])}
        </Link>
      ))}
      <Link to="/library/data-sets" className={now === "data-sets" ? "now" : ""}>
        Data sets {dataSets && <span className="num">{formats.integer(dataSets.length)}</span>}
      </Link>
    </nav>
  );
}
