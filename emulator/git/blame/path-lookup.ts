import { COST } from '../../schedule/cost.js';
import type { Meter } from '../../schedule/meter.js';
import { runSync } from '../../schedule/steps.js';
import { type ByteString, splitBytes } from '../object/bytes.js';
import type { LinkReader } from '../object/link-reader.js';
import { MODE_GITLINK, MODE_TREE } from '../object/tree.js';
import { NONE } from '../object/tree-cursor.js';
import { objectAt, type TreeEntries } from '../object/tree-entries.js';

export interface Found {
  readonly mode: number;
  /**
   * Number of the object in the object store (index into its tables). `NONE` for a submodule, and for an empty tree
   * that is not stored.
   */
  readonly object: number;
}

/**
 * Looks up one path in many root trees. The result for each folder on the path is cached, because consecutive root
 * trees share most of their folders.
 */
export class PathLookup {
  readonly #folders: FolderLookup[];

  constructor(objects: LinkReader, path: ByteString, meter: Meter) {
    this.#folders = splitBytes(path, '/').map((name) => new FolderLookup(objects, name, meter));
  }

  /**
   * Returns the entry at the path in the root tree with object number `tree`; undefined if absent. Throws
   * `MissingObject`.
   */
  in(tree: number): Found | undefined {
    let found: Found = { mode: MODE_TREE, object: tree };
    for (const folder of this.#folders) {
      if (found.mode !== MODE_TREE || found.object === NONE) return undefined;
      const next = folder.in(found.object);
      if (!next) return undefined;
      found = next;
    }
    return found;
  }
}

/** Looks up one name in many folders (tree objects), and caches the result for each folder. */
class FolderLookup {
  readonly #found = new Map<number, Found | undefined>();

  constructor(
    private readonly objects: LinkReader,
    private readonly name: ByteString,
    private readonly meter: Meter,
  ) {}

  in(tree: number): Found | undefined {
    const known = this.#found.get(tree);
    if (known !== undefined || this.#found.has(tree)) return known;
    const entries = runSync(this.objects.entriesOf(tree));
    this.meter.spend(entries.length * COST.operation);
    const index = entries.find(this.name);
    const found = index < 0 ? undefined : foundAt(entries, index);
    this.#found.set(tree, found);
    return found;
  }
}

function foundAt(entries: TreeEntries, index: number): Found {
  const mode = entries.modeAt(index);
  return { mode, object: mode === MODE_GITLINK ? NONE : objectAt(entries, index) };
}
