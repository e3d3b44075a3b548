import { gzipSync } from 'node:zlib';
import t from 'tap';
import { bytesOf } from '../git/object/bytes.js';
import { Problem } from '../http/problem.js';
import { parseCapabilities, protocolVersion } from './capabilities.js';
import { decodeBody } from './git-service.js';
import {
  bandPackets,
  DATA,
  DELIM,
  errorPacket,
  FLUSH,
  lineOf,
  MAX_PACKET_BYTES,
  type Packet,
  PacketReader,
  PROGRESS,
  ProtocolError,
  packBand,
  packet,
} from './pkt-line.js';

async function* chunks(bytes: Buffer, size: number): AsyncIterable<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function collect(source: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of source) pieces.push(piece);
  return Buffer.concat(pieces);
}

function readerOf(text: string, size = 7, packets = 1000): PacketReader {
  return new PacketReader(chunks(Buffer.from(text, 'latin1'), size), { packets });
}

async function readAll(reader: PacketReader): Promise<string[]> {
  const read: string[] = [];
  for (;;) {
    const next: Packet = await reader.read();
    read.push(typeof next === 'string' ? next : lineOf(next));
    if (next === 'end') return read;
  }
}

t.test('packets are read whatever the pieces they arrive in', async (t) => {
  const text = '0006a\n0005b0004000000010002000bfoobar\n';
  const expected = ['a', 'b', '', 'flush', 'delim', 'response-end', 'foobar', 'end'];
  for (let size = 1; size <= text.length; size++)
    t.same(await readAll(readerOf(text, size)), expected, `pieces of ${size}`);
});

t.test('what follows the packets is handed over as it came', async (t) => {
  for (let size = 1; size < 20; size++) {
    const reader = readerOf('0006a\n0000PACK and the rest', size);
    t.equal(lineOf((await reader.read()) as Buffer), 'a');
    t.equal(await reader.read(), 'flush');
    t.equal((await collect(reader.rest())).toString(), 'PACK and the rest');
  }
});

t.test('a malformed packet is refused', async (t) => {
  for (const text of [
    '0003',
    'zzzz',
    '00g0',
    '+004',
    ' 004',
    '000',
    '0009abc',
    'fff1',
    'ffff',
    '0x10aaaaaaaaaaaa',
    '\xff\xff\xff\xff',
  ]) {
    await t.rejects(readAll(readerOf(text)), ProtocolError, JSON.stringify(text));
  }
});

t.test('the longest packet is read, and one more byte refused', async (t) => {
  const longest = 'x'.repeat(MAX_PACKET_BYTES - 4);
  t.same(await readAll(readerOf(`fff0${longest}`, 4096)), [longest, 'end']);
  t.throws(() => packet(bytesOf(`${longest}x`)), RangeError);
});

t.test('packets are counted', async (t) => {
  t.same(await readAll(readerOf('0000'.repeat(3), 5, 3)), ['flush', 'flush', 'flush', 'end']);
  await t.rejects(readAll(readerOf('0000'.repeat(4), 5, 3)), /too many lines/);
});

t.test('packets are written as documented', async (t) => {
  t.equal(packet(bytesOf('a\n')).toString(), '0006a\n');
  t.equal(packet(bytesOf('foobar\n')).toString(), '000bfoobar\n');
  t.equal(packet(bytesOf('')).toString(), '0004');
  t.equal(FLUSH.toString() + DELIM.toString(), '00000001');
  t.equal(errorPacket('no\nway').toString(), '000eERR no way');
  t.equal(errorPacket('é'.repeat(100_000)).length, MAX_PACKET_BYTES);
});

t.test('bands split what is too long for one packet', async (t) => {
  t.equal(bandPackets(Buffer.from('hi'), PROGRESS, 'side-band-64k').join(''), '0007\x02hi');
  t.equal(bandPackets(Buffer.alloc(0), DATA, 'side-band').join(''), '0005\x01');
  t.same(bandPackets(Buffer.from('hi'), PROGRESS, 'none'), []);
  const lengths = (sideband: 'side-band' | 'side-band-64k', size: number) =>
    bandPackets(Buffer.alloc(size), DATA, sideband).map((each) => each.length);
  t.same(lengths('side-band', 2000), [1000, 1000, 15]);
  t.same(lengths('side-band-64k', 65_515), [65_520]);
  t.same(lengths('side-band-64k', 65_516), [65_520, 6]);
});

