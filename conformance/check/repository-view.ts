import type { Signer } from '../auth/tokens.js';
import type { Client, WireRequest } from '../http/client.js';
import { type Exchange, isRecord, type JsonRecord, jsonOf } from '../http/exchange.js';
import { basic, gitPath } from '../http/git-remote.js';
import { readAdvertisedRefs } from '../http/ls-refs.js';
import type { Target } from '../target/target.js';

/**
 * Part of a repository that the suite observes to detect changes.
 * - `refs`: ref names and object ids as Git lists them, and the target of HEAD.
 * - `record`: the repository record, or that the repository does not exist.
 * - `notes`: notes refs, read from the API if Git does not list them.
 * - `deployments`: ids of deployments.
 * - `ephemeral <branch>`: file metadata of an ephemeral branch.
 */
export type Part = 'refs' | 'record' | 'notes' | 'deployments' | `ephemeral ${string}`;

/**
 * Observed values of a repository: for each part, a map from name to value, such as ref name to object id. A part is
 * undefined if it could not be read.
 */
export type View = ReadonlyMap<Part, ReadonlyMap<string, string> | undefined>;

/** Properties of the run context that reading a view needs. */
export interface Sight {
  readonly target: Target;
  readonly client: Pick<Client, 'send'>;
  readonly signer: Signer;
}

/**
 * Reads these parts of a repository and returns their values. These requests do not count as evidence for a verdict.
 * `rule`: id of the rule to which the requests are attributed.
 */
export async function lookAt(sight: Sight, rule: string, repo: string, parts: readonly Part[]): Promise<View> {
  const view = new Map<Part, ReadonlyMap<string, string> | undefined>();
  for (const part of parts) view.set(part, await lookAtPart(new Looker(sight, rule, repo), part, view));
  // If the refs could not be read, read at least the repository record. It shows whether the repository still exists.
  if (view.get('refs') === undefined && !view.has('record')) {
    view.set('record', await lookAtPart(new Looker(sight, rule, repo), 'record', view));
  }
  return view;
}

export interface Difference {
  readonly name: string;
  readonly before: string;
  readonly after: string;
}

/**
 * Returns the values that differ between two views of a repository. A part that is missing in either view is ignored.
 */
export function differences(before: View, after: View): Difference[] {
  return [...before].flatMap(([part, first]) => {
    const second = after.get(part);
    if (first === undefined || second === undefined) return [];
    return [...new Set([...first.keys(), ...second.keys()])].flatMap((name) => {
      const [was = 'absent', is = 'absent'] = [first.get(name), second.get(name)];
      // Ignore a `base_repo` that is new in the second view. The specification does not say whether a record always
      // contains it.
      return was === is || (was === 'absent' && name.startsWith(BASE)) ? [] : [{ name, before: was, after: is }];
    });
  });
}

/**
 * Number of consecutive views that must differ from an earlier view. Only then does a repository count as changed. A
 * service may omit optional members from some responses, which looks like a change. If it omits them from every second
 * response, 1 check in 65,000 reports a change by mistake.
 */
const MAX_LOOKS = 16;

/**
 * Returns the differences between `before` and the last of up to `MAX_LOOKS` later views; empty if one of these views
 * equals `before`. `look` reads a view. It may return undefined if the repository cannot be compared; the result is then
 * undefined. `isMeant` selects the differences that count.
 */
export async function lastingDifferences(
  before: View,
  look: () => Promise<View | undefined>,
  isMeant: (difference: Difference) => boolean = () => true,
): Promise<Difference[] | undefined> {
  let changed: Difference[] = [];
  for (let looks = 0; looks < MAX_LOOKS && (looks === 0 || changed.length > 0); looks++) {
    const after = await look();
    if (after === undefined) return undefined;
    changed = differences(before, after).filter(isMeant);
  }
  return changed;
}

class Looker {
  constructor(
    readonly sight: Sight,
    readonly rule: string,
    readonly repo: string,
  ) {}

  get(path: string, scope = 'git:read'): Promise<Exchange> {
    return this.send({ method: 'GET', path, origin: this.sight.target.baseUrl, headers: {} }, scope, 'Bearer');
  }

