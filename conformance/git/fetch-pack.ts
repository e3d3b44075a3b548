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

/** Request for a pack. A rule writes it without a Git client, to control the protocol version and the `have` lines. */
export interface PackRequest {
  readonly version: ProtocolVersion;
  /** SHAs of the wanted objects. */
  readonly wants: readonly string[];
  /** SHAs of commits that the client has, including their ancestors. */
  readonly haves?: readonly string[];
  /** True to compress the request body with gzip, as Git does above 1 KiB. */
  readonly gzip?: boolean;
}

/** Sends the `git-upload-pack` request of a fetch, which asks for a pack. It is the second request of a fetch. */
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
/** Side-band number of packets that contain bytes of the pack (gitprotocol-pack). */
const PACK_BAND = 1;

/**
 * Returns the pack from a fetch response. Throws `AssertionFailure` if the response contains no pack, for example
 * because the server reports an error.
 */
export function readPack(response: ApiResponse, version: ProtocolVersion): Buffer {
  const pack = version === 2 ? packOfVersion2(response.body) : packOfVersion0(response.body);
  if (response.status === 200 && pack?.toString('latin1', 0, 4) === PACK_SIGNATURE) return pack;
  const actual = response.status === 200 ? response.text.slice(0, 80) : response.outcome;
  throw new AssertionFailure(`a fetch in protocol version ${version} must get a pack`, 'a pack', actual);
}

/**
 * Returns the pack from a response of protocol version 0 or 1. Acknowledgment lines come first. The pack follows
 * without side-band, because the request does not ask for side-band. Returns undefined if there is no pack.
 */
function packOfVersion0(body: Buffer): Buffer | undefined {
  const start = body.indexOf(PACK_SIGNATURE);
  return start < 0 ? undefined : body.subarray(start);
}

/**
 * Returns the pack from a response of protocol version 2. It is in the packets of band 1 after the line `packfile`.
 * Returns undefined if there is no pack.
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
