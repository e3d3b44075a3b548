import { setTimeout as sleep } from 'node:timers/promises';
import { createSigner, type TokenRecipe } from '../auth/tokens.js';
import { isRecord } from '../http/exchange.js';
import { basic, gitPath } from '../http/git-remote.js';
import type { Report } from '../report/results.js';
import { defined } from '../target/json.js';
import type { Target } from '../target/target.js';
import { withoutDrift } from './drift.js';
import { type Look, look } from './look.js';
import { checkService } from './preflight.js';

/** Result of `probe`: the responses to its requests, and the repository that it read. */
export type Findings = Awaited<ReturnType<typeof probe>>;

/**
 * Routes below `/api/repos/{name}` that the specification does not show and that are known only from published clients.
 * All of them are read without further parameters.
 */
const COMPANION = ['', '/branches', '/tags', '/commits', '/files', '/files/metadata', '/notes/refs'] as const;

/**
 * Sends about a dozen GET requests to a target, one after the other, to find out which parts of the service it
 * supports. `timeout`: milliseconds for one response. `rate`: maximum number of requests per second. Throws `Unready` if
 * the target does not respond or is not the service.
 */
export async function probe(target: Target, { timeout, rate }: { readonly timeout: number; readonly rate: number }) {
  await checkService(target, { timeout });
  const signer = createSigner(target, Date.now);
  const pause = Number.isFinite(rate) ? 1000 / rate : 0;
  const get = async (origin: string, path: string, authorization?: string): Promise<Look> => {
    await sleep(pause);
    return look(origin + path, timeout, defined({ authorization }));
  };
  const ask = (path: string, as: TokenRecipe) => get(target.baseUrl, path, `Bearer ${signer.sign(as)}`);
  const list = await ask('/api/repos?limit=1', { scopes: ['org:read'] });
  const meta = await ask('/api/meta', { scopes: ['org:read'] });
  const anonymous = await get(target.baseUrl, '/api/repos');
  const repo = target.repo ?? firstOf(list.json);
  const reading: TokenRecipe = { scopes: ['git:read'], ...defined({ repo }) };
  const record = repo === undefined ? undefined : await ask('/api/v1/repo', reading);
  const remote = `${gitPath(repo ?? 'conformance-probe')}/info/refs?service=git-upload-pack`;
  const git = await get(target.gitUrl, remote, basic(signer.sign(reading)));
  const companion: [route: string, look: Look][] = [];
  for (const route of repo === undefined ? [] : COMPANION) {
    const look = await ask(`/api/repos/${encodeURIComponent(repo ?? '')}${route}`, reading);
    companion.push([`/api/repos/{name}${route}`, look]);
  }
  const branch = isRecord(record?.json) ? record.json.default_branch : undefined;
  return {
    /** Responses to the request for the list of repositories: `list` with a token, `anonymous` without a token. */
    list,
    anonymous,
    meta,
    git,
    companion,
    /**
     * Name of the repository that the probe read: the given one, otherwise the first of the list. Undefined if the list
     * has no repository.
     */
    repo,
    /**
     * Sorted names of the top-level members of the JSON response that lists repositories; empty if it is not an object.
     */
    envelope: isRecord(list.json) ? Object.keys(list.json).sort() : [],
    branch: typeof branch === 'string' ? branch : undefined,
  };
}

/**
 * Returns the name of the first repository in a response that lists repositories; undefined if none is found. Accepts a
 * list under any member name. Its items can be names or objects with a member `name`, `repo`, `repo_name` or `id`.
 */
function firstOf(json: unknown): string | undefined {
  const lists = [json, ...(isRecord(json) ? Object.values(json) : [])];
  const [first] = lists.find((one): one is unknown[] => Array.isArray(one) && one.length > 0) ?? [];
  if (!isRecord(first)) return typeof first === 'string' ? first : undefined;
  const name = first.name ?? first.repo ?? first.repo_name ?? first.id;
  return typeof name === 'string' ? name : undefined;
}

/**
 * Returns the variants of a report that differ from the responses that the specification supports best, by key. A rule
 * that observed such a variant has the verdict `variant`, and its reason contains the key and the variant. A rule that
 * is broken does not show whether its variants differ, so they are included unless another rule shows that they do not.
 */
export function unusualVariants({ rules, variants }: Report): Record<string, string> {
  const usual = new Set<string>();
  for (const result of rules.map(withoutDrift)) {
    const { verdict, reason = '' } = result;
    for (const [key, member] of Object.entries(result.variants ?? {})) {
      const isUsual = verdict === 'variant' ? !reason.includes(`${key}: ${member}`) : /^(pass|observed)$/.test(verdict);
      if (isUsual) usual.add(`${key}: ${member}`);
    }
  }
  return Object.fromEntries(Object.entries(variants).filter(([key, member]) => !usual.has(`${key}: ${member}`)));
}

/**
 * Ids of the rules that the `probe` command runs to find out how a target behaves where the specification is unclear.
 * They cover every such point that can be determined without writing, with about a hundred requests. A test compares
 * this list with the points that a run of all rules records.
 */
export const CALIBRATION_RULES: readonly string[] = [
  'unrestricted.scopes-still-valid',
  'auth.repo-claim.missing.git-read',
  'auth.repo-claim.missing.git-write',
  'auth.repo-claim.missing.mixed',
  'auth.repo-claim.org-read.repo-route',
  ...['grep', 'filemeta', 'commit', 'archive', 'file', 'branches', 'commits', 'diff', 'git-fetch'].map(
    (operation) => `scope.matrix.${operation}.repo-write`,
  ),
  ...['git-write', 'repo-write', 'org-read'].map((scope) => `scope.matrix.repo.${scope}`),
  'scope.matrix.list-repos.git-read',
  'scope.matrix.meta.git-read',
  'filemeta.err.body',
  'grep.err.404.ref',
  'archive.err.ref',
  'file.err.404.file',
  'file.err.404.ref',
  'commit.get.404.commit',
  'jwt.typ.missing',
  'claim.exp.after-iat',
  'claim.exp.missing-unrestricted',
  'git.missing-repo',
  'authfail.401.scheme-basic',
  'authfail.401.empty-bearer',
  'err.route-not-found.no-auth',
];