  async send(
    request: Pick<WireRequest, 'method' | 'path' | 'origin' | 'headers' | 'body' | 'git'>,
    scope: string,
    scheme: 'Bearer' | 'Basic',
  ): Promise<Exchange> {
    const { sight, rule, repo } = this;
    const recipe = { repo, scopes: [scope] };
    const token = sight.signer.sign(recipe);
    const authorization = scheme === 'Basic' ? basic(token) : `Bearer ${token}`;
    return sight.client.send({ ...request, rule, headers: { ...request.headers, authorization }, recipe, token });
  }
}

async function lookAtPart(looker: Looker, part: Part, view: View): Promise<ReadonlyMap<string, string> | undefined> {
  if (part === 'refs') return lookAtRefs(looker);
  if (part === 'record') return lookAtRecord(looker);
  if (part === 'notes') return lookAtNotes(looker, view.get('refs'));
  if (part === 'deployments') return lookAtDeployments(looker);
  return lookAtEphemeral(looker, part.slice('ephemeral '.length));
}

async function lookAtRefs(looker: Looker): Promise<ReadonlyMap<string, string> | undefined> {
  const path = `${gitPath(looker.repo)}/info/refs?service=git-upload-pack`;
  const request = { method: 'GET', path, origin: looker.sight.target.gitUrl, headers: {}, git: true };
  const response = await looker.send(request, 'git:read', 'Basic');
  if (response.status !== 200) return undefined;
  try {
    const { refs, head } = readAdvertisedRefs(response.body);
    refs.delete('HEAD'); // HEAD moves with its branch
    if (head !== undefined) refs.set('HEAD', head);
    return refs;
  } catch {
    return undefined;
  }
}

/**
 * Documented members of a repository record. Only these are compared, because a service may add members that change
 * without a write.
 */
const DOCUMENTED = ['repo_id', 'url', 'default_branch', 'created_at'];
const BASE = 'base_repo';

async function lookAtRecord(looker: Looker): Promise<ReadonlyMap<string, string> | undefined> {
  const response = await looker.get('/api/v1/repo');
  const body = jsonOf(response);
  const isGone = response.status === 404 || (isRecord(body) && body.code === 'repository_deleted');
  if (isGone) return new Map([['the repository', 'absent']]);
  if (response.status !== 200 || !isRecord(body)) return undefined;
  const members = DOCUMENTED.flatMap((name) => (name in body ? [[name, String(body[name])] as const] : []));
  return new Map([['the repository', 'there'], ...members, ...baseOf(body.base_repo)]);
}

function baseOf(base: unknown): [string, string][] {
  if (!isRecord(base)) return [];
  return ['provider', 'owner', 'name'].map((name) => [`${BASE}.${name}`, String(base[name])]);
}

/**
 * Reads the notes refs of a repository from the API, because the specification does not say whether Git lists them.
 * Returns undefined if Git lists notes refs; the part `refs` then contains them. Also returns undefined without
 * `--companion`, because the route is known only from published clients.
 */
async function lookAtNotes(looker: Looker, refs: ReadonlyMap<string, string> | undefined) {
  const isListed = refs !== undefined && [...refs.keys()].some((name) => name.startsWith('refs/notes/'));
  if (isListed || !looker.sight.target.companion) return undefined;
  const response = await looker.get(`/api/repos/${encodeURIComponent(looker.repo)}/notes/refs`);
  return listed(response, 'refs', ({ ref, sha }) => [String(ref), String(sha)]);
}

async function lookAtDeployments(looker: Looker): Promise<ReadonlyMap<string, string> | undefined> {
  const path = `/api/repos/${encodeURIComponent(looker.repo)}/deployments`;
  const response = await looker.get(path, 'deployment:read');
  return listed(response, 'deployments', ({ id }) => [`deployment ${id}`, 'there']);
}

function listed(
  response: Exchange,
  name: string,
  show: (item: JsonRecord) => [string, string],
): ReadonlyMap<string, string> | undefined {
  const body = jsonOf(response);
  const items = isRecord(body) ? body[name] : undefined;
  return Array.isArray(items) ? new Map(items.filter(isRecord).map(show)) : undefined;
}

async function lookAtEphemeral(looker: Looker, branch: string): Promise<ReadonlyMap<string, string> | undefined> {
  const response = await looker.get(`/api/v1/repos/files/metadata?ref=${encodeURIComponent(branch)}&ephemeral=true`);
  if (response.status === 400 || response.status === 404) return new Map();
  return listed(response, 'files', ({ path, last_commit_sha: sha }) => [`${path} on ephemeral ${branch}`, String(sha)]);
}
