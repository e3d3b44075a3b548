import { type ByteString, bytesIn, bytesOf, joinBytes, NO_BYTES, sliceBytes, splitBytes } from './bytes.js';
import { type Identity, parseIdentity, writeIdentity } from './identity.js';
import { MalformedObject } from './malformed-object.js';
import { COMMIT, isOid, type ObjectReader, type Oid, readAs } from './object.js';
import { decodeText, reencode } from './text-encoding.js';

export interface Commit {
  readonly tree: Oid;
  readonly parents: readonly Oid[];
  readonly author: Identity;
  readonly committer: Identity;
  /** Text of the commit after the headers and the empty line, unchanged. */
  readonly message: string;
  /**
   * Character encoding of the message, from the `encoding` header; undefined if the header is absent. `writeCommit`
   * always writes UTF-8 without this header.
   */
  readonly encoding?: string;
  /** ASCII-armored signature of the commit from its `gpgsig` header, without a final line feed; undefined if absent. */
  readonly signature?: string;
  /** All other headers in the order of the commit, such as `mergetag` and `change-id`. */
  readonly extra?: readonly (readonly [name: string, value: string])[];
}

/** Fields of a commit that a history walk needs. Times are in seconds since 1970. */
export interface CommitLinks {
  readonly tree: Oid;
  readonly parents: Oid[];
  readonly authoredAt: number;
  readonly committedAt: number;
}

const LF = 0x0a;
const TREE_LINE = 'tree '.length + 41;
const PARENT_LINE = 'parent '.length + 41;

export function readCommit(objects: ObjectReader, oid: Oid): Commit {
  return parseCommit(readAs(objects, oid, COMMIT));
}

/**
 * Parses the body of a commit object:
 *
 *     tree <oid>
 *     parent <oid>            (none, one or more)
 *     author <identity>
 *     committer <identity>
 *     <name> <value>          (a line that starts with a space continues the value)
 *     <empty line>
 *     <message>
 *
 * Only the `tree` and `parent` lines must be well-formed, as in Git. Throws `MalformedObject` if they are not.
 */
export function parseCommit(body: Buffer): Commit {
  const { tree, parents, end } = parseLinks(body);
  const text = bytesIn(body, end - 1);
  const fields = parseFields(text);
  const { encoding } = fields;
  const utf8 = encoding === undefined ? undefined : reencode(text, encoding);
  return { tree, parents, ...(utf8 === undefined ? fields : { ...parseFields(utf8), encoding: encoding! }) };
}

/**
 * Parses the part of a commit after its `tree` and `parent` lines. The first character of `text` is the line feed
 * before this part.
 */
function parseFields(text: ByteString): Omit<Commit, 'tree' | 'parents'> {
  const split = text.indexOf('\n\n');
  const headers = parseHeaders(sliceBytes(text, 1, split < 0 ? text.length : Math.max(1, split)));
  let author = NO_BYTES;
  let committer = NO_BYTES;
  let encoding: string | undefined;
  const signatures: ByteString[] = [];
  const extra: [ByteString, ByteString][] = [];
  for (const [name, value] of headers) {
    if (name === 'author') author ||= value;
    else if (name === 'committer') committer ||= value;
    else if (name === 'encoding') encoding ??= value;
    else if (name === 'gpgsig') signatures.push(value);
    else extra.push([name, value]);
  }
  return {
    author: parseIdentity(author),
    committer: parseIdentity(committer),
    message: split < 0 ? '' : decodeText(sliceBytes(text, split + 2)),
    ...(encoding !== undefined && { encoding }),
    ...(signatures.length > 0 && { signature: decodeText(joinBytes(signatures, '\n')) }),
    ...(extra.length > 0 && { extra: extra.map(([name, value]) => [name, decodeText(value)] as const) }),
  };
}

/**
 * Returns the header lines of a commit or tag as pairs of name and value, in order. A line that starts with a space
 * continues the previous value.
 */
export function parseHeaders(text: ByteString): [name: ByteString, value: ByteString][] {
  const headers: [ByteString, ByteString[]][] = [];
  for (const line of splitBytes(text, '\n')) {
    const last = headers.at(-1);
    if (line.startsWith(' ') && last) last[1].push(sliceBytes(line, 1));
    else if (line !== '') {
      const space = line.indexOf(' ');
      headers.push(space < 0 ? [line, [NO_BYTES]] : [sliceBytes(line, 0, space), [sliceBytes(line, space + 1)]]);
    }
  }
  return headers.map(([name, lines]) => [name, joinBytes(lines, '\n')]);
}

/**
 * Returns the body of a commit object, encoded in UTF-8. NULs in the message are removed, because Git does not allow
 * them.
 */
