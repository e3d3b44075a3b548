import { createHash } from 'node:crypto';
import { ZEROS } from '../api/requests.js';
import type { TokenRecipe } from '../auth/tokens.js';
import type { ApiResponse } from '../check/api-response.js';
import { AssertionFailure } from '../check/outcomes.js';
import type { RequestOptions, RuleContext } from '../check/rule-context.js';
import { basic, gitPath } from '../http/git-remote.js';
import { type ListedRefs, LS_REFS, readListedRefs } from '../http/ls-refs.js';
import { FLUSH, type PktLine, readPkts, writePkt } from '../http/pkt-line.js';
import { defined } from '../target/json.js';

export type Service = 'git-upload-pack' | 'git-receive-pack';

/** Sends a request to the Git host, without an `Authorization` header if there is no recipe. */
function requestGit(
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

/** Requests the refs of a repository with protocol v0, without an `Authorization` header if there is no recipe. */
export function advertise(
  t: RuleContext,
  path: string,
  recipe?: TokenRecipe,
  service: Service = 'git-upload-pack',
  options: RequestOptions & { readonly user?: string } = {},
): Promise<ApiResponse> {
  return requestGit(t, 'GET', `${path}/info/refs?service=${service}`, recipe, options);
}

/**
 * Parses a v0 ref advertisement (gitprotocol-http): ref name to object id. Throws `AssertionFailure` if it is invalid.
 */
export function readAdvertisement(response: ApiResponse): Map<string, string> {
  const refs = new Map<string, string>();
  for (const line of pkts(response)) {
    if (typeof line === 'string') continue;
    // Capabilities follow a NUL on the first line.
    const [text = ''] = line.toString('utf8').split('\0', 1);
    const [, oid, name] = /^([0-9a-f]{40}) (\S+)$/.exec(text.trimEnd()) ?? [];
    if (oid !== undefined && name !== undefined && name !== 'capabilities^{}') refs.set(name, oid);
  }
  return refs;
}

/** Returns true if the body contains a ref, which a refusal must not disclose. */
export function showsRefs(response: ApiResponse): boolean {
  return /[0-9a-f]{40} (HEAD|refs\/)/.test(response.text);
}

/** Returns the refs of a repository, by `ls-refs` of protocol v2, with peeled tags. */
export async function listRefs(t: RuleContext, repo: string, recipe: TokenRecipe): Promise<Map<string, string>> {
  return (await listRefsAndHead(t, repo, recipe)).refs;
}

/** Returns the refs of a repository and the branch that HEAD refers to. */
export async function listRefsAndHead(t: RuleContext, repo: string, recipe: TokenRecipe): Promise<ListedRefs> {
  const response = await requestRefs(t, repo, recipe);
  if (response.status !== 200) throw new AssertionFailure('ls-refs must succeed', 200, response.outcome);
  return inPkts(response, () => readListedRefs(response.body));
}

/** Requests all refs with protocol v2, without an `Authorization` header if there is no recipe. */
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
 * Returns a pack without objects (gitformat-pack): the header with version 2 and object count 0, then the checksum. Git
 * sends it if the other side has all objects.
 */
function emptyPack(): Buffer {
  const header = Buffer.from('PACK\0\0\0\x02\0\0\0\0', 'latin1');
  return Buffer.concat([header, createHash('sha1').update(header).digest()]);
}

/** Branches and tags by full name, with the commits that they point to. */
export type NewRefs = Readonly<Record<string, string>>;

/**
 * Sends the single request of a push that creates refs at existing commits. It omits the advertisement that clients
 * request first, because the target's treatment of the push request itself could not be seen otherwise. Without a
 * recipe, no credential is sent.
 */
export function pushRefs(
  t: RuleContext,
  repo: string,
  refs: NewRefs,
  recipe?: TokenRecipe,
  options: RequestOptions = {},
): Promise<ApiResponse> {
  const commands = Object.entries(refs).map(([name, sha], index) =>
    writePkt(`${ZEROS} ${sha} ${name}${index === 0 ? '\0 report-status' : ''}\n`),
  );
  return requestGit(t, 'POST', `${gitPath(repo)}/git-receive-pack`, recipe, {
    body: Buffer.concat([...commands, FLUSH, emptyPack()]),
    contentType: 'application/x-git-receive-pack-request',
    ...options,
  });
}
