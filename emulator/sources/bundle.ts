import { type ByteString, bytesIn } from '../git/object/bytes.js';
import { isOid, type Oid } from '../git/object/object.js';
import { isRefName } from '../git/refs/ref-name.js';
import { SourceError } from './file-tree.js';
import { type HistorySource, isTaken, type SourceRef } from './history-source.js';

const MAX_HEADER = 64 * 1024 * 1024;

/**
 * Opens a bundle (file with refs and a pack, gitformat-bundle), from which a repository is filled. `read`: returns the
 * bytes of the bundle from the start. The format is:
 *
 *     bundle    = signature *capability *prerequisite *reference LF pack
 *     signature = "# v2 git bundle" LF  /  "# v3 git bundle" LF
 *     capability   = "@" key ["=" value] LF          (version 3)
 *     prerequisite = "-" obj-id SP comment LF
 *     reference    = obj-id SP refname LF
 *
 * Throws `SourceError` if the bundle is malformed, or if it has prerequisites (commits that it does not contain).
 */
export async function openBundle(title: string, read: () => AsyncIterable<Buffer>): Promise<HistorySource> {
  const { lines, length } = await readHeader(title, read());
  const [signature = '', ...rest] = lines;
  const version = /^# v([23]) git bundle$/.exec(signature)?.[1];
  if (version === undefined) throw new SourceError(`${title} is not a Git bundle of version 2 or 3.`);
  const refs: SourceRef[] = [];
  let head: HistorySource['head'];
  for (const line of rest) {
    if (line.startsWith('@') && version === '3') refuseCapability(title, line);
    else if (line.startsWith('-')) {
      throw new SourceError(
        `${title} lacks commits that it requires (${line.slice(1, 41)}). Create the bundle with git bundle create FILE --all.`,
      );
    } else {
      const { name, oid } = readReference(title, line);
      if (name === 'HEAD') head = { oid };
      else if (isRefName(name) && isTaken(name)) refs.push({ name, oid });
    }
  }
  const at = head;
  const branch = at && 'oid' in at ? branchAt(refs, at.oid) : undefined;
  return {
    title,
    refs,
    head: branch === undefined ? head : { symref: branch },
    async *packs() {
      yield after(read(), length);
    },
  };
}

function refuseCapability(title: string, line: string): void {
  if (line === '@object-format=sha1') return;
  if (line.startsWith('@object-format='))
    throw new SourceError(`${title} does not use SHA-1, the only supported object format.`);
  throw new SourceError(`${title} requires the capability ${JSON.stringify(line)}, which is not supported.`);
}

function readReference(title: string, line: ByteString): { name: ByteString; oid: Oid } {
  const oid = line.slice(0, 40);
  if (!isOid(oid) || line[40] !== ' ')
    throw new SourceError(`${title} has a header line without an object id and a ref name, so it is damaged.`);
  return { oid, name: line.slice(41) as ByteString };
}

/**
 * Returns the branch to which HEAD of the bundled repository probably pointed, because a bundle records only HEAD's
 * commit: a branch at this commit, preferably `main` or `master`.
 */
function branchAt(refs: readonly SourceRef[], oid: Oid): ByteString | undefined {
  const candidates = refs
    .filter((ref) => ref.oid === oid && ref.name.startsWith('refs/heads/'))
    .map(({ name }) => name);
  return candidates.find((name) => name === 'refs/heads/main' || name === 'refs/heads/master') ?? candidates[0];
}

async function readHeader(
  title: string,
  pieces: AsyncIterable<Buffer>,
): Promise<{ lines: ByteString[]; length: number }> {
  let gathered = Buffer.alloc(0);
  for await (const piece of pieces) {
    gathered = Buffer.concat([gathered, piece]);
    if (!'# v'.startsWith(gathered.toString('latin1', 0, 3))) break;
    const end = gathered.indexOf('\n\n');
    if (end >= 0) return { lines: bytesIn(gathered, 0, end).split('\n') as ByteString[], length: end + 2 };
    if (gathered.length > MAX_HEADER)
      throw new SourceError(`The header of ${title} is longer than ${MAX_HEADER} bytes, the maximum.`);
  }
  throw new SourceError(`${title} is not a Git bundle, or its header is truncated.`);
}

async function* after(pieces: AsyncIterable<Buffer>, length: number): AsyncGenerator<Buffer> {
  let left = length;
  for await (const piece of pieces) {
    if (left < piece.length) yield piece.subarray(left);
    left = Math.max(0, left - piece.length);
  }
}
