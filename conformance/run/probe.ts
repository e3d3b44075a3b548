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

/** Result of `probe`: the responses to its requests, and the name of the repository that it read. */
export type Findings = Awaited<ReturnType<typeof probe>>;

/**
 * Routes below `/api/repos/{name}` that are known only from published clients; the specification does not show them.
 * They are read without parameters.
 */
const COMPANION = ['', '/branches', '/tags', '/commits', '/files', '/files/metadata', '/notes/refs'] as const;

/**
 * Finds out which parts of the service a target supports. Sends about a dozen GET requests, one after the other. Throws
 * `Unready` if the target does not respond or is not the service.
 *
 * - `timeout`: maximum milliseconds for one response.
 * - `rate`: maximum number of requests per second.
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
    /** Responses to the request for the list of repositories. `list` is with a token, `anonymous` without one. */
    list,
    anonymous,
    meta,
    git,
    companion,
    /**
     * Name of the repository that the probe read: the given one, or else the first in the list. Undefined if the list
     * is empty.
     */
    repo,
    /**
     * Sorted names of the top-level members of the repository list response. Empty if the response is not a JSON
     * object.
     */
    envelope: isRecord(list.json) ? Object.keys(list.json).sort() : [],
    branch: typeof branch === 'string' ? branch : undefined,
  };
}

/**
 * Returns the name of the first repository in a repository list response. Returns undefined if none is found. The list
 * may have any member name. Its items may be names, or objects with a member `name`, `repo`, `repo_name` or `id`.
 */
function firstOf(json: unknown): string | undefined {
  const lists = [json, ...(isRecord(json) ? Object.values(json) : [])];
  const [first] = lists.find((one): one is unknown[] => Array.isArray(one) && one.length > 0) ?? [];
  if (!isRecord(first)) return typeof first === 'string' ? first : undefined;
  const name = first.name ?? first.repo ?? first.repo_name ?? first.id;
  return typeof name === 'string' ? name : undefined;
}

/**
 * Returns the unusual variants of a report, by key. A usual variant is the response that the specification supports
 * best. A rule that observed an unusual variant has the verdict `variant`, with key and variant in its reason.
 *
 * A broken rule does not show which of its variants are unusual. All of them are therefore included, unless another
 * rule shows that they are usual.
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
 * Ids of the rules that `probe` runs to find out how a target behaves where the specification is unclear. They need
 * about a hundred requests and cover every such point that can be determined without writing. A test compares this list
 * with the points that a run of all rules records.
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
