import { Link } from "@tanstack/react-router";
import type { ContentSummary } from "../../api/types";
import { ChosenName } from "../../components/table/ChosenName";
import type { Column } from "../../components/table/column";
import { wordsForType } from "../../lib/contentTypes";
import type { Formats } from "../../lib/format";
import { ContentActions } from "./ContentActions";

interface Shown {
  formats: Formats;
  now: number;
  /** All kinds of texts are shown. */
  isMixed: boolean;
  chosen: ReadonlySet<string>;
  onToggle: (id: string) => void;
}

/** What is told of a text, and what can be done with it. */
export function columnsOf({
  formats,
  now,
  isMixed,
  chosen,
  onToggle,
}: Shown): [Column<ContentSummary>, ...Column<ContentSummary>[]] {
  const kind: Column<ContentSummary> = {
    id: "kind",
    label: "Kind",
    isText: true,
    value: ({ type }) => wordsForType(type),
    cell: ({ type }) => wordsForType(type),
  };
  const name: Column<ContentSummary> = {
    id: "name",
    label: "Name",
    isText: true,
    value: (content) => content.name,
    cell: (content) => (
      <Name content={content} isChosen={chosen.has(content.id)} onToggle={() => onToggle(content.id)} />
    ),
  };
  const facts: Column<ContentSummary>[] = [
    {
      id: "size",
      label: "Size",
      isBestHigh: true,
      value: ({ body_bytes }) => body_bytes,
      cell: ({ body_bytes }) => formats.bytes(body_bytes),
    },
    {
      id: "version",
      label: "Version",
      isBestHigh: true,
      isExtra: true,
      value: ({ version }) => version,
      cell: ({ version }) => formats.integer(version),
    },
    {
      id: "changed",
      label: "Changed",
      isBestHigh: true,
      value: ({ updated_at }) => updated_at,
      cell: ({ updated_at }) => <span title={formats.dateTime(updated_at)}>{formats.ago(updated_at, now)}</span>,
    },
    {
      id: "actions",
      label: "What to do with it",
      className: "whole",
      cell: (content) => <ContentActions content={content} />,
    },
  ];
  return [name, ...(isMixed ? [kind] : []), ...facts];
}

interface NameProps {
  content: ContentSummary;
  isChosen: boolean;
  onToggle: () => void;
}

function Name({ content, isChosen, onToggle }: NameProps) {
  return (
    <ChosenName label={`Choose ${content.name}`} isChosen={isChosen} onToggle={onToggle}>
      <div className="row tight">
        <Link to="/library/$contentId" params={{ contentId: content.id }} className="title">
          {content.name}
        </Link>
        {content.tags.map((tag) => (
          <Link key={tag} to="/library" search={{ tag }} className="chip accent">
            {tag}
          </Link>
        ))}
      </div>
      <p className="small dim clamp one">{content.body_preview}</p>
    </ChosenName>
  );
}
