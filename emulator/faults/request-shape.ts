import type { GitHead, Match } from './fault.js';
import { matchesGlob } from './glob.js';
import type { Effect, FaultedOperation, FaultedPurpose } from './operation-shape.js';
import { STAGES, type Stage } from './stage.js';

/** Kind of Git request: its service, phase, possible protocol versions, and the command in its body. */
interface GitShape extends Omit<GitHead, 'protocol'>, Pick<NonNullable<Match['git']>, 'command'> {
  readonly protocols: readonly GitHead['protocol'][];
}

/**
 * Kind of request to an operation (API endpoint or Git service). Used to check whether a fault could ever fire.
 *
 * A Git service has several kinds. So has an operation whose effect and scopes depend on the query or body.
 */
export interface RequestShape extends FaultedPurpose {
  readonly operation: FaultedOperation;
  readonly methods: readonly string[];
  /** True if a route of the operation contains the repository name. The name is then known before the token is read. */
  readonly namesRepository: boolean;
  readonly git: GitShape | undefined;
  readonly stages: ReadonlySet<Stage>;
}

const COMMON: ReadonlySet<Stage> = new Set<Stage>([
  'accept',
  'headers',
  'auth',
  'before',
  'after',
  'response.head',
  'response.body',
]);
const WITH_BODY: ReadonlySet<Stage> = new Set<Stage>([...COMMON, 'body']);

/**
 * Query or body of a request whose effect and scopes differ from the operation's usual ones, by operation id. For
 * example, the row of `lfsBatch` describes a download, but an upload writes.
 */
const OTHER_PURPOSES: Readonly<Record<string, { readonly query?: string; readonly body?: object }>> = {
  gitInfoRefs: { query: 'service=git-receive-pack' },
  lfsBatch: { body: { operation: 'upload' } },
};

type GitRow = GitShape & { readonly stages: readonly Stage[] };

/**
 * Kinds of Git requests by operation id. `stages` lists the stages that such requests reach in addition to the common
 * ones (`COMMON`). In protocol version 2, each request has exactly one command.
 */
const OF_GIT: Readonly<Record<string, readonly GitRow[]>> = {
  gitInfoRefs: [
    { service: 'upload-pack', phase: 'advertise', protocols: [0, 1, 2], stages: ['git.advertise'] },
    { service: 'receive-pack', phase: 'advertise', protocols: [0, 1, 2], stages: ['git.advertise'] },
  ],
  gitUploadPack: [
    { service: 'upload-pack', phase: 'rpc', protocols: [2], command: 'ls-refs', stages: ['git.advertise'] },
    { service: 'upload-pack', phase: 'rpc', protocols: [0, 1, 2], command: 'fetch', stages: ['git.pack'] },
    { service: 'upload-pack', phase: 'rpc', protocols: [2], command: 'object-info', stages: [] },
  ],
  gitReceivePack: [
    { service: 'receive-pack', phase: 'rpc', protocols: [0, 1, 2], stages: ['git.receive', 'git.report'] },
  ],
};

/** Cache of `shapesOf`, because each validation of a fault needs the kinds of requests to all operations. */
const SHAPES = new WeakMap<FaultedOperation, readonly RequestShape[]>();

/** Returns the kinds of requests to the operation. Computed on the first call. */
export function shapesOf(operation: FaultedOperation): readonly RequestShape[] {
  const shapes = SHAPES.get(operation) ?? findShapes(operation);
  SHAPES.set(operation, shapes);
  return shapes;
}

function findShapes(operation: FaultedOperation): readonly RequestShape[] {
  const { id, reads, routes } = operation;
  const methods = methodsOf(operation);
  const namesRepository = routes.some(({ path }) => path.includes('{repo_name}'));
  const common = reads === 'json' || reads === 'stream' ? WITH_BODY : COMMON;
  const shapeOf = ({ effect, scopes }: FaultedPurpose, git?: GitRow): RequestShape => {
    const stages = git ? new Set([...common, ...git.stages]) : common;
    return { operation, methods, namesRepository, effect, scopes, git, stages };
  };
  const other = otherPurposeOf(operation);
  const git = OF_GIT[id];
  if (git) return git.map((row) => shapeOf((row.service === 'receive-pack' && other) || operation, row));
  return other ? [shapeOf(operation), shapeOf(other)] : [shapeOf(operation)];
}

/**
 * Returns the alternative effect and scopes that requests to the operation can have. Undefined if all its requests have
 * the same effect and scopes.
 */
function otherPurposeOf({ id, purposeOf }: FaultedOperation): FaultedPurpose | undefined {
  const given = OTHER_PURPOSES[id];
  return given && purposeOf?.(new URLSearchParams(given.query), given.body);
}

/**
 * Returns the HTTP methods that the operation accepts. Includes HEAD if the operation accepts it for its GET routes.
 */
function methodsOf({ routes, head }: FaultedOperation): string[] {
  const methods = routes.map(({ method }) => method);
  return head !== false && methods.includes('GET') ? [...methods, 'HEAD'] : methods;
}

/** Returns the stages that requests to the operation can reach, in the order of `STAGES`. */
export function stagesOf(operation: FaultedOperation): ReadonlySet<Stage> {
  const shapes = shapesOf(operation);
  return new Set((Object.keys(STAGES) as Stage[]).filter((stage) => shapes.some(({ stages }) => stages.has(stage))));
}

/**
 * Returns true if a request of this kind can match the conditions on HTTP method and Git protocol in `match`. The
 * caller checks the condition on the operation.
 */
export function fits({ methods, git }: RequestShape, { http = {}, git: wanted = {} }: Match): boolean {
  const { service, phase, protocol, command } = wanted;
  return (
    (http.method === undefined || methods.some((method) => matchesGlob(http.method!, method))) &&
    (service === undefined || git?.service === service) &&
    (phase === undefined || git?.phase === phase) &&
    (protocol === undefined || (git?.protocols.includes(protocol) ?? false)) &&
    (command === undefined || git?.command === command)
  );
}

/**
 * Returns the effect of a request (read, write or delete), as far as the service knows it. Before a JSON body is read,
 * this is the operation's usual effect, even if the body will change it.
 */
export function effectAt({ operation, effect }: RequestShape, isBodyRead: boolean): Effect {
  return operation.reads === 'json' && !isBodyRead ? operation.effect : effect;
}
