import { createHash } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import type { CallOptions, Service, ServiceResponse } from '../service.js';

/** Update of one ref in a push. An all-zero object id means "does not exist" in `old`, and "delete" in `new`. */
export interface PushCommand {
  readonly ref: string;
  readonly old: string;
  readonly new: string;
}

function pktLine(text: string): string {
  return (Buffer.byteLength(text) + 4).toString(16).padStart(4, '0') + text;
}

export interface RawObject {
  readonly type: 'commit' | 'tree' | 'blob' | 'tag';
  readonly body: Buffer;
}

export function oidOf({ type, body }: RawObject): string {
  return createHash('sha1').update(`${type} ${body.length}\0`).update(body).digest('hex');
}

const TYPES = { commit: 1, tree: 2, blob: 3, tag: 4 };

/**
 * Builds a pack (gitformat-pack) of objects without deltas. Without objects, the pack is empty, which git sends if the
 * remote already has all objects.
 */
export function packOf(objects: readonly RawObject[]): Buffer {
  const head = Buffer.from('5041434b0000000200000000', 'hex');
  head.writeUInt32BE(objects.length, 8);
  const parts = [head];
  for (const { type, body } of objects) {
    let rest = body.length >>> 4;
    const header = [(TYPES[type] << 4) | (body.length & 15)];
    for (; rest > 0; rest >>>= 7) {
      header[header.length - 1]! |= 0x80;
      header.push(rest & 0x7f);
    }
    parts.push(Buffer.from(header), deflateSync(body));
  }
  const pack = Buffer.concat(parts);
  return Buffer.concat([pack, createHash('sha1').update(pack).digest()]);
}

/**
 * Builds the body of a `git-receive-pack` request (gitprotocol-pack). It has the ref updates, a flush packet, and the
 * pack. There is no pack if all updates delete refs.
 */
export function pushBody(commands: readonly PushCommand[], pack = packOf([]), capabilities = 'report-status'): Buffer {
  const lines = commands.map(({ ref, old, new: next }, index) =>
    pktLine(`${old} ${next} ${ref}${index === 0 ? `\0${capabilities}` : ''}`),
  );
  const carriesPack = commands.some((command) => !/^0+$/.test(command.new));
  return Buffer.concat([Buffer.from(`${lines.join('')}0000`), ...(carriesPack ? [pack] : [])]);
}

/**
 * Sends a push request without a git client. For thousands of refs or many small pushes, git itself would take too
 * long.
 */
export function pushRaw(
  service: Service,
  repo: string,
  body: Buffer | AsyncIterable<Buffer>,
  options: CallOptions = {},
): Promise<ServiceResponse> {
  const headers = { 'content-type': 'application/x-git-receive-pack-request', ...options.headers };
  return service.call('POST', `/${repo}.git/git-receive-pack`, { repo, body, ...options, headers });
}

/**
 * Returns the lines of the report in a push response, such as `unpack ok`, `ok refs/heads/main` and `ng refs/heads/x
 * reason`.
 */
export function reportOf(response: ServiceResponse): string[] {
  const lines: string[] = [];
  for (let at = 0; at + 4 <= response.bytes.length; ) {
    const length = Number.parseInt(response.bytes.toString('latin1', at, at + 4), 16);
    if (length > 4) lines.push(response.bytes.toString('utf8', at + 4, at + length).trimEnd());
    at += Math.max(length, 4);
  }
  return lines;
}
