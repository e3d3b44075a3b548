import type { FaultedOperation } from '../faults/operation-shape.js';
import type { RequestFacts, TokenFacts } from '../faults/request-facts.js';
import type { ProblemCode } from '../http/problem.js';
import { refusalByCode, STATES_BY_CODE } from '../repositories/lifecycle.js';
import type { RequestContext } from './request-context.js';

/** Returns the code with which the request is refused in the state of `code`; undefined if not refused. */
export function stateRefusal(
  { operation, purpose, target, world }: RequestContext,
  code: ProblemCode,
): ProblemCode | undefined {
  const { id, subject, errors, reads, purposeOf } = operation;
  // Before the step `purpose`, only a query can decide the purpose, because the body was not read.
  const known = purpose ?? (reads === 'json' ? undefined : purposeOf?.(new URLSearchParams(target.query), undefined));
  const { effect } = known ?? operation;
  return refusalByCode(code, { id, subject, errors, effect }, world.variants);
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
