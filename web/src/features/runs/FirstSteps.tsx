import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { CircleCheck } from "lucide-react";
import type { ReactNode } from "react";
import { keysQuery, meQuery } from "../../api/queries";
import { useApi, useFormats } from "../../app/context";

/** The steps that a new user takes, in order, and which of them are done. */
export function FirstSteps() {
  const api = useApi();
  const formats = useFormats();
  const counts = useQuery(meQuery(api)).data?.counts;
  const hasKeys = (useQuery(keysQuery(api)).data?.items.length ?? 0) > 0;
  return (
    <section className="card stack first-steps" aria-labelledby="first-title">
      <h2 id="first-title">Find out which model does your job best</h2>
      <p className="dim">
        With the sample, the first verdict takes three clicks and a few seconds. It needs no key and costs nothing.
      </p>
      <div>
        <Link to="/compare" className="btn primary">
          Begin with the sample
        </Link>
      </div>
      <ol>
        <Step
          done={Boolean(counts?.contents)}
          title="Bring your documents"
          action={
            <Link to="/library" className="btn">
              Open the library
            </Link>
          }
        >
          Ten or more that are typical of your work: text, Markdown, HTML, PDF, Word or a table.
          {counts?.contents
            ? ` There ${counts.contents === 1 ? "is one text" : `are ${formats.counted(counts.contents, "text")}`} in your workspace.`
            : ""}
        </Step>
        <Step
          done={hasKeys}
          title="Store the keys of the models that you want to try"
          action={
            <Link to="/models" search={{ tab: "keys" }} className="btn">
              Store a key
            </Link>
          }
        >
          You can leave this out at first: the built-in candidates and judges need no key and cost nothing.
        </Step>
        <Step
          done={Boolean(counts?.presets)}
          title="Say who competes, and who judges"
          action={
            <Link to="/compare" className="btn">
              Set up the first comparison
            </Link>
          }
        >
          Models with their prompts, and what a good answer is. You see what it costs, and what so many documents can
          decide, before anything is spent.
        </Step>
      </ol>
    </section>
  );
}

function Step({
  title,
  done,
  action,
  children,
}: {
  title: string;
  done?: boolean;
  action: ReactNode;
  children: ReactNode;
}) {
  return (
    <li className={done ? "done" : ""}>
      <div className="grow">
        <h3>
          {title} {done && <CircleCheck size={16} className="good" role="img" aria-label="done" />}
        </h3>
        <p className="dim">{children}</p>
      </div>
      {action}
    </li>
  );
}
