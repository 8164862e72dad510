/** The shapes of the API by the names that the app uses. */
import type { components } from "./schema";

type Schemas = components["schemas"];

export type Run = Schemas["Run"];
export type RunSummary = Schemas["RunSummary"];
export type RunState = Run["state"];
export type Progress = RunSummary["progress"];
export type Task = Schemas["Task"];
export type Entry = Schemas["Entry"];
export type Report = Schemas["Report"];
export type RankingOut = Schemas["RankingOut"];
export type Ranking = Schemas["Ranking"];
export type Row = Schemas["Row"];
export type DocumentReport = Schemas["DocumentReport"];
export type Configuration = Schemas["Configuration"];
export type Candidate = Schemas["Candidate"];
export type Judge = Schemas["Judge"];
export type Parameters = Schemas["Parameters"];
export type Preset = Schemas["Preset"];
export type PresetIn = Schemas["PresetIn"];
export type PresetSummary = Schemas["PresetSummary"];
export type DryRun = Schemas["DryRun"];
export type Content = Schemas["Content"];
export type ContentIn = Schemas["ContentIn"];
export type ContentSummary = Schemas["ContentSummary"];
export type Document = Schemas["Document"];
export type ContentType = Content["type"];
export type Model = Schemas["Model"];
export type ProviderKey = Schemas["ProviderKey"];
export type UsageItem = Schemas["UsageItem"];
export type LedgerEntry = Schemas["LedgerEntry"];
export type UserSettings = Schemas["UserSettings"];
export type Me = Schemas["Me"];
export type Kind = Task["kind"];
export type ConnectionIn = Schemas["ConnectionIn"];
export type TreeEntry = Schemas["TreeEntry"];
export type ImportOutcome = Schemas["ImportOutcome"];
