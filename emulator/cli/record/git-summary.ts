import type { IncomingMessage } from 'node:http';
import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { textOf } from '../../git/object/bytes.js';
import { serviceOf } from '../../smart-http/advertise.js';
import { protocolVersion } from '../../smart-http/capabilities.js';
import { type GitFacts, gitFacts, MAX_NOTED, note, type PackFacts } from '../../smart-http/git-facts.js';
import { DATA, FATAL, lineOf, type Packet, PacketReader, PROGRESS, ProtocolError } from '../../smart-http/pkt-line.js';

/** Matches the path of a request of the Git protocol (gitprotocol-http). */
const GIT_PATH = /\.git\/(info\/refs|git-upload-pack|git-receive-pack)$/;
/** Length of the header of a pack in bytes: `PACK`, version and number of objects (gitformat-pack). */
const PACK_HEADER = 12;
/** Maximum length of the report of a push, in bytes. */
const MAX_REPORT = 64 * 1024;

/** Returns the facts about a Git request that its URL and headers contain. Undefined for other requests. */
export function gitFactsOf({ url = '', headers }: Pick<IncomingMessage, 'url' | 'headers'>): GitFacts | undefined {
  const [path = '', query = ''] = url.split('?', 2);
  const [, last] = GIT_PATH.exec(path) ?? [];
  if (last === undefined) return undefined;
  const isAdvertisement = last === 'info/refs';
  const service = serviceOf(isAdvertisement ? (new URLSearchParams(query).get('service') ?? '') : last);
  const version = protocolVersion(String(headers['git-protocol'] ?? ''));
  return service && gitFacts(isAdvertisement ? 'advertise' : 'rpc', service, version);
}

/**
 * Reads the body of a Git request, and adds its commands, object ids and pack to `facts`. Never rejects, because a
 * recording must also contain requests that violate the protocol.
 */
export async function summarizeRequest(body: Readable, encoding: string | undefined, facts: GitFacts): Promise<void> {
  const isZipped = /^(?:x-)?gzip$/i.test(encoding ?? '');
  // The callback is required; an error also ends the loop that reads the packets.
  const plain = isZipped ? pipeline(body, createGunzip(), () => {}) : body;
  await reading(plain, async (reader) => {
    if (facts.service === 'git-receive-pack') await readPush(reader, facts);
    else await readFetch(reader, facts);
  });
}

/** Reads the body of a Git response, and adds its pack, its error and refused refs to `facts`. Never rejects. */
export async function summarizeResponse(body: Readable, facts: GitFacts): Promise<void> {
  let report = '';
  await reading(body, async (reader) => {
    const pack = new PackCount();
    let section = '';
    const seePacket = (packet: Buffer): void => {
      const [band = 0] = packet;
      if (band === DATA && facts.service === 'git-upload-pack') pack.add(packet.subarray(1));
      else if (band === DATA && report.length < MAX_REPORT) report += packet.toString('latin1', 1);
      else if (band === FATAL) facts.error = packet.toString('utf8', 1).trim();
      else if (band > PROGRESS) seeLine(textOf(lineOf(packet)));
    };
    const seeLine = (line: string): void => {
      // Section `wanted-refs` of version 2: the ids of the refs that the client requested by name.
      const [, oid] = /^([\da-f]{40}) \S+$/.exec(line) ?? [];
      if (section === 'wanted-refs' && oid !== undefined) note(facts, 'wants', oid);
      else section = line;
      readReportLine(line, facts);
    };
    try {
      for (let next = await reader.read(); next !== 'end'; next = await reader.read()) {
        if (typeof next !== 'string') seePacket(next);
      }
    } catch (error) {
      if (!(error instanceof ProtocolError) || facts.phase === 'advertise') throw error;
      // Without a side-band, the pack follows the packets directly.
      for await (const piece of reader.rest()) pack.add(piece);
    } finally {
      if (pack.facts) facts.pack = pack.facts;
    }
  });
  // With a side-band, the packets of the report are inside the packets of band 1.
  for (const [, line = ''] of report.matchAll(/[\da-f]{4}((?:unpack|ok|ng) [^\n]*)\n/g)) readReportLine(line, facts);
}

