import { createHash } from 'node:crypto';
import { ZEROS } from '../api/requests.js';
import type { TokenRecipe } from '../auth/tokens.js';
import type { ApiResponse } from '../check/api-response.js';
import { AssertionFailure } from '../check/outcomes.js';
import type { RequestOptions, RuleContext } from '../check/rule-context.js';
import { basic, gitPath } from '../http/git-remote.js';
import { type ListedRefs, LS_REFS, readAdvertisedRefs, readListedRefs } from '../http/ls-refs.js';
import { FLUSH, type PktLine, readPkts, writePkt } from '../http/pkt-line.js';
import { defined } from '../target/json.js';

export type Service = 'git-upload-pack' | 'git-receive-pack';

/**
 * Sends a request to the Git host of the target. Sends no `Authorization` header if `recipe` (description of the token
 * to send) is undefined.
 */
export function requestGit(
  t: RuleContext,
  method: 'GET' | 'POST',
  path: string,
  recipe: TokenRecipe | undefined,
  { user, headers, ...options }: RequestOptions & { readonly user?: string | undefined },
): Promise<ApiResponse> {
  const authorization = recipe && basic(t.token(recipe), user);
  const all = { ...defined({ authorization }), ...headers };
  return t.request(method, path, { origin: t.target.gitUrl, git: true, recipe, ...options, headers: all });
}

/**
 * Requests the ref advertisement of a repository with Git protocol v0. Sends no `Authorization` header if `recipe`
 * (description of the token to send) is undefined.
 */
export function advertise(
  t: RuleContext,
  path: string,
  recipe?: TokenRecipe,
  service: Service = 'git-upload-pack',
  options: RequestOptions & { readonly user?: string } = {},
): Promise<ApiResponse> {
  return requestGit(t, 'GET', `${path}/info/refs?service=${service}`, recipe, options);
}

/** Parses a ref advertisement of Git protocol v0. Throws `AssertionFailure` if it is invalid. */
export function readAdvertisement(response: ApiResponse): ListedRefs {
  return inPkts(response, () => readAdvertisedRefs(response.body));
}

/**
 * Returns true if the response body contains a line of a ref advertisement. Rules use it to check that the response to
 * a refused request discloses no refs.
 */
export function showsRefs(response: ApiResponse): boolean {
  return /[0-9a-f]{40} (HEAD|refs\/)/.test(response.text);
}

/**
 * Requests the ref advertisement of a repository with Git protocol v0, which every Git server supports. Returns a map
 * from ref name to object id. An annotated tag has a second entry `<name>^{}` for its target. Throws `AssertionFailure`
 * unless the status is 200.
 */
export async function listRefs(t: RuleContext, repo: string, recipe: TokenRecipe): Promise<Map<string, string>> {
  const response = await advertise(t, gitPath(repo), recipe);
  if (response.status !== 200)
    throw new AssertionFailure(
      'the Git host must answer the request for the list of refs with 200',
      200,
      response.outcome,
    );
  return readAdvertisement(response).refs;
}

/**
 * Requests the refs of a repository with `ls-refs` of Git protocol v2. Returns the refs and the branch that HEAD refers
 * to. Returns undefined if the server does not support version 2, which is legal. Throws `AssertionFailure` unless the
 * status is 200.
 */
export async function lsRefs(t: RuleContext, repo: string, recipe: TokenRecipe): Promise<ListedRefs | undefined> {
  const headers = { 'git-protocol': LS_REFS.protocol };
  const capabilities = await advertise(t, gitPath(repo), recipe, LS_REFS.service, { headers });
  if (!pkts(capabilities).some((line) => line.toString().trimEnd() === 'version 2')) return undefined;
  const response = await requestRefs(t, repo, recipe);
  if (response.status !== 200) throw new AssertionFailure('ls-refs must succeed', 200, response.outcome);
  return inPkts(response, () => readListedRefs(response.body));
}

/**
 * Requests all refs of a repository with Git protocol v2. Sends no `Authorization` header if `recipe` (description of
 * the token to send) is undefined.
 */
