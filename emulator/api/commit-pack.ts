import { readCommit } from '../git/object/commit.js';
import { BLOB, EMPTY_TREE_OID, type Oid } from '../git/object/object.js';
import { applyEdits, EditConflict, type TreeEdit } from '../git/object/tree-edit.js';
import type { Quarantine } from '../git/odb/quarantine.js';
import type { Meter } from '../git/schedule/meter.js';
import { inSlices } from '../git/schedule/steps.js';
import { problem } from '../http/problem.js';
import { json } from '../http/reply.js';
import { operation } from '../operation/operation.js';
import { writeToBranch } from '../repositories/branch-write.js';
import { type FileEdit, readCommitPack } from './commit-pack-body.js';
import { showWrite, writeResult } from './records.js';
import { readTarget } from './streamed-write.js';

export const commitPack = operation({
  id: 'commitPack',
  group: 'Commits',
  summary: 'Create a commit from streamed content',
  routes: [
    { method: 'POST', path: '/api/repos/{repo_name}/commit-pack' },
    { method: 'POST', path: '/api/v1/repos/commit-pack' },
  ],
  scopes: ['git:write'],
  subject: 'repository',
  effect: 'write',
  reads: 'stream',
  replies: { 201: writeResult },
  errors: ['branch_not_found', 'conflict', 'payload_too_large'],
  handle: async (ctx) => {
    const { repository, meter } = ctx;
    const { metadata, edits } = await readCommitPack(ctx);
    const written = await writeToBranch(repository, {
      ...readTarget(ctx, metadata),
      buildTree: (objects, parent) => editTree(objects, parent, edits, meter),
    });
    const blobs = edits.filter((edit) => 'content' in edit).length;
    return json(201, showWrite(metadata.target_branch, written, blobs));
  },
});

async function editTree(
  objects: Quarantine,
  parent: Oid | undefined,
  edits: readonly FileEdit[],
  meter: Meter,
): Promise<Oid> {
  // The client may have left while it waited for other writers.
  meter.check();
  const base = parent === undefined ? EMPTY_TREE_OID : readCommit(objects, parent).tree;
  const treeEdits: TreeEdit[] = [];
  for (const edit of edits) {
    if ('content' in edit)
      treeEdits.push({ path: edit.path, mode: edit.mode, oid: await objects.writeInSlices(BLOB, edit.content, meter) });
    else treeEdits.push(edit);
    if (meter.isOver) await meter.pass();
  }
  try {
    return await inSlices(applyEdits(objects, base, treeEdits), meter);
  } catch (error) {
    if (error instanceof EditConflict) throw problem('bad_request', `metadata.files: ${error.message}.`);
    throw error;
  }
}
