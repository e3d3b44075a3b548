import { COST } from '../../schedule/cost.js';
import type { Meter } from '../../schedule/meter.js';
import { runSync } from '../../schedule/steps.js';
import { type ByteString, splitBytes } from '../object/bytes.js';
import type { LinkReader, TreeDifference } from '../object/link-reader.js';
import { MissingObject } from '../object/object.js';
import { canonicalMode, MODE_GITLINK, MODE_TREE } from '../object/tree.js';
import { NONE } from '../object/tree-cursor.js';
import type { EntryKey } from '../object/tree-names.js';

export interface Found {
  readonly mode: number;
  /** The number of the object; `NONE` of an empty tree that is not stored, and of a gitlink. */
  readonly object: number;
}

/** Looks up one path in many trees. What a folder holds is remembered, and most folders stay the same. */
export class PathLookup {
  readonly #folders: FolderLookup[];

  constructor(objects: LinkReader, path: ByteString, meter: Meter) {
    this.#folders = splitBytes(path, '/').map((name) => new FolderLookup(objects, name, meter));
  }

  /** What is at the path in the tree. Throws `MissingObject`. */
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

/** An entry of a folder. */
interface Place {
  /** Among all entries; `SEVERAL` where the folder, which is malformed then, has more of the name. */
  readonly index: number;
  readonly key: EntryKey;
  /** As in `TreeEntries.objectAt`. */
  readonly object: number;
}

const SEVERAL = -1;

/** Looks up one name in many folders. */
class FolderLookup {
  /** Where folders have the name, also those that were only needed for others. */
  readonly #places = new Map<number, Place | undefined>();
  readonly #found = new Map<number, Found | undefined>();

  constructor(
    private readonly objects: LinkReader,
    private readonly name: ByteString,
    private readonly meter: Meter,
  ) {}

  in(tree: number): Found | undefined {
    const found = this.#found.get(tree);
    if (found !== undefined || this.#found.has(tree)) return found;
    const place = this.#placeIn(tree);
    const added = place && this.#open(place);
    this.#found.set(tree, added);
    return added;
  }

  #open({ key, object }: Place): Found {
    const { names } = this.objects;
    const mode = canonicalMode(names.modeOf(key));
    if (mode === MODE_GITLINK) return { mode, object: NONE };
    if (object < NONE) throw new MissingObject(names.oidOfForeign(-2 - object));
    return { mode, object };
  }

  /** In a tree that is told by another one, by way of that one: its entries need not be put together. */
  #placeIn(tree: number): Place | undefined {
    const chain: { readonly tree: number; readonly difference: TreeDifference }[] = [];
    let at = tree;
    while (!this.#places.has(at)) {
      const difference = this.objects.differenceOf(at);
      if (difference === undefined) {
        this.#places.set(at, this.#scan(at));
        break;
      }
      chain.push({ tree: at, difference });
      at = difference.base;
    }
    let place = this.#places.get(at);
    for (let link = chain.pop(); link !== undefined; link = chain.pop()) {
      place = place?.index === SEVERAL ? this.#scan(link.tree) : this.#follow(link, place);
      this.#places.set(link.tree, place);
    }
    return place;
  }

  /** Where the tree has the name, whose base has it at `place` alone. */
  #follow(
    link: { readonly tree: number; readonly difference: TreeDifference },
    place: Place | undefined,
  ): Place | undefined {
    const { names } = this.objects;
    const id = names.find(this.name);
    let found: Place | undefined;
    let times = 0;
    let index = 0;
    let work = 0;
    link.difference.eachRun((count, base, cells, at) => {
      if (base >= 0) {
        if (place !== undefined && place.index >= base && place.index < base + count) {
          found = { ...place, index: index + place.index - base };
          times++;
        }
      } else {
        work += count;
        for (let cell = at; cell < at + count * 2; cell += 2) {
          if (names.nameIdOf(cells[cell]!) !== id) continue;
          found = { index: index + (cell - at) / 2, key: cells[cell]!, object: cells[cell + 1]! };
          times++;
        }
      }
      index += count;
      work++;
    });
    this.meter.spend(work * COST.operation);
    return times > 1 ? this.#scan(link.tree) : found;
  }

  #scan(tree: number): Place | undefined {
    const entries = runSync(this.objects.entriesOf(tree));
    this.meter.spend(entries.length * COST.operation);
    const first = entries.find(this.name);
    if (first < 0) return undefined;
    const id = entries.names.nameIdOf(entries.keyAt(first));
    let index = first;
    for (let other = first + 1; other < entries.length; other++) {
      if (entries.names.nameIdOf(entries.keyAt(other)) === id) index = SEVERAL;
    }
    return { index, key: entries.keyAt(first), object: entries.objectAt(first) };
  }
}
