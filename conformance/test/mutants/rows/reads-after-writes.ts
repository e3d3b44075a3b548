import { isRecord } from '../../../http/exchange.js';
import { type Mutant, proxied } from '../mutant.js';
import { ARCHIVE, FILE, GREP, META } from '../places.js';
import type { ProxiedRequest, ProxiedResponse, Rewrite } from '../proxy.js';
import { isAt } from '../rewrites.js';

/** Returns the claim `repo` of the token in a request. Undefined if the token is not a valid JWT. */
function repositoryOf({ headers }: ProxiedRequest): unknown {
  const [, payload = ''] = String(headers.authorization).split('.');
  try {
    return JSON.parse(Buffer.from(payload, 'base64url').toString()).repo;
  } catch {
    return undefined;
  }
}

/** Returns the `ref` of a request, from the body or the query. Undefined if absent. */
function refOf({ path, body }: ProxiedRequest): unknown {
  if (body.length === 0) return new URLSearchParams(path.split('?')[1]).get('ref') ?? undefined;
  const json: unknown = JSON.parse(body.toString());
  return isRecord(json) ? json.ref : undefined;
}

/**
 * Makes the server repeat an outdated response, like a cache. It repeats the first response (200 or 404) to each
 * request at `place` for which `isCached` returns true. A request whose path ends with `emptiedBy` clears the cache of
 * its repository.
 */
function repeatsResponses(
  place: string,
  isCached: (request: ProxiedRequest, response: ProxiedResponse) => boolean,
  emptiedBy = 'nothing',
): Rewrite {
  const caches = new Map<unknown, Map<string, { status: number; body: Buffer }>>();
  return {
    response: (response) => {
      const request = response.request as ProxiedRequest;
      const repository = repositoryOf(request);
      if (request.path.endsWith(emptiedBy)) caches.delete(repository);
      if (!isAt(place, request) || (response.status !== 200 && response.status !== 404)) return;
      const cache = caches.get(repository) ?? new Map();
      caches.set(repository, cache);
      const key = `${request.path} ${request.body}`;
      const { status, body } = response;
      const kept = cache.get(key);
      if (kept === undefined) cache.set(key, { status, body });
      else if (isCached(request, response)) {
        response.status = kept.status;
        response.body = kept.body;
      }
    },
  };
}

const ROUTES = [
  ['grep', GREP],
  ['archive', ARCHIVE],
  ['file', FILE],
  ['filemeta', META],
] as const;

export const rows: readonly Mutant[] = [
  ...ROUTES.flatMap(([route, place]) => [
    proxied(
      `${route}-keeps-the-default-branch-as-first-read`,
      `${route}.after-write#default-branch`,
      'keeps its first response about the default branch',
      repeatsResponses(place, (request) => refOf(request) === undefined, '/restore-commit'),
    ),
    proxied(
      `${route}-keeps-other-branches-as-first-read`,
      `${route}.after-write#branch`,
      'keeps its first response about a branch that is named',
      repeatsResponses(place, (request) => refOf(request) !== undefined),
    ),
    proxied(
      `${route}-does-not-notice-a-restore`,
      `${route}.after-write#restore`,
      'empties its cache after a commit, but not after a restore',
      repeatsResponses(place, () => true, '/commit-pack'),
    ),
    proxied(
      `${route}-reads-the-tip-for-an-older-commit`,
      `${route}.after-write#sha`,
      'reads the default branch in place of a commit that is not a tip any more',
      {
        request: (request) => {
          if (!isAt(place, request) || !/^[0-9a-f]{40}$/.test(String(refOf(request)))) return;
          request.path = request.path.replace(/[?&]ref=[0-9a-f]{40}/, (all) => (all.startsWith('?') ? '?' : ''));
          request.body = Buffer.from(request.body.toString().replace(/,?"ref":"[0-9a-f]{40}"/, ''));
        },
      },
    ),
  ]),
  proxied(
    'file-reads-deleted-files',
    'file.after-write#deleted',
    'still reads files that a commit deleted',
    repeatsResponses(FILE, (_request, { status }) => status === 404),
  ),
  proxied('file-calls-any-etag-current', 'file.after-write.etag', 'answers 304 to each request with If-None-Match', {
    response: (response) => {
      const { headers } = response.request as ProxiedRequest;
      if (!isAt(FILE, response.request) || headers['if-none-match'] === undefined) return;
      response.status = 304;
      response.body = Buffer.alloc(0);
    },
  }),
  proxied('filemeta-lists-deleted-files', 'filemeta.after-write#deleted', 'still lists files that a commit deleted', {
    ...keepsItems(META, 'files'),
  }),
  proxied('grep-finds-deleted-files', 'grep.after-write#deleted', 'still finds lines of files that a commit deleted', {
    ...keepsItems(GREP, 'matches'),
  }),
];

/**
 * Makes the server list items that no longer exist. It adds items of earlier responses to each list if their path is
 * missing.
 */
function keepsItems(place: string, name: 'files' | 'matches'): Rewrite {
  const lists = new Map<string, Map<string, unknown>>();
  return {
    response: (response) => {
      const request = response.request as ProxiedRequest;
      if (!isAt(place, request) || response.status !== 200 || refOf(request) !== undefined) return;
      const key = `${repositoryOf(request)} ${request.body}`;
      const body: Record<typeof name, { path: string }[]> = JSON.parse(response.body.toString());
      const seen = lists.get(key) ?? new Map();
      lists.set(key, seen);
      for (const item of body[name]) seen.set(item.path, item);
      body[name] = [...seen.values()] as { path: string }[];
      response.body = Buffer.from(JSON.stringify(body));
    },
  };
}
