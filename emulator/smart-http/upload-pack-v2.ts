import { type ByteString, bytesOf, latin1, sliceBytes, textOf } from '../git/object/bytes.js';
import { isOid, type Oid } from '../git/object/object.js';
import { Meter } from '../schedule/meter.js';
import { COMMANDS, type Command, checkObjectFormat } from './capabilities.js';
import {
  asksForDepth,
  emptyRequest,
  type FetchRequest,
  findShallowBoundary,
  Negotiation,
  NO_ANSWER,
  readDepthLine,
  readFilter,
  readWant,
  splitLine,
  type UploadPackRequest,
  type UploadPackResponse,
  writeShallowBoundary,
} from './fetch-request.js';
import { type GitFacts, note } from './git-facts.js';
import { DELIM, FLUSH, lineText, type PacketReader, ProtocolError, packet } from './pkt-line.js';
import type { LsRefsOptions } from './ref-listings.js';
import { type RepositoryView, resolveVisible } from './view.js';

const SIZE = bytesOf('size');
const ACKNOWLEDGMENTS = bytesOf('acknowledgments');
const NAK = bytesOf('NAK');
const READY = bytesOf('ready');
const SHALLOW_INFO = packet(bytesOf('shallow-info\n'));
const WANTED_REFS = packet(bytesOf('wanted-refs\n'));
const PACKFILE = packet(bytesOf('packfile\n'));

/** Maximum number of `ref-prefix` lines. Above it, all of them are ignored and all refs are listed, as in Git. */
const MAX_PREFIXES = 65_536;

/**
 * Handles a request of protocol version 2. Each request contains one command:
 *
 *     request = command *capability delim-pkt *argument flush-pkt | flush-pkt
 */
export async function uploadPackV2(upload: UploadPackRequest): Promise<UploadPackResponse> {
  const { view, reader, listings, client } = upload;
  const head = await readHead(reader);
  if (!head) return NO_ANSWER;
  upload.facts.command = head.command;
  const lines = head.hasArguments ? await readArguments(reader, head.command) : [];
  noteArguments(upload.facts, lines);
  switch (head.command) {
    case 'ls-refs': {
      const meter = new Meter({ schedule: view.repository.objects.schedule, signal: () => client.signal });
      return { head: Buffer.concat([await listings.lsRefs(view, parseLsRefs(lines), meter), FLUSH]), listsRefs: true };
    }
    case 'object-info':
      return { head: Buffer.concat([objectInfo(view, lines), FLUSH]) };
    case 'fetch':
      return respondToFetch(upload, lines);
  }
}

interface Head {
  readonly command: Command;
  readonly hasArguments: boolean;
}

/**
 * Reads the command and the capabilities at the start of a request. Returns undefined for an empty request, with which
 * a client ends the conversation.
 */
async function readHead(reader: PacketReader): Promise<Head | undefined> {
  let command: Command | undefined;
  let lines = 0;
  for (;;) {
    const line = await reader.readLine();
    if (typeof line !== 'string') {
      if (line.mark !== 'delim' && lines === 0) return undefined;
      if (line.mark !== 'delim' && line.mark !== 'flush') throw new ProtocolError('unexpected end of request');
      if (!command) throw new ProtocolError('no command requested');
      return { command, hasArguments: line.mark === 'delim' };
    }
    lines++;
    const named = /^command=(.*)$/s.exec(line)?.[1];
    if (named === undefined) checkCapability(line);
    else if (command) throw new ProtocolError(`command '${named}' requested after already requesting '${command}'`);
    else if (!Object.hasOwn(COMMANDS, named)) throw new ProtocolError(`invalid command '${named}'`);
    else command = named as Command;
  }
}

function checkCapability(line: ByteString): void {
  const split = line.indexOf('=');
  const name = split < 0 ? line : line.slice(0, split);
  if (name === 'object-format') checkObjectFormat(split < 0 ? '' : line.slice(split + 1));
  else if (!/^(agent|server-option|session-id)$/.test(name)) throw new ProtocolError(`unknown capability '${line}'`);
}

async function readArguments(reader: PacketReader, command: Command): Promise<ByteString[]> {
  const lines: ByteString[] = [];
  for (;;) {
    const line = await reader.readLine();
    if (typeof line === 'string') lines.push(line);
    else if (line.mark === 'flush') return lines;
    else throw new ProtocolError(`expected flush after ${command} arguments`);
  }
}

const NOTED = { want: 'wants', have: 'haves', 'want-ref': 'refs', 'ref-prefix': 'refs' } as const;

function noteArguments(facts: GitFacts, lines: readonly ByteString[]): void {
  for (const line of lines) {
    const [key, value] = splitLine(line);
    if (Object.hasOwn(NOTED, key)) note(facts, NOTED[key as keyof typeof NOTED], textOf(value));
  }
}

function parseLsRefs(lines: readonly ByteString[]): LsRefsOptions {
  const flags = { peel: false, symrefs: false, unborn: false };
  const prefixes: ByteString[] = [];
  for (const line of lines) {
    if (line === 'peel') flags.peel = true;
    else if (line === 'symrefs') flags.symrefs = true;
    else if (line === 'unborn') flags.unborn = true;
    else if (line.startsWith('ref-prefix ')) prefixes.push(sliceBytes(line, 'ref-prefix '.length));
    else throw new ProtocolError(`unexpected line: '${line}'`);
  }
  return { ...flags, prefixes: prefixes.length < MAX_PREFIXES ? prefixes : [] };
}

