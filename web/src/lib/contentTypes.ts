/** What the types of contents are called, and which of them a file may be. */
import type { ContentType } from "../api/types";

export const TYPES: readonly (readonly [ContentType, string, string])[] = [
  ["input_document", "Documents", "What candidates work on."],
  ["generation_instructions", "Instructions", "The prompt: what candidates are to do."],
  ["criteria", "Criteria", "What answers are judged by."],
  ["reference_document", "References", "What a good answer is held to, such as a summary by a person."],
  ["fragment", "Fragments", "Pieces of text that other contents use."],
  ["scoring_instructions", "Scoring questions", "What judges are asked when they score."],
  ["comparison_instructions", "Comparison questions", "What judges are asked when they compare."],
  ["combination_instructions", "Combination instructions", "What is asked of whoever makes one answer of several."],
  ["output_document", "Outputs", "Results that you keep."],
];

export function typeOf(name: string | undefined): ContentType | undefined {
  return TYPES.find(([type]) => type === name)?.[0];
}

export function wordsForType(type: ContentType): string {
  return TYPES.find(([known]) => known === type)?.[1] ?? type;
}

export const TEXT_ENDINGS = [".md", ".markdown", ".txt", ".text", ".yaml", ".yml", ".html", ".csv"];
export const DOCUMENT_ENDINGS = [
  ".pdf",
  ".docx",
  ".docm",
  ".pptx",
  ".pptm",
  ".eml",
  ".mbox",
  ".htm",
  ".html",
  ".md",
  ".markdown",
  ".txt",
  ".text",
  ".csv",
];

export const TABLE_ENDINGS = [".csv", ".tsv", ".tab", ".jsonl", ".ndjson", ".json", ".xlsx", ".xlsm", ".xls", ".ods"];

/** Whether a file is called so. */
export function endsIn(file: { name: string }, endings: readonly string[]): boolean {
  const name = file.name.toLowerCase();
  return endings.some((ending) => name.endsWith(ending));
}

/** Files that the service reads, and whose original it keeps. */
export function isDocumentFile(file: { name: string }): boolean {
  return endsIn(file, DOCUMENT_ENDINGS);
}

/** Files that are text already; the others have to be read by the service first. */
export function isTextFile(file: { name: string; type: string }): boolean {
  return endsIn(file, TEXT_ENDINGS) || file.type.startsWith("text/");
}
