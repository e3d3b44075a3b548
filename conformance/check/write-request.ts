import type { WireRequest } from '../http/client.js';
import { type Exchange, isRecord, jsonOf } from '../http/exchange.js';
import type { Target } from '../target/target.js';
import type { Part } from './repository-view.js';

/**
 * Request that may change repositories, and the parts of them that it may change. Used to check that a refused request
 * changes nothing.
 */
export interface Write {
  /** Names of the repositories that the request may change. They come from its token, path and body. */
  readonly repositories: readonly string[];
  /** Parts of these repositories, such as their refs, that the request may change. */
  readonly parts: readonly Part[];
  /**
   * Returns true if the response accepts the whole write. Otherwise returns the names of the refs that a partly refused
   * push changed. The list is empty if the write was refused completely.
   */
  readonly acceptedBy: (exchange: Exchange) => true | readonly string[];
}

const READING = ['GET', 'HEAD', 'OPTIONS'];
const READING_POST = /\/(grep|archive|git-upload-pack)$/;
/**
 * Paths of writes that change only the content of a repository. Other writes may also change its record (metadata), its
 * upstream, or whether it exists.
 */
const CONTENT =
  /\/(commit-pack|diff-commit|restore-commit|reset-commits|notes|branches\/create|branches|tags(\/[^/]*)?|merge|git-receive-pack)$/;

/**
 * Returns the repositories that a request may change, and how to check them. Returns undefined if the request only
 * reads, names no repository, or is sent to an origin other than the target's.
 */
export function writeOf(request: WireRequest, target: Target): Write | undefined {
  const path = request.path.split('?', 1)[0] ?? '';
  if (READING.includes(request.method) || READING_POST.test(path)) return undefined;
  if (request.origin !== target.baseUrl && request.origin !== target.gitUrl) return undefined;
  const text = textOf(request);
  const repositories = new Set([claimOf(request), nameInPath(path), nameInBody(path, text)].filter(isName));
  if (repositories.size === 0) return undefined;
  return {
    repositories: [...repositories],
    parts: partsOf(path, text),
    acceptedBy: path.endsWith('/git-receive-pack') ? acceptedRefs : isAccepted,
  };
}

function isName(name: unknown): name is string {
  return typeof name === 'string' && name !== '' && name !== 'org';
}

function claimOf({ recipe }: WireRequest): unknown {
  const claims = recipe?.claims;
  return claims !== undefined && 'repo' in claims ? claims.repo : recipe?.repo;
}

const IN_API_PATH = /^\/api\/repos\/([^/]+)/;
const IN_GIT_PATH = /^\/(.+?)(\+\w+)?(?:\.git)?\/git-receive-pack$/;

function nameInPath(path: string): string | undefined {
  const [, name] = IN_API_PATH.exec(path) ?? IN_GIT_PATH.exec(path) ?? [];
  try {
    return name && decodeURIComponent(name);
  } catch {
    return undefined;
  }
}

function nameInBody(path: string, text: string): string | undefined {
  if (!/\/repos$/.test(path)) return undefined;
  return /"repo_name"\s*:\s*"([^"\\]+)"/.exec(text)?.[1];
}

/** Returns the first 16 KiB of the request body as text. Repository and branch names are searched in this part only. */
function textOf({ body }: WireRequest): string {
  return body === undefined ? '' : body.toString('latin1', 0, 16 * 1024);
}

function partsOf(path: string, text: string): Part[] {
  const parts: Part[] = ['refs'];
  if (!CONTENT.test(path)) parts.push('record');
  if (path.endsWith('/notes')) parts.push('notes');
  if (path.endsWith('/deployments')) parts.push('deployments');
  if (/"\w*ephemeral\w*"\s*:\s*true/.test(text)) {
    const branch = /"target_branch"\s*:\s*"([^"\\]+)"/.exec(text)?.[1];
    if (branch !== undefined) parts.push(`ephemeral ${branch}`);
  }
  return parts;
}

/**
 * Statuses that do not show whether the write was carried out, because the client or the server gave up waiting. A
 * change of the repository is then not a failure.
 */
const UNDECIDED = [408, 499];

function isAccepted(exchange: Exchange): true | readonly string[] {
  const { status } = exchange;
  if (status >= 400) return status > 499 || UNDECIDED.includes(status) ? true : [];
  const body = jsonOf(exchange);
  return isRecord(body) && isRecord(body.result) && body.result.success === false ? [] : true;
}

/**
 * Returns true if a push was accepted completely. Otherwise returns the names of the accepted refs. Git reports each
 * ref in the body of a 200 response, as `ok <ref>` or `ng <ref> reason` (report-status in gitprotocol-pack).
 */
function acceptedRefs(exchange: Exchange): true | readonly string[] {
  if (exchange.status !== 200) return isAccepted(exchange);
  const text = exchange.body.toString('latin1');
  if (!/ng \S+ /.test(text) && /unpack ok/.test(text)) return true;
  return Array.from(text.matchAll(/ok (refs\/[^\s\0]+)/g), ([, ref = '']) => ref);
}
