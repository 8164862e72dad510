/** Search parameters without empty ones. */
export function given<K extends string>(search: Partial<Record<K, string | undefined>>): Partial<Record<K, string>> {
  return Object.fromEntries(Object.entries(search).filter(([, value]) => value)) as Partial<Record<K, string>>;
}