/**
 * Handles the command `object-info`, which returns the sizes of objects. The response first has the attribute names,
 * then `<oid> SP [<size>]` for each object (gitprotocol-v2).
 */
function objectInfo({ repository: { objects } }: RepositoryView, lines: readonly ByteString[]): Buffer {
  const oids: Oid[] = [];
  let size = false;
  for (const line of lines) {
    const [key, value] = splitLine(line);
    if (line === 'size') size = true;
    else if (key !== 'oid') throw new ProtocolError(`object-info: unexpected line: '${line}'`);
    else if (isOid(value)) oids.push(value);
    else throw new ProtocolError(`object-info: protocol error, expected to get oid, not '${value}'`);
  }
  if (oids.length === 0) return Buffer.alloc(0);
  const describe = (oid: Oid) => {
    const number = objects.find(oid);
    if (number < 0) return latin1`${oid} `;
    return size ? latin1`${oid} ${objects.sizeOf(number)}` : latin1`${oid}`;
  };
  return Buffer.from([...(size ? [SIZE] : []), ...oids.map(describe)].map(lineText).join(''), 'latin1');
}

/**
 * Parses the arguments of the command `fetch`. `request` contains the wanted objects and the options; `haves` are the
 * ids of the objects that the client has.
 */
function parseFetch(lines: readonly ByteString[], view: RepositoryView): { request: FetchRequest; haves: Oid[] } {
  const request = emptyRequest();
  const haves: Oid[] = [];
  for (const line of lines) {
    const [key, value] = splitLine(line);
    if (key === 'want') request.wants.add(readWant(value, view));
    else if (key === 'have') haves.push(readHave(value));
    else if (key === 'want-ref') readWantRef(value, request, view);
    else if (key === 'filter') readFilter(value, request);
    else if (FETCH_FLAGS.has(line)) request.flags.add(line);
    else if (!readDepthLine(line, request.depth, view)) throw new ProtocolError(`unexpected line: '${line}'`);
  }
  return { request, haves };
}

const FETCH_FLAGS: ReadonlySet<string> = new Set([
  'thin-pack',
  'ofs-delta',
  'no-progress',
  'include-tag',
  'deepen-relative',
  'done',
  'wait-for-done',
]);

function readHave(oid: ByteString): Oid {
  if (!isOid(oid)) throw new ProtocolError(`expected SHA1 object, got '${oid}'`);
  return oid;
}

function readWantRef(name: ByteString, request: FetchRequest, view: RepositoryView): void {
  const oid = resolveVisible(view, view.repository.refs, name);
  if (oid === undefined) throw new ProtocolError(`unknown ref ${name}`);
  if (request.wantedRefs.has(name)) throw new ProtocolError(`duplicate want-ref ${name}`);
  request.wantedRefs.set(name, oid);
  request.wants.add(oid);
}

/**
 * Handles the command `fetch`. gitprotocol-v2:
 *
 *     output = acknowledgments flush-pkt |
 *              [acknowledgments delim-pkt] [shallow-info delim-pkt] [wanted-refs delim-pkt] packfile flush-pkt
 *
 * Without `done`, the response consists of acknowledgments. The pack follows only after `ready`.
 */
async function respondToFetch(
  { view, facts }: UploadPackRequest,
  lines: readonly ByteString[],
): Promise<UploadPackResponse> {
  const { request, haves } = parseFetch(lines, view);
  const waitForDone = request.flags.has('wait-for-done');
  for (const oid of request.wantedRefs.values()) note(facts, 'wants', oid);
  if (request.wants.size === 0 && !waitForDone) return NO_ANSWER;
  const negotiation = new Negotiation(view.repository, request.wants);
  const common = haves.filter((oid) => negotiation.add(oid));
  const head: Buffer[] = [];
  if (!request.flags.has('done') && haves.length > 0) {
    const ready = !waitForDone && (await negotiation.isReady());
    head.push(acknowledgments(common, ready), ready ? DELIM : FLUSH);
    if (!ready) return { head: Buffer.concat(head) };
  }
  if (request.wants.size === 0) return { head: Buffer.concat([...head, FLUSH]) };
  const boundary = await findShallowBoundary(view, request);
  if (asksForDepth(request.depth) || request.depth.clientShallow.size > 0) {
    head.push(SHALLOW_INFO, writeShallowBoundary(boundary), DELIM);
  }
  if (request.wantedRefs.size > 0) {
    const refs = [...request.wantedRefs].map(([name, oid]) => lineText(latin1`${oid} ${name}`));
    head.push(WANTED_REFS, Buffer.from(refs.join(''), 'latin1'), DELIM);
  }
  head.push(PACKFILE);
  return {
    head: Buffer.concat(head),
    pack: { view, fetch: request, haves: negotiation.common, boundary, sideband: 'side-band-64k' },
  };
}

function acknowledgments(common: readonly Oid[], ready: boolean): Buffer {
  const lines = common.length > 0 ? common.map((oid) => latin1`ACK ${oid}`) : [NAK];
  if (ready) lines.push(READY);
  return Buffer.from([ACKNOWLEDGMENTS, ...lines].map(lineText).join(''), 'latin1');
}
