import { adviceFor, codeOf } from "../../api/github";
import { ApiError } from "carrel-sdk";
import { useFormats } from "../../app/context";
import { ErrorNote, Note } from "../Feedback";

/** Why GitHub refused, and what helps. */
export function GithubError({ error }: { error: unknown }) {
  const formats = useFormats();
  const advice = adviceFor(codeOf(error));
  if (!advice) return <ErrorNote error={error} />;
  const wait = error instanceof ApiError ? error.retryAfterSeconds : undefined;
  return (
    <Note tone="bad" role="alert">
      <p>It was not sent: {advice}</p>
      <p className="small dim">
        <code>{codeOf(error)}</code>
        {wait !== undefined && ` · it may be tried again in ${formats.duration(wait)}`}
      </p>
    </Note>
  );
}
