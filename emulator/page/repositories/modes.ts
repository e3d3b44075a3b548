import type { TreeEntry } from '@emulator/admin/repositories.js';

/** What an entry of a tree is, in words; nothing for a plain file. */
export function kindOf({ type, mode }: Pick<TreeEntry, 'type' | 'mode'>): string {
  if (type === 'tree') return 'folder';
  if (type === 'commit') return 'submodule';
  return mode === '120000' ? 'symbolic link' : mode === '100755' ? 'executable' : '';
}
