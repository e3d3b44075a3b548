import { z } from 'zod';
import { applyPatch, type PatchedFile } from '../../git/apply/apply-patch.js';
import { PatchError } from '../../git/apply/patch-error.js';
import { BLOB, type Oid, ZERO_OID } from '../../git/object/object.js';
import { applyEdits, EditConflict, type TreeEdit } from '../../git/object/tree-edit.js';
import { copySteps } from '../../git/odb/object-writer.js';
import type { Quarantine } from '../../git/odb/quarantine.js';
import { problem } from '../../http/problem.js';
import { json } from '../../http/reply.js';
import { once } from '../../memory/once.js';
import type { HandlerContext } from '../../operation/handler-context.js';
import { operation, routesOfRepository } from '../../operation/operation.js';
import { commitOnto, failedResult, findWriteBase, transact } from '../../repositories/branch-write.js';
import type { Meter } from '../../schedule/meter.js';
import { inSlices } from '../../schedule/steps.js';
import { contentWriteResult, showContentWrite } from '../records.js';
import {
  type ChunkSink,
  decodeChunk,
  readBranchWrite,
  readStreamedWrite,
  type WriteMetadata,
  writeMetadata,
} from '../streamed-write.js';

const diffChunk = once(() => z.strictObject({ diff_chunk: z.strictObject({ data: z.string(), eof: z.boolean() }) }));
type DiffChunk = z.infer<ReturnType<typeof diffChunk>>;

export const commitPatch = operation({
  id: 'diffCommit',
  group: 'Commits',
  summary: 'Create a commit from a streamed patch',
  routes: routesOfRepository('POST', 'diff-commit'),
  scopes: ['git:write'],
  reads: 'stream',
  replies: () => ({ 201: contentWriteResult() }),
  errors: ['branch_not_found', 'conflict', 'payload_too_large', 'gateway_timeout'],
  work: { limit: 'workTimeout' },
  handle: async (ctx) => {
    const { metadata, patch } = await readDiffCommit(ctx);
    const { repository } = ctx;
    const write = readBranchWrite(ctx, metadata);
    return transact(repository, async (transaction) => {
      const base = findWriteBase(repository, write);
      const { tree, blobs } = await patchTree(ctx, transaction.objects, base.tree, patch);
      if (tree === base.tree) {
        const detail = 'The patch has no changes.';
        throw problem('conflict', detail, { result: failedResult(write.branch, base.parent ?? ZERO_OID, detail) });
      }
      const written = await commitOnto(transaction, base, tree, write);
      return json(201, showContentWrite(ctx.world, metadata.target_branch, written, blobs));
    });
  },
});

/** Metadata, then one `diff_chunk` a line; the last one has `eof`. */
async function readDiffCommit(ctx: HandlerContext): Promise<{ metadata: WriteMetadata; patch: Buffer }> {
  const schemas = { metadata: { whole: writeMetadata() }, chunk: diffChunk() };
  const { metadata, sink } = await readStreamedWrite(ctx, schemas, () => new PatchParts(ctx));
  return { metadata, patch: await sink.whole() };
}

class PatchParts implements ChunkSink<DiffChunk> {
  readonly #parts: Buffer[] = [];
  #bytes = 0;
  #complete = false;

  constructor(private readonly ctx: Pick<HandlerContext, 'world' | 'meter'>) {}

  async add({ diff_chunk: { data, eof } }: DiffChunk, line: number): Promise<void> {
    const { maxObjectBytes } = this.ctx.world.limits;
    if (this.#complete) throw problem('bad_request', `Line ${line}: a chunk after the last one.`);
    const part = await decodeChunk(data, line, this.ctx);
    this.#parts.push(part);
    this.#bytes += part.length;
    if (this.#bytes > maxObjectBytes)
      throw problem('payload_too_large', `A patch takes at most ${maxObjectBytes} bytes.`);
    this.#complete = eof;
  }

  async whole(): Promise<Buffer> {
    if (!this.#complete) throw problem('bad_request', 'The patch is missing its last chunk (eof true).');
    if (this.#parts.length === 1) return this.#parts[0]!;
    const patch = Buffer.allocUnsafeSlow(this.#bytes);
    let at = 0;
    for (const part of this.#parts) {
      await inSlices(copySteps(part, patch, at), this.ctx.meter);
      at += part.length;
    }
    return patch;
  }
}

/** The tree that the patch makes of `base`, and how many files it wrote. */
async function patchTree(
  { meter }: Pick<HandlerContext, 'meter'>,
  objects: Quarantine,
  base: Oid,
  patch: Buffer,
): Promise<{ tree: Oid; blobs: number }> {
  const files = await readFiles(objects, base, patch, meter);
  const edits: TreeEdit[] = [];
  for (const file of files) {
    edits.push(await editOf(objects, file, meter));
    if (meter.isOver) await meter.pass();
  }
  try {
    const tree = await inSlices(applyEdits(objects, base, edits), meter);
    return { tree, blobs: files.filter((file) => !file.delete).length };
  } catch (error) {
    if (error instanceof EditConflict) throw problem('bad_request', `The patch does not apply: ${error.message}.`);
    throw error;
  }
}

async function readFiles(objects: Quarantine, tree: Oid, patch: Buffer, meter: Meter): Promise<PatchedFile[]> {
  try {
    return await applyPatch(objects, tree, patch, { meter });
  } catch (error) {
    if (error instanceof PatchError) throw problem('bad_request', `The patch does not apply: ${error.message}.`);
    throw error;
  }
}

async function editOf(objects: Quarantine, file: PatchedFile, meter: Meter): Promise<TreeEdit> {
  if (file.delete) return { path: file.path, delete: true };
  const oid = 'oid' in file ? file.oid : await inSlices(objects.writeSteps(BLOB, [file.bytes]), meter);
  return { path: file.path, mode: file.mode, oid };
}
