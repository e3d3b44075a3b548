import { bytesOf } from '../git/object/bytes.js';
import { DELIM, FLUSH, packet } from '../smart-http/pkt-line.js';

const AGENT = 'agent=git/2.39.5';

const packetOf = (text: string): Buffer => packet(bytesOf(text));

/** gitprotocol-v2: command, capabilities, delimiter, arguments, flush. */
function request(command: string, args: readonly string[]): Buffer {
  const head = [`command=${command}\n`, `${AGENT}\n`, 'object-format=sha1\n'].map(packetOf);
  return Buffer.concat([...head, DELIM, ...args.map((arg) => packetOf(`${arg}\n`)), FLUSH]);
}

/** What git asks for before a clone. */
export function lsRefsRequest(): Buffer {
  return request('ls-refs', [
    'peel',
    'symrefs',
    'unborn',
    'ref-prefix HEAD',
    'ref-prefix refs/heads/',
    'ref-prefix refs/tags/',
  ]);
}

export interface FetchQuestion {
  readonly wants: readonly string[];
  readonly haves?: readonly string[];
  readonly depth?: number;
  readonly filter?: string;
}

/** What git sends when it has nothing more to say; the answer is the pack. */
export function fetchRequest({ wants, haves = [], depth, filter }: FetchQuestion): Buffer {
  return request('fetch', [
    'thin-pack',
    'no-progress',
    'include-tag',
    'ofs-delta',
    ...(depth === undefined ? [] : [`deepen ${depth}`]),
    ...(filter === undefined ? [] : [`filter ${filter}`]),
    ...wants.map((oid) => `want ${oid}`),
    ...haves.map((oid) => `have ${oid}`),
    'done',
  ]);
}
