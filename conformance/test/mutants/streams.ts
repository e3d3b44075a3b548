import { isRecord } from '../../http/exchange.js';
import { PACK } from './places.js';
import type { ProxiedRequest, ProxiedResponse, Rewrite } from './proxy.js';
import { isAt } from './rewrites.js';

/** Members of a commit-pack line that mutants use. */
export interface Chunk {
  content_id?: string;
  data?: string;
  eof?: boolean;
}

/** A file operation. */
export type FileOperation = Record<'path' | 'content_id' | 'operation' | 'mode', string | undefined>;

/** Parsed body of a commit-pack request. */
export interface PackBody {
  metadata: Record<string, unknown>;
  /** Member `files`; empty if it is not a list. */
  files: FileOperation[];
  chunks: Chunk[];
}

/** Returns a mutant's change of commit-pack requests. Bodies whose first line is not metadata stay unchanged. */
export function changesPack(change: (body: PackBody) => void): Rewrite {
  return {
    request: (request) => {
      if (!isAt(PACK, request)) return;
      const [first, ...rest] = readLines(request);
      if (!isRecord(first) || !isRecord(first.metadata) || !rest.every(isChunk)) return;
      const metadata: Record<string, unknown> = { ...first.metadata };
      const body: PackBody = {
        metadata,
        files: Array.isArray(metadata.files) ? metadata.files : [],
        chunks: rest.map(({ blob_chunk }) => blob_chunk),
      };
      change(body);
      if (Array.isArray(metadata.files)) metadata.files = body.files;
      request.body = writeLines([{ ...first, metadata }, ...body.chunks.map((blob_chunk) => ({ blob_chunk }))]);
    },
  };
}

/** Fills in a member of the metadata if the client left it out. */
export function assumesMetadata(name: string, value: unknown): Rewrite {
  return changesPack(({ metadata }) => {
    metadata[name] ??= value;
  });
}

/**
 * Returns true if the response reports a commit onto an existing branch. A mutant that changes only these lets rules
 * create
 * their repositories.
 */
export function isOnTop({ request, status, body }: ProxiedResponse): boolean {
  if (!isAt(PACK, request) || status !== 201) return false;
  return !/^0+$/.test(JSON.parse(body.toString()).result.old_sha);
}

/** Changes the lines of commit-pack. A line that is not JSON is passed as text. */
export function changesLines(change: (lines: unknown[]) => unknown[]): Rewrite {
  return {
    request: (request) => {
      if (isAt(PACK, request)) request.body = writeLines(change(readLines(request)));
    },
  };
}

function readLines({ body }: ProxiedRequest): unknown[] {
  return body
    .toString()
    .split('\n')
    .filter((line) => line !== '')
    .map((line): unknown => {
      try {
        return JSON.parse(line);
      } catch {
        return line;
      }
    });
}

function writeLines(lines: readonly unknown[]): Buffer {
  return Buffer.from(lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''));
}

function isChunk(line: unknown): line is { blob_chunk: Chunk } {
  return isRecord(line) && isRecord(line.blob_chunk);
}
