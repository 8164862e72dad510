/** One user's workspace, for a program or a page of a host. */
import { type Client, clientOf } from "./routes.js";
import { Runs } from "./runs.js";
import { programSignIn, PROGRAM_KEY_PREFIX, type RenewToken, TokenSignIn } from "./signIn.js";
import { type SignIn, Transport, type TransportOptions } from "./transport.js";

export interface WorkspaceOptions extends TransportOptions {
  /** A session token or a program key. */
  token?: string;
  /** Fetches a session token: the first one where none is given, and the next one when it has ended. */
  renew?: RenewToken;
}

export class Workspace {
  /** Every route of the service, typed by its description. */
  readonly client: Client;
  readonly runs: Runs;
  private readonly transport: Transport;
  private readonly signIn: SignIn;

  constructor(options: WorkspaceOptions) {
    const { token, renew } = options;
    if (!token && !renew) throw new TypeError("token or renew is needed");
    this.transport = new Transport(options);
    this.signIn = token?.startsWith(PROGRAM_KEY_PREFIX)
      ? programSignIn(this.transport, token)
      : new TokenSignIn(token, renew);
    this.client = clientOf(this.transport.base, (request) => this.send(request));
    this.runs = new Runs(this.transport, this.signIn, this.client);
  }

  /** Send any request to the service, such as one whose answer is not JSON. */
  send(request: Request): Promise<Response> {
    return this.transport.send(request, this.signIn);
  }
}