export function writeCommit(commit: Omit<Commit, 'encoding'>): Buffer {
  const lines = [`tree ${commit.tree}`];
  for (const parent of commit.parents) lines.push(`parent ${parent}`);
  lines.push(`author ${writeIdentity(commit.author)}`, `committer ${writeIdentity(commit.committer)}`);
  for (const [name, value] of commit.extra ?? []) lines.push(writeHeader(name, value));
  if (commit.signature !== undefined) lines.push(writeHeader('gpgsig', commit.signature));
  return Buffer.from(`${lines.join('\n')}\n\n${bytesOf(commit.message.replaceAll('\0', ''))}`, 'latin1');
}

function writeHeader(name: string, value: string): ByteString {
  return bytesOf(`${name} ${value.replaceAll('\n', '\n ')}`);
}

/**
 * Parses the tree, the parents and the times of a commit, without decoding text. Throws `MalformedObject` if the `tree`
 * or a `parent` line is malformed.
 */
export function commitLinks(body: Buffer): CommitLinks {
  const { tree, parents } = parseLinks(body);
  return { tree, parents, ...commitTimes(body, parents.length) };
}

/**
 * Parses the author time and the committer time of a commit. `parents` is the number of its parents, from which the
 * start of the author line is computed.
 */
export function commitTimes(body: Buffer, parents: number): Pick<CommitLinks, 'authoredAt' | 'committedAt'> {
  const start = TREE_LINE + parents * PARENT_LINE;
  const authorEnd = lineEnd(body, start);
  return {
    authoredAt: secondsOf(body, start, authorEnd),
    committedAt: secondsOf(body, authorEnd + 1, lineEnd(body, authorEnd + 1)),
  };
}

function parseLinks(body: Buffer): { tree: Oid; parents: Oid[]; end: number } {
  if (body.toString('latin1', 0, 5) !== 'tree ' || body[TREE_LINE - 1] !== LF) {
    throw new MalformedObject('commit', 'no tree line');
  }
  const tree = oidAt(body, 5);
  const parents: Oid[] = [];
  let end = TREE_LINE;
  // A `parent` line that the end of the body cuts off is ignored, as in Git. The first half of the loop condition
  // ensures this.
  for (; end + PARENT_LINE <= body.length && startsParent(body, end); end += PARENT_LINE) {
    if (body[end + PARENT_LINE - 1] !== LF) throw new MalformedObject('commit', 'bad parent line');
    parents.push(oidAt(body, end + 7));
  }
  return { tree, parents, end };
}

function startsParent(body: Buffer, at: number): boolean {
  // Comparing the first byte (`p`) separately is fast. No other header that Git writes begins with a `p`.
  return body[at] === 0x70 && body.toString('latin1', at, at + 7) === 'parent ';
}

function oidAt(body: Buffer, at: number): Oid {
  const oid = body.toString('latin1', at, at + 40).toLowerCase();
  if (!isOid(oid)) throw new MalformedObject('commit', 'bad object id');
  return oid;
}

function lineEnd(body: Buffer, start: number): number {
  const end = body.indexOf(LF, start);
  return end < 0 ? body.length : end;
}

/**
 * Returns the time in seconds of the author or committer line from `start` to `end` (exclusive). The time is the number
 * after the last `>`. Returns 0 if there is no number.
 */
function secondsOf(body: Buffer, start: number, end: number): number {
  let at = end - 1;
  while (at >= start && body[at] !== 0x3e) at--;
  if (at < start) return 0;
  do at++;
  while (body[at] === 0x20);
  let seconds = 0;
  for (; at < end && isDigit(body[at]!); at++) seconds = seconds * 10 + body[at]! - 0x30;
  return Number.isSafeInteger(seconds) ? seconds : 0;
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

/**
 * Returns the signed bytes of a commit: its body without the `gpgsig` and `gpgsig-sha256` headers, as in Git. Returns
 * `body` itself if it has no such header.
 */
export function payloadOf(body: Buffer): Buffer {
  const kept: Buffer[] = [];
  let keptFrom = 0;
  let skipping = false;
  let at = 0;
  while (at < body.length && body[at] !== LF) {
    const next = Math.min(lineEnd(body, at) + 1, body.length);
    const skip: boolean = body[at] === 0x20 ? skipping : isSignatureHeader(body, at);
    if (skip !== skipping) {
      if (skip) kept.push(body.subarray(keptFrom, at));
      else keptFrom = at;
      skipping = skip;
    }
    at = next;
  }
  if (skipping) keptFrom = at;
  if (kept.length === 0) return body;
  kept.push(body.subarray(keptFrom));
  return Buffer.concat(kept);
}

function isSignatureHeader(body: Buffer, at: number): boolean {
  return body[at] === 0x67 && /^gpgsig(?:-sha256)? /.test(body.toString('latin1', at, at + 14));
}
