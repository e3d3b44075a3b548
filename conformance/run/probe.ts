import { setTimeout as sleep } from 'node:timers/promises';
import { createSigner, type TokenRecipe } from '../auth/tokens.js';
import { isRecord } from '../http/exchange.js';
import { basic, gitPath } from '../http/git-remote.js';
import { defined } from '../target/json.js';
import type { Target } from '../target/target.js';
import { type Look, look } from './look.js';

/** Result of a probe. */
export type Findings = Awaited<ReturnType<typeof probe>>;

/** Routes that are known only from published clients, and that can be read without further parameters. */
const COMPANION = ['', '/branches', '/tags', '/commits', '/files', '/files/metadata', '/notes/refs'] as const;

/**
 * Probes a target with about a dozen consecutive GET requests. `timeout`: milliseconds for one response. `rate`:
 * requests per second.
 */
export async function probe(target: Target, { timeout, rate }: { readonly timeout: number; readonly rate: number }) {
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
    /** List of repositories, requested with and without a token. */
    list,
    anonymous,
    meta,
    git,
    companion,
    /** Repository to read: the one given, otherwise the first of the list. */
    repo,
    /** Names of the members of the response that lists repositories. */
    envelope: isRecord(list.json) ? Object.keys(list.json).sort() : [],
    branch: typeof branch === 'string' ? branch : undefined,
  };
}

/** Returns the name of the first repository in the response, whatever the name of the list. */
function firstOf(json: unknown): string | undefined {
  const lists = [json, ...(isRecord(json) ? Object.values(json) : [])];
  const [first] = lists.find((one): one is unknown[] => Array.isArray(one) && one.length > 0) ?? [];
  if (!isRecord(first)) return typeof first === 'string' ? first : undefined;
  const name = first.name ?? first.repo ?? first.repo_name ?? first.id;
  return typeof name === 'string' ? name : undefined;
}

/**
 * Rules that send about a hundred read requests, and determine every open point of the specification that can be
 * determined by reading. A test compares the list with what a whole run records.
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
  'authfail.401.empty-bearer',
  'err.route-not-found.no-auth',
];