export function requestRefs(
  t: RuleContext,
  repo: string,
  recipe?: TokenRecipe,
  options: RequestOptions = {},
): Promise<ApiResponse> {
  const { body, contentType, protocol, service } = LS_REFS;
  const headers = { 'git-protocol': protocol, ...options.headers };
  return requestGit(t, 'POST', `${gitPath(repo)}/${service}`, recipe, { body, contentType, ...options, headers });
}

function pkts(response: ApiResponse): PktLine[] {
  return inPkts(response, () => readPkts(response.body));
}

function inPkts<Read>(response: ApiResponse, read: () => Read): Read {
  try {
    return read();
  } catch {
    throw new AssertionFailure('the body must consist of pkt-lines', 'pkt-lines', response.text.slice(0, 80));
  }
}

/**
 * Returns a pack file without objects (gitformat-pack): a header with version 2 and object count 0, then the checksum.
 * A Git client pushes such a pack if the server already has all objects.
 */
function emptyPack(): Buffer {
  const header = Buffer.from('PACK\0\0\0\x02\0\0\0\0', 'latin1');
  return Buffer.concat([header, createHash('sha1').update(header).digest()]);
}

/** Refs that a push creates. Maps the full ref name, such as `refs/heads/x`, to the SHA of an existing commit. */
export type NewRefs = Readonly<Record<string, string>>;

/**
 * Sends the `git-receive-pack` request of a push, which creates refs at existing commits. Git clients request the ref
 * advertisement first; this function does not. A target that refuses the advertisement would otherwise hide how it
 * treats the push itself. Sends no credential if `recipe` (description of the token to send) is undefined.
 */
export function pushRefs(
  t: RuleContext,
  repo: string,
  refs: NewRefs,
  recipe?: TokenRecipe,
  options: RequestOptions = {},
): Promise<ApiResponse> {
  const updates = Object.entries(refs).map(([ref, next]) => ({ ref, old: ZEROS, next }));
  return pushUpdates(t, repo, updates, recipe, options);
}

/**
 * Requested change of one ref by a push. If `old` is 40 zeros, the ref is created; if `next` is 40 zeros, the ref is
 * deleted.
 */
export interface RefUpdate {
  readonly ref: string;
  readonly old: string;
  readonly next: string;
}

/**
 * Sends the `git-receive-pack` request of a push with these ref updates. Does not request the ref advertisement first.
 * `pack`: objects that the server lacks. Default: none.
 */
export function pushUpdates(
  t: RuleContext,
  repo: string,
  updates: readonly RefUpdate[],
  recipe?: TokenRecipe,
  { pack = emptyPack(), ...options }: RequestOptions & { readonly pack?: Buffer } = {},
): Promise<ApiResponse> {
  const commands = updates.map(({ ref, old, next }, index) =>
    writePkt(`${old} ${next} ${ref}${index === 0 ? '\0 report-status' : ''}\n`),
  );
  const isDeletion = updates.every(({ next }) => next === ZEROS);
  return requestGit(t, 'POST', `${gitPath(repo)}/git-receive-pack`, recipe, {
    body: Buffer.concat([...commands, FLUSH, ...(isDeletion ? [] : [pack])]),
    contentType: 'application/x-git-receive-pack-request',
    ...options,
  });
}

/**
 * Returns the report of a push (`report-status` in gitprotocol-pack) as a map. Each ref maps to `ok` or to the reason
 * of its refusal. The map is empty if the server refused the whole request.
 */
export function readReport(response: ApiResponse): Map<string, string> {
  const report = new Map<string, string>();
  if (response.status !== 200) return report;
  for (const line of pkts(response)) {
    const [, word, ref = '', reason = ''] = /^(ok|ng) (\S+)(?: (.*))?$/s.exec(line.toString().trimEnd()) ?? [];
    if (word !== undefined) report.set(ref, word === 'ok' ? 'ok' : reason || 'refused');
  }
  return report;
}
