import { runSync } from '../../../schedule/steps.js';
import { unlimited } from '../../../schedule/test/unlimited.js';
import { BLOB, type Oid } from '../../object/object.js';
import { applyEdits, EditConflict } from '../../object/tree-edit.js';
import type { MemoryObjects } from '../../test/memory-objects.js';
import { applyPatch } from '../apply-patch.js';
import { PatchError } from '../patch-error.js';

/** Applies a patch to `tree` with this project's code. Returns the resulting tree, or the error message. */
export async function applied(
  objects: MemoryObjects,
  tree: Oid,
  patch: Buffer,
): Promise<{ tree?: Oid; message: string }> {
  try {
    const files = await applyPatch(objects, tree, patch, { meter: unlimited() });
    const edits = files.map((file) => ('bytes' in file ? { ...file, oid: objects.write(BLOB, file.bytes) } : file));
    return { tree: runSync(applyEdits(objects, tree, edits)), message: '' };
  } catch (error) {
    if (error instanceof PatchError || error instanceof EditConflict) return { message: error.message };
    throw error;
  }
}
