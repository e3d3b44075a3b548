import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Claims } from './auth/claims.js';
import type { Call } from './call.js';
import { ArmedFaults } from './faults/armed.js';
import type { Problem } from './http/problem.js';
import type { Reply } from './http/reply.js';
import type { RequestTarget } from './http/request-target.js';
import type { Operation } from './operation.js';
import type { Repository } from './repositories/repository.js';
import type { Organization, World } from './world.js';

/**
 * One request on its way through the chain. Each step reads what earlier steps found and adds its own
 * finding; the handler gets a `Call`, the part of it that is values only.
 */
export interface Exchange {
  readonly id: string;
  readonly world: World;
  readonly request: IncomingMessage;
  /** Aborted when the client has gone. */
  readonly signal: AbortSignal;
  /** The origin this listener is reached by. */
  readonly origin: string;
  /** The organization that the port belongs to; `Host` may select another. */
  organizationName: string;
  readonly inBandFaults: boolean;
  /** One short sentence per decision, for the journal. */
  readonly why: string[];
  faults: ArmedFaults;
  reply: Reply;
  // Found on the way; a step may rely on what every step before it has set.
  target: RequestTarget;
  organization: Organization;
  operation: Operation;
  route: string;
  params: Record<string, string>;
  claims: Claims;
  repository: Repository | undefined;
  call: Call;
  /** Why the request was refused, once it was. */
  problem: Problem | undefined;
}

/** One link of the chain: it throws a `Problem` or lets the request pass. */
export type Step = (exchange: Exchange) => void | Promise<void>;

export interface Listener {
  readonly organization: string;
  readonly origin: () => string;
  readonly inBandFaults: boolean;
}

export function createExchange(
  world: World,
  listener: Listener,
  request: IncomingMessage,
  response: ServerResponse,
): Exchange {
  let controller: AbortController | undefined;
  const found: Partial<Exchange> = {
    id: world.nextRequestId(),
    world,
    request,
    // Most requests never ask; listening for the end of each would cost more than many handlers.
    get signal() {
      if (!controller) {
        const made = new AbortController();
        controller = made;
        if (response.destroyed) made.abort();
        response.once('close', () => {
          if (!response.writableFinished) made.abort();
        });
      }
      return controller.signal;
    },
    origin: listener.origin(),
    organizationName: listener.organization,
    inBandFaults: listener.inBandFaults,
    why: [],
    faults: ArmedFaults.none,
    repository: undefined,
    problem: undefined,
  };
  return found as Exchange;
}
