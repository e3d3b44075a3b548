import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Claims } from './auth/claims.js';
import type { Call } from './call.js';
import { ArmedFaults } from './faults/armed.js';
import { abortWhenGone } from './http/departure.js';
import type { Problem } from './http/problem.js';
import type { Reply } from './http/reply.js';
import type { RequestTarget } from './http/request-target.js';
import type { Operation, Purpose } from './operation.js';
import type { Repository } from './repositories/repository.js';
import type { Organization, World } from './world.js';

/**
 * One request on its way through the chain. Each step reads what earlier steps found and adds its own
 * finding; the handler gets a `Call`, the part of it that is values only.
 *
 * A class, not an object literal: one shape for every request, and accessors that cost nothing to make.
 */
export class Exchange {
  readonly id: string;
  /** The origin this listener is reached by. */
  readonly origin: string;
  /** The organization that the port belongs to; `Host` may select another. */
  organizationName: string;
  readonly inBandFaults: boolean;
  /** One short sentence per decision, for the journal. */
  readonly why: string[] = [];
  faults: ArmedFaults = ArmedFaults.none;
  /** Why the request was refused, once it was. */
  problem: Problem | undefined = undefined;
  repository: Repository | undefined = undefined;
  // Found on the way; a step may rely on what every step before it has set.
  reply!: Reply;
  target!: RequestTarget;
  organization!: Organization;
  operation!: Operation;
  purpose!: Purpose;
  /** The JSON body, once somebody asked for it. */
  body: Promise<unknown> | undefined = undefined;
  route!: string;
  params!: Record<string, string>;
  claims!: Claims;
  call!: Call;
  #gone: AbortController | undefined = undefined;

  constructor(
    readonly world: World,
    listener: Listener,
    readonly request: IncomingMessage,
    private readonly response: ServerResponse,
  ) {
    this.id = world.nextRequestId();
    this.origin = listener.origin();
    this.organizationName = listener.organization;
    this.inBandFaults = listener.inBandFaults;
  }

  /** Aborted when the client has gone. Most requests never ask, and listening for the end of each has its cost. */
  get signal(): AbortSignal {
    this.#gone ??= abortWhenGone(this.request, this.response);
    return this.#gone.signal;
  }
}

/** One link of the chain: it throws a `Problem` or lets the request pass. */
export type Step = (exchange: Exchange) => void | Promise<void>;

export interface Listener {
  readonly organization: string;
  readonly origin: () => string;
  readonly inBandFaults: boolean;
}
