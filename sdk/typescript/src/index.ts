/** The client of Carrel: what programs and pages import. */
export { claimsOf } from "./claims.js";
export * from "./errors.js";
export * from "./events.js";
export * from "./routes.js";
export type { RunEvent } from "./runs.js";
export type { components, paths } from "./schema.js";
export { RENEWABLE_CODES, type RenewToken } from "./signIn.js";
export { TOKEN_HEADER, type Refusal, type SignIn, Transport, type TransportOptions } from "./transport.js";
export { Workspace, type WorkspaceOptions } from "./workspace.js";
