/** What a model is called: a host that is not its provider’s own belongs to its name, because that host answers. */
export function modelAt({ model, host }: { model: string; host?: string | null | undefined }): string {
  return host ? `${model} at ${host}` : model;
}

/** The same of a candidate, whose answers may have been there before; then no model made them. */
export function madeBy({
  model,
  host,
}: {
  model: string | null;
  host?: string | null | undefined;
}): string | undefined {
  return model === null ? undefined : modelAt({ model, host });
}
