import type { FaultedOperation } from '../../faults/operation-shape.js';
import type { RequestFacts, TokenFacts } from '../../faults/request-facts.js';
import type { ProblemCode } from '../../http/problem.js';
import { type RepositoryState, refusalOf } from '../../repositories/lifecycle.js';
import type { RequestContext } from '../request-context.js';

/** The states that a fault can apply to a request, by their codes. */
export const STATES_BY_CODE: Readonly<Partial<Record<ProblemCode, RepositoryState>>> = {
  repository_thawing: 'thawing',
  sync_in_progress: 'syncing',
  repository_deleted: 'deleted',
};

/** The code that the repository's state has for the request; undefined where it does not stand in the way. */
export function stateRefusal(context: RequestContext, state: RepositoryState): ProblemCode | undefined {
  const { operation, world } = context;
  if (operation.subject !== 'repository') return undefined;
  return refusalOf(state, affectingOf(context), world.config.variants);
}

/** Until the request's purpose is known it is that of its operation. */
export function affectingOf({ operation, purpose }: RequestContext) {
  return { id: operation.id, effect: (purpose ?? operation).effect };
}

const GIT_SERVICES: Readonly<Record<string, 'upload-pack' | 'receive-pack'>> = {
  gitUploadPack: 'upload-pack',
  gitReceivePack: 'receive-pack',
};

/** A request as faults see it: what its context has found so far. */
export class ContextFacts implements RequestFacts {
  constructor(private readonly context: RequestContext) {}

  get id(): string {
    return this.context.id;
  }

  get operation(): FaultedOperation {
    return this.context.operation;
  }

  get organization(): string {
    return this.context.organizationName;
  }

  /** Until the token is verified, what the path names. */
  get repository(): string | undefined {
    const { claims, params } = this.context;
    return claims ? claims.repo : params.repo_name;
  }

  get token(): TokenFacts | undefined {
    const { verified } = this.context;
    if (!verified) return undefined;
    const { claims, key, kid, payload } = verified;
    return { sub: claims.sub, kid, alg: key.algorithm, scopes: claims.scopes, claims: payload };
  }

  get method(): string {
    return this.context.request.method!;
  }

  get query(): URLSearchParams {
    return new URLSearchParams(this.context.target.query);
  }

  get body(): unknown {
    return this.context.json;
  }

  get git(): RequestFacts['git'] {
    const { id } = this.operation;
    const phase = id === 'gitInfoRefs' ? 'advertise' : 'rpc';
    const asked = this.query.get('service') === 'git-receive-pack' ? 'receive-pack' : 'upload-pack';
    const service = phase === 'advertise' ? asked : GIT_SERVICES[id];
    if (service === undefined) return undefined;
    const [, version] = /(?:^|:)version=([12])(?:$|:)/.exec(this.header('git-protocol') ?? '') ?? [];
    return { service, phase, protocol: version === undefined ? 0 : version === '1' ? 1 : 2 };
  }

  get scenario(): string | undefined {
    return this.context.scenario;
  }

  get connection(): string {
    return this.context.connection;
  }

  header(name: string): string | undefined {
    const value = this.context.request.headers[name];
    return Array.isArray(value) ? value.join(', ') : value;
  }

  isInTheWay(code: ProblemCode): boolean {
    const state = STATES_BY_CODE[code];
    return state === undefined || stateRefusal(this.context, state) !== undefined;
  }
}