function readReportLine(line: string, facts: GitFacts): void {
  if (line.startsWith('ERR ')) facts.error = line.slice(4);
  const [, ref, refused = ''] = /^ng (\S+) ?(.*)$/.exec(line) ?? [];
  const update = facts.updates.find((each) => each.ref === ref);
  if (update) update.refused = refused;
}

/** Reads the lines of a fetch: `want <oid>`, `have <oid>`, and in version 2 also `command=…`, `ref-prefix …`. */
async function readFetch(reader: PacketReader, facts: GitFacts): Promise<void> {
  const seen = new Set<string>();
  if (facts.protocol < 2) facts.command = 'fetch';
  for (let next = await reader.read(); next !== 'end'; next = await reader.read()) {
    const [word = '', value = ''] = wordsOf(next);
    if (word.startsWith('command=')) facts.command = word.slice('command='.length);
    else if (word === 'want' && !seen.has(value)) note(facts, 'wants', value);
    else if (word === 'have') note(facts, 'haves', value);
    else if (word === 'want-ref' || word === 'ref-prefix') note(facts, 'refs', value);
    // Clients of version 0 repeat an id that several refs have.
    if (word === 'want' && facts.protocol < 2) seen.add(value);
  }
}

/** Reads the commands of a push, `<old> <new> <ref>`, its push options and its pack. */
async function readPush(reader: PacketReader, facts: GitFacts): Promise<void> {
  facts.command = 'push';
  let hasOptions = false;
  for (let next = await reader.read(); typeof next !== 'string'; next = await reader.read()) {
    const [command = '', capabilities = ''] = textOf(lineOf(next)).split('\0', 2);
    hasOptions ||= capabilities.split(' ').includes('push-options');
    const [, old, wanted, ref] = /^([\da-f]{40}) ([\da-f]{40}) (.+)$/.exec(command) ?? [];
    if (old === undefined || wanted === undefined || ref === undefined) continue;
    note(facts, 'refs', ref);
    facts.counts.updates++;
    if (facts.updates.length < MAX_NOTED) facts.updates.push({ ref, old, new: wanted });
  }
  if (hasOptions) while (typeof (await reader.read()) !== 'string');
  const pack = new PackCount();
  for await (const piece of reader.rest()) {
    pack.add(piece);
    if (pack.facts) facts.pack = pack.facts;
  }
}

function wordsOf(packet: Packet): readonly string[] {
  return typeof packet === 'string' ? [] : textOf(lineOf(packet)).split(/[ \0]/, 2);
}

/** Counts the bytes of a pack, and reads the number of its objects. */
class PackCount {
  #header = Buffer.alloc(0);
  #bytes = 0;

  add(piece: Uint8Array): void {
    this.#bytes += piece.length;
    const missing = PACK_HEADER - this.#header.length;
    if (missing > 0) this.#header = Buffer.concat([this.#header, piece.subarray(0, missing)]);
  }

  /** Undefined if the bytes do not begin with the header of a pack. */
  get facts(): PackFacts | undefined {
    const isPack = this.#header.length === PACK_HEADER && this.#header.toString('latin1', 0, 4) === 'PACK';
    return isPack ? { objects: this.#header.readUInt32BE(8), bytes: this.#bytes } : undefined;
  }
}

/** Calls `read` with the packets of a body. Then reads the rest, because an unread copy would stop the transfer. */
async function reading(body: Readable, read: (reader: PacketReader) => Promise<void>): Promise<void> {
  try {
    const reader = new PacketReader(body, { packets: Number.POSITIVE_INFINITY });
    await read(reader);
    for await (const _ of reader.rest());
  } catch {
    // Ignores the error, so the summary contains only the facts that were read before the error.
  } finally {
    body.resume();
  }
}
