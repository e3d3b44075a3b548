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

/** What the request is refused with while its repository is in the state of `code`; undefined: it is not. */
export function stateRefusal(
  { operation, purpose, world }: RequestContext,
  code: ProblemCode,
): ProblemCode | undefined {
  // Some operations look a repository up themselves, and say that they may find it so.
  if (operation.subject !== 'repository') return operation.errors.includes(code) ? code : undefined;
  // Until the request's purpose is known it is that of its operation.
  const { effect } = purpose ?? operation;
  return refusalOf(STATES_BY_CODE[code]!, { id: operation.id, effect }, world.variants);
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
    return STATES_BY_CODE[code] === undefined || stateRefusal(this.context, code) !== undefined;
  }
}
