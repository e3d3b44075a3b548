import { gzipSync } from 'node:zlib';
import type { TokenRecipe } from '../auth/tokens.js';
import type { ApiResponse } from '../check/api-response.js';
import { AssertionFailure } from '../check/outcomes.js';
import type { RequestOptions, RuleContext } from '../check/rule-context.js';
import { gitPath } from '../http/git-remote.js';
import { DELIMITER, FLUSH, type PktLine, readPkts, writePkt } from '../http/pkt-line.js';
import { requestGit } from './refs.js';

/** Versions of the Git protocol. Version 1 differs from version 0 only in the ref advertisement. */
export type ProtocolVersion = 0 | 1 | 2;

/** Fetch request, written without a Git client so that a rule controls its version and its `have` lines. */
export interface PackRequest {
  readonly version: ProtocolVersion;
  /** SHAs of the wanted objects. */
  readonly wants: readonly string[];
  /** SHAs of commits that the client has, with their history. */
  readonly haves?: readonly string[];
  /** True if the request body is compressed with gzip, as Git does with a body above 1 KiB. */
  readonly gzip?: boolean;
}

/** Sends the second request of a fetch (`git-upload-pack`), which asks for a pack. */
export function requestPack(
  t: RuleContext,
  repo: string,
  { version, wants, haves = [], gzip = false }: PackRequest,
  recipe: TokenRecipe,
  options: RequestOptions = {},
): Promise<ApiResponse> {
  const wanted = wants.map((sha) => writePkt(`want ${sha}\n`));
  const known = haves.map((sha) => writePkt(`have ${sha}\n`));
  const done = writePkt('done\n');
  const body = Buffer.concat(
    version === 2
      ? [writePkt('command=fetch\n'), DELIMITER, ...wanted, ...known, done, FLUSH]
      : [...wanted, FLUSH, ...known, done],
  );
  const headers = {
    ...(version === 0 ? {} : { 'git-protocol': `version=${version}` }),
    ...(gzip ? { 'content-encoding': 'gzip' } : {}),
  };
  return requestGit(t, 'POST', `${gitPath(repo)}/git-upload-pack`, recipe, {
    body: gzip ? gzipSync(body) : body,
    contentType: 'application/x-git-upload-pack-request',
    ...options,
    headers,
  });
}

const PACK_SIGNATURE = 'PACK';
/** Band of a side-band packet that contains bytes of the pack (gitprotocol-pack). */
const PACK_BAND = 1;

/**
 * Returns the pack in the response to a fetch request. Throws `AssertionFailure` if the response contains none, for
 * example because the server reports an error.
 */
export function readPack(response: ApiResponse, version: ProtocolVersion): Buffer {
  const pack = version === 2 ? packOfVersion2(response.body) : packOfVersion0(response.body);
  if (response.status === 200 && pack?.toString('latin1', 0, 4) === PACK_SIGNATURE) return pack;
  const actual = response.status === 200 ? response.text.slice(0, 80) : response.outcome;
  throw new AssertionFailure(`a fetch in protocol version ${version} must get a pack`, 'a pack', actual);
}

/**
 * Returns the pack of a response of protocol version 0 or 1: acknowledgment lines, then the pack without side-band,
 * because the request does not choose it. Returns undefined if there is none.
 */
function packOfVersion0(body: Buffer): Buffer | undefined {
  const start = body.indexOf(PACK_SIGNATURE);
  return start < 0 ? undefined : body.subarray(start);
}

/**
 * Returns the pack of a response of protocol version 2: the packets after the line `packfile`, of which those of band 1
 * contain the pack. Returns undefined if there is none.
 */
function packOfVersion2(body: Buffer): Buffer | undefined {
  let lines: PktLine[];
  try {
    lines = readPkts(body);
  } catch {
    return undefined;
  }
  const start = lines.findIndex((line) => line.toString().trimEnd() === 'packfile');
  const bands = lines.slice(start + 1).filter((line) => typeof line !== 'string' && line[0] === PACK_BAND);
  return start < 0 ? undefined : Buffer.concat(bands.map((line) => (line as Buffer).subarray(1)));
}