t.test('a stream of small pieces fills its packets', async (t) => {
  const bytes = Buffer.from(Array.from({ length: 600_000 }, (_, at) => at * 7));
  for (const [sideband, room] of [
    ['side-band-64k', 65_515],
    ['side-band', 995],
  ] as const) {
    for (const size of [7, 999, 65_515, 262_060, 262_061, 600_000]) {
      const response = await collect(packBand(chunks(bytes, size), sideband));
      const lengths: number[] = [];
      const parts: Buffer[] = [];
      for (let at = 0; at < response.length; at += lengths.at(-1)!) {
        lengths.push(Number.parseInt(response.toString('latin1', at, at + 4), 16));
        if (response[at + 4] === DATA) parts.push(response.subarray(at + 5, at + lengths.at(-1)!));
      }
      t.same(new Set(lengths.slice(0, -1)), new Set([room + 5]), 'filled to the brim');
      t.ok(lengths.at(-1)! <= room + 5);
      t.ok(Buffer.concat(parts).equals(bytes), `${sideband}, in pieces of ${size}`);
    }
  }
  t.ok((await collect(packBand(chunks(bytes, 999), 'none'))).equals(bytes), 'without side-band as it is');
  for await (const piece of packBand(chunks(bytes, 999), 'side-band-64k')) t.ok(piece.length <= 4 * 65_520);
});

t.test('the highest version a client offers is spoken', async (t) => {
  const cases: [string | undefined, number][] = [
    [undefined, 0],
    ['', 0],
    ['version=1', 1],
    ['version=2', 2],
    ['version=3', 0],
    ['version=2:version=1', 2],
    ['foo:version=1:bar=2', 1],
    ['version=22', 0],
  ];
  for (const [header, version] of cases) t.equal(protocolVersion(header), version, `${header}`);
});

t.test('capabilities are split at the first equals sign', async (t) => {
  t.same(
    [...parseCapabilities(bytesOf(' ofs-delta  agent=git/2=x side-band-64k'))],
    [
      ['ofs-delta', ''],
      ['agent', 'git/2=x'],
      ['side-band-64k', ''],
    ],
  );
});

t.test('bodies are decoded within their limit', async (t) => {
  const body = Buffer.alloc(5000, 'xy');
  const zipped = gzipSync(body);
  const decode = (bytes: Buffer, encoding: string | undefined, max = 10_000) =>
    collect(decodeBody(chunks(bytes, 13), encoding, max));
  t.ok((await decode(body, undefined)).equals(body));
  t.ok((await decode(zipped, 'gzip')).equals(body));
  t.ok((await decode(zipped, ' X-Gzip ')).equals(body));
  const code = (promise: Promise<unknown>) =>
    promise.then(
      () => 'ok',
      (error) => (error instanceof Problem ? error.code : error),
    );
  t.equal(await code(decode(zipped, 'gzip', 4999)), 'payload_too_large');
  t.equal(await code(decode(body, undefined, 4999)), 'payload_too_large');
  t.equal(await code(decode(body, 'gzip')), 'bad_request');
  t.equal(await code(decode(zipped.subarray(0, 20), 'gzip')), 'bad_request', 'cut short');
  t.throws(() => decodeBody(chunks(body, 9), 'br', 10_000), { code: 'unsupported_media_type' });
  t.throws(() => decodeBody(chunks(body, 9), 'gzip, gzip', 10_000), { code: 'unsupported_media_type' });
  async function* failing(): AsyncIterable<Buffer> {
    yield zipped.subarray(0, 15);
    throw new Error('gone');
  }
  await t.rejects(collect(decodeBody(failing(), 'gzip', 10_000)), /gone/);
  for await (const _ of decodeBody(chunks(zipped, 5), 'gzip', 10_000)) break;
});
