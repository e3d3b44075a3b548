import { createHash } from 'node:crypto';
import { ZEROS } from '../api/requests.js';
import type { TokenRecipe } from '../auth/tokens.js';
import type { Answer } from '../check/answer.js';
import { AssertionFailure } from '../check/outcomes.js';
import type { RequestOptions, RuleContext } from '../check/rule-context.js';
import { basic, gitPath } from '../http/git-remote.js';
import { type ListedRefs, LS_REFS, readListedRefs } from '../http/ls-refs.js';
import { FLUSH, type PktLine, readPkts, writePkt } from '../http/pkt-line.js';
import { defined } from '../target/json.js';

export type Service = 'git-upload-pack' | 'git-receive-pack';

/** A request to the Git host. Without a recipe no `Authorization` header is sent. */
function requestGit(
  t: RuleContext,
  method: 'GET' | 'POST',
  path: string,
  recipe: TokenRecipe | undefined,
  { user, headers, ...options }: RequestOptions & { readonly user?: string | undefined },
): Promise<Answer> {
  const authorization = recipe && basic(t.token(recipe), user);
  const all = { ...defined({ authorization }), ...headers };
  return t.request(method, path, { origin: t.target.gitUrl, git: true, recipe, ...options, headers: all });
}

/** Asks for the refs of a repository, protocol v0. Without a recipe no `Authorization` header is sent. */
export function advertise(
  t: RuleContext,
  path: string,
  recipe?: TokenRecipe,
  service: Service = 'git-upload-pack',
  options: RequestOptions & { readonly user?: string } = {},
): Promise<Answer> {
  return requestGit(t, 'GET', `${path}/info/refs?service=${service}`, recipe, options);
}

/** Refs of a v0 advertisement (gitprotocol-http): name to object id. Throws `AssertionFailure` when it is none. */
export function readAdvertisement(answer: Answer): Map<string, string> {
  const refs = new Map<string, string>();
  for (const line of pkts(answer)) {
    if (typeof line === 'string') continue;
    // Capabilities stand behind a NUL on the first line.
    const [text = ''] = line.toString('utf8').split('\0', 1);
    const [, oid, name] = /^([0-9a-f]{40}) (\S+)$/.exec(text.trimEnd()) ?? [];
    if (oid !== undefined && name !== undefined && name !== 'capabilities^{}') refs.set(name, oid);
  }
  return refs;
}

/** Whether the body holds any ref: what a refusal must not give away. */
export function showsRefs(answer: Answer): boolean {
  return /[0-9a-f]{40} (HEAD|refs\/)/.test(answer.text);
}

/** The refs of a repository by protocol v2 `ls-refs`, tags peeled. */
export async function listRefs(t: RuleContext, repo: string, recipe: TokenRecipe): Promise<Map<string, string>> {
  return (await listRefsAndHead(t, repo, recipe)).refs;
}

/** The same, with the branch that HEAD stands for. */
export async function listRefsAndHead(t: RuleContext, repo: string, recipe: TokenRecipe): Promise<ListedRefs> {
  const answer = await requestRefs(t, repo, recipe);
  if (answer.status !== 200) throw new AssertionFailure('ls-refs is answered', 200, answer.outcome);
  return inPkts(answer, () => readListedRefs(answer.body));
}

/** Asks for all refs by protocol v2. Without a recipe no `Authorization` header is sent. */
export function requestRefs(
  t: RuleContext,
  repo: string,
  recipe?: TokenRecipe,
  options: RequestOptions = {},
): Promise<Answer> {
  const { body, contentType, protocol, service } = LS_REFS;
  const headers = { 'git-protocol': protocol, ...options.headers };
  return requestGit(t, 'POST', `${gitPath(repo)}/${service}`, recipe, { body, contentType, ...options, headers });
}

function pkts(answer: Answer): PktLine[] {
  return inPkts(answer, () => readPkts(answer.body));
}

function inPkts<Read>(answer: Answer, read: () => Read): Read {
  try {
    return read();
  } catch {
    throw new AssertionFailure('the body is made of pkt-lines', 'pkt-lines', answer.text.slice(0, 80));
  }
}

/**
 * A pack without objects (gitformat-pack): the header with version 2 and no object, then the checksum. What Git sends
 * where the other side has everything.
 */
function emptyPack(): Buffer {
  const header = Buffer.from('PACK\0\0\0\x02\0\0\0\0', 'latin1');
  return Buffer.concat([header, createHash('sha1').update(header).digest()]);
}

/** Branches and tags by their full names, and the commits that they are to stand at. */
export type NewRefs = Readonly<Record<string, string>>;

/**
 * The one request of a push that makes refs at commits which are there already, without the advertisement that a client
 * asks for first: how a service treats the request itself cannot be seen otherwise. Without a recipe no credential is
 * sent.
 */
export function pushRefs(
  t: RuleContext,
  repo: string,
  refs: NewRefs,
  recipe?: TokenRecipe,
  options: RequestOptions = {},
): Promise<Answer> {
  const commands = Object.entries(refs).map(([name, sha], index) =>
    writePkt(`${ZEROS} ${sha} ${name}${index === 0 ? '\0 report-status' : ''}\n`),
  );
  return requestGit(t, 'POST', `${gitPath(repo)}/git-receive-pack`, recipe, {
    body: Buffer.concat([...commands, FLUSH, emptyPack()]),
    contentType: 'application/x-git-receive-pack-request',
    ...options,
  });
}
