import { isRecord } from '../../http/exchange.js';
import { PACK } from './places.js';
import type { ProxiedRequest, ProxiedResponse, Rewrite } from './proxy.js';
import { isAt } from './rewrites.js';

/**
 * Line of a commit-pack request with a part of a file's content. Only has the members that mutants (wrong servers)
 * change.
 */
export interface Chunk {
  content_id?: string;
  data?: string;
  eof?: boolean;
}

/** Entry in the member `files` of a commit-pack request, which changes one file. */
export type FileOperation = Record<'path' | 'content_id' | 'operation' | 'mode', string | undefined>;

/**
 * Parsed body of a commit-pack request, which creates a commit. The first line is the metadata, with the file
 * operations. All other lines are chunks of file contents.
 */
export interface PackBody {
  metadata: Record<string, unknown>;
  /** Member `files` of the metadata. Empty if that member is not a list. */
  files: FileOperation[];
  chunks: Chunk[];
}

/**
 * Changes the parsed body of commit-pack requests before the server reads it. A body whose first line is not valid
 * metadata stays unchanged.
 */
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

/**
 * Makes the server use `value` as the default of a metadata member. The proxy adds the member to commit-pack requests
 * that lack it.
 */
export function assumesMetadata(name: string, value: unknown): Rewrite {
  return changesPack(({ metadata }) => {
    metadata[name] ??= value;
  });
}

/**
 * Returns true if a commit-pack response reports a commit on an existing branch. Mutants that change only these
 * responses keep first commits correct, so that rules can still create their repositories.
 */
export function isOnTop({ request, status, body }: ProxiedResponse): boolean {
  if (!isAt(PACK, request) || status !== 201) return false;
  return !/^0+$/.test(JSON.parse(body.toString()).result.old_sha);
}

/**
 * Changes the lines of commit-pack requests before the server reads them. `change` gets each line as parsed JSON, or as
 * text if it is not JSON.
 */
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
