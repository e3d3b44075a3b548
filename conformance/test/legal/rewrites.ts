import { isRecord, type JsonRecord } from '../../http/exchange.js';
import type { ProxiedRequest, Rewrite } from '../mutants/proxy.js';

/**
 * Formats a pkt-line, the line format of the Git protocol (gitprotocol-common). A pkt-line begins with its length in
 * bytes, including the length itself, as four hexadecimal digits. The payload follows.
 */
function pktLine(payload: string): string {
  return (Buffer.byteLength(payload) + 4).toString(16).padStart(4, '0') + payload;
}

/**
 * Returns a Git response body without the pkt-lines for which `isDropped` returns true. Keeps special packets such as
 * the flush packet, whose length is below four.
 */
function withoutLines(body: Buffer, isDropped: (line: string) => boolean): Buffer {
  const kept: Buffer[] = [];
  for (let at = 0; at < body.length; ) {
    const length = Math.max(4, Number.parseInt(body.toString('latin1', at, at + 4), 16));
    const line = body.subarray(at, at + length);
    if (!isDropped(line.toString('latin1'))) kept.push(line);
    at += length;
  }
  return Buffer.concat(kept);
}

/** Hides all refs below refs/notes from Git clients. A legal server may do so. */
export const HIDES_NOTES: Rewrite = {
  request: (request) => {
    if (!request.path.endsWith('/git-upload-pack') || !request.body.includes('command=ls-refs')) return;
    const prefixes = ['HEAD', 'refs/heads/', 'refs/tags/'].map((prefix) => pktLine(`ref-prefix ${prefix}\n`));
    request.body = Buffer.from(request.body.toString().replace(/0000$/, `${prefixes.join('')}0000`));
  },
  response: (response) => {
    if (!response.request.path.includes('/info/refs') || response.status !== 200) return;
    response.body = withoutLines(response.body, (line) => line.includes(' refs/notes/'));
  },
};

/**
 * Simulates a server whose default branch for new repositories is `trunk`. The specification does not require `main`.
 * Requests that name a default branch stay unchanged.
 */
export const TRUNK_IS_DEFAULT: Rewrite = {
  request: (request) => {
    if (request.method !== 'POST' || !/^\/api\/(v1\/)?repos$/.test(request.path)) return;
    const body = request.body.length === 0 ? {} : readObject(request.body);
    if (body === undefined) return;
    request.body = Buffer.from(JSON.stringify({ default_branch: 'trunk', ...body }));
    request.headers['content-type'] ??= 'application/json';
  },
};

/**
 * Simulates a server with unusual but legal archives: file names begin with a folder, the media type differs, and
 * optional headers are missing.
 */
export const UNTYPICAL_ARCHIVE: Rewrite = {
  request: (request) => {
    if (!isArchive(request)) return;
    const body = readObject(request.body);
    if (body === undefined || body.archive !== undefined) return;
    request.body = Buffer.from(JSON.stringify({ ...body, archive: { prefix: 'snapshot/of it' } }));
  },
  response: ({ request, status, headers }) => {
    if (!isArchive(request) || status !== 200) return;
    headers['content-type'] = 'application/x-gzip';
    delete headers['content-disposition'];
    delete headers['cache-control'];
  },
};

function isArchive({ method, path }: Pick<ProxiedRequest, 'method' | 'path'>): boolean {
  return method === 'POST' && path.endsWith('/archive');
}

function readObject(body: Buffer): JsonRecord | undefined {
  try {
    const value: unknown = JSON.parse(body.toString());
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
