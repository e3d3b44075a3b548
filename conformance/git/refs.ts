import type { TokenRecipe } from '../auth/tokens.js';
import type { Answer } from '../check/answer.js';
import { AssertionFailure } from '../check/outcomes.js';
import type { RequestOptions, RuleContext } from '../check/rule-context.js';
import { DELIMITER, FLUSH, type PktLine, readPkts, writePkt } from './pkt-line.js';

export type Service = 'git-upload-pack' | 'git-receive-pack';

/** Basic credentials as Git sends them: the user name of the documented remote, the token as password. */
export function basic(token: string, user = 't'): string {
  return `Basic ${Buffer.from(`${user}:${token}`).toString('base64')}`;
}

/** The path of a repository on the Git host. A slash in the name stays a slash. */
export function gitPath(repo: string): string {
  return `/${repo.split('/').map(encodeURIComponent).join('/')}.git`;
}

/** Asks for the refs of a repository, protocol v0. Without a recipe no `Authorization` header is sent. */
export async function advertise(
  t: RuleContext,
  path: string,
  recipe?: TokenRecipe,
  service: Service = 'git-upload-pack',
  options: RequestOptions & { readonly user?: string } = {},
): Promise<Answer> {
  const token = recipe === undefined ? undefined : t.token(recipe);
  return t.get(`${path}/info/refs?service=${service}`, {
    origin: t.target.gitUrl,
    git: true,
    recipe,
    ...options,
    headers: { ...(token === undefined ? {} : { authorization: basic(token, options.user) }), ...options.headers },
  });
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
  const token = t.token(recipe);
  const body = Buffer.concat([
    writePkt('command=ls-refs\n'),
    DELIMITER,
    writePkt('peel\n'),
    writePkt('symrefs\n'),
    FLUSH,
  ]);
  const answer = await t.post(`${gitPath(repo)}/git-upload-pack`, {
    origin: t.target.gitUrl,
    git: true,
    recipe,
    body,
    contentType: 'application/x-git-upload-pack-request',
    headers: { authorization: basic(token), 'git-protocol': 'version=2' },
  });
  if (answer.status !== 200) throw new AssertionFailure('ls-refs is answered', 200, answer.outcome);
  const refs = new Map<string, string>();
  for (const line of pkts(answer)) {
    if (typeof line === 'string') continue;
    const [oid = '', name = '', ...attributes] = line.toString('utf8').trimEnd().split(' ');
    if (!/^[0-9a-f]{40}$/.test(oid)) continue;
    refs.set(name, oid);
    for (const attribute of attributes) {
      if (attribute.startsWith('peeled:')) refs.set(`${name}^{}`, attribute.slice('peeled:'.length));
    }
  }
  return refs;
}

function pkts(answer: Answer): PktLine[] {
  try {
    return readPkts(answer.body);
  } catch {
    throw new AssertionFailure('the body is made of pkt-lines', 'pkt-lines', answer.text.slice(0, 80));
  }
}
