import type { Meter } from '../../schedule/meter.js';
import type { ByteString } from '../object/bytes.js';
import type { LinkReader } from '../object/link-reader.js';
import type { Oid } from '../object/object.js';
import { MODE_GITLINK, MODE_TREE } from '../object/tree.js';
import type { CommitGraph, GraphPosition } from '../revwalk/commit-graph.js';
import { type KnownBlames, partOfBlame } from './blame-memory.js';
import type { BlamedLines } from './blamed-lines.js';
import { type LineRange, parseLineRanges } from './line-ranges.js';
import { MoveFinder } from './moved-lines.js';
import { type BlameEntry, Origin } from './origin.js';
import { passLines } from './pass-lines.js';
import { Scoreboard } from './scoreboard.js';

export interface BlameRequest {
  readonly meter: Meter;
  readonly commit: Oid;
  readonly path: ByteString;
  /**
   * Line ranges to blame, each in the syntax of `git blame -L`, such as `10,20`. If undefined or empty, all lines are
   * blamed.
   */
  readonly ranges?: readonly string[] | undefined;
  /**
   * If true, follows lines that were moved within the file or copied from other files, as `git blame -M -C -C` does.
   */
  readonly detectMoves?: boolean | undefined;
  /**
   * Cache of blame results for files of the repository; undefined for none. It is not used if `detectMoves` is true,
   * because cached results do not follow moved lines.
   */
  readonly known?: KnownBlames | undefined;
}

/** Error thrown by `blame` if the requested path does not exist in the commit, or is a folder or a submodule. */
export class NoSuchFile extends Error {
  override readonly name = 'NoSuchFile';
  constructor(
    readonly path: ByteString,
    readonly commit: Oid,
  ) {
    super(`no such path ${path} in ${commit}`);
  }
}

/**
 * Finds the commit that introduced each line of a file. Returns the information of `git blame --porcelain`, in groups
 * of consecutive lines, ordered by line number.
 *
 * Throws `NoSuchFile`, `BadLineRange`, `MissingObject` or `WorkLimitExceeded` (the meter, which counts the CPU work of
 * the request, has reached its limit).
 */
export async function blame(objects: LinkReader, graph: CommitGraph, request: BlameRequest): Promise<BlamedLines[]> {
  const board = new Scoreboard(objects, graph, request.meter);
  const tip = graph.locate(request.commit);
  const found = board.at(tip, request.path);
  if (!found || found.mode === MODE_TREE || found.mode === MODE_GITLINK) {
    throw new NoSuchFile(request.path, request.commit);
  }
  const file = board.origin(tip, request.path, found.mode, found.object);
  const lines = await board.linesOf(file);
  const ranges = await parseLineRanges(request.ranges ?? [], lines, request.meter);
  board.suspect(file, ranges.map(entryOf));
  const moves = request.detectMoves ? await MoveFinder.of(board, lines) : undefined;
  const known = moves ? undefined : request.known;

  const blamed: BlamedLines[] = [];
  // Oldest version of the file found so far with the same content as the requested version; undefined if only some
  // lines are requested. All versions between these two have the same blame. The complete result is cached under this
  // oldest version, because later requests for any of these versions reach it.
  let whole = request.ranges?.length ? undefined : file;
  for (let next = board.next(); next; next = board.next()) {
    const origin = await board.passedDown(next);
    if (whole === next) whole = origin;
    const sources = await findSources(board, origin);
    if (sources instanceof Origin) {
      if (whole === origin) whole = sources;
    } else {
      const before = known?.get(graph.oidOf(origin.commit), origin.path);
      if (before) for (const entry of origin.suspects) blamed.push(...partOfBlame(before, entry));
      else
        for (const entry of await passBlame(board, origin, sources, moves))
          blamed.push(blamedLines(graph, origin, entry));
    }
    origin.suspects = [];
    origin.lines = undefined;
    if (board.meter.shouldYield) await board.meter.yieldToEventLoop();
  }
  blamed.sort((a, b) => a.start - b.start);
  if (whole) known?.keep(graph.oidOf(whole.commit), whole.path, blamed);
  return blamed;
}

function entryOf({ start, end }: LineRange): BlameEntry {
  return { final: start, start, count: end - start };
}

/**
 * Returns the predecessor of the origin's file in each parent: the file at the same path, or else the renamed file. An
 * element is undefined if the parent has no predecessor, or only one that equals the predecessor in an earlier parent.
 *
 * If a predecessor equals the origin's file, all suspected lines (lines whose commit is not found yet) pass to it. Then
 * only this file is returned.
 */
async function findSources(board: Scoreboard, origin: Origin): Promise<Origin | (Origin | undefined)[]> {
  const { graph } = board;
  const count = graph.parentCount(origin.commit);
  const sources: (Origin | undefined)[] = new Array(count).fill(undefined);
  // A file at the same path in any parent has priority over a renamed file. The first pass therefore looks only for the
  // same path in all parents, and the second pass for renamed files. The search stops at a file with equal content,
  // because it receives all lines.
  for (const isRenamed of [false, true]) {
    for (let nth = 0; nth < count; nth++) {
      if (sources[nth]) continue;
      const parent = graph.parentOf(origin.commit, nth);
      const source = isRenamed ? await board.renamed(origin, parent) : board.samePath(origin, parent);
      if (!source) continue;
      if (source.blob === origin.blob) {
        source.lines ??= origin.lines;
        board.suspect(source, origin.suspects);
        return source;
      }
      if (!sources.some((other) => other?.blob === source.blob)) sources[nth] = source;
    }
  }
  return sources;
}

/**
 * Passes suspected lines (lines whose commit is not found yet) to the file of a parent, if that file already contains
 * them. Returns the remaining groups of lines, which the commit itself introduced. `moves` searches other places for
 * the remaining lines; undefined if moved lines are not followed.
 */
async function passBlame(
  board: Scoreboard,
  origin: Origin,
  sources: readonly (Origin | undefined)[],
  moves: MoveFinder | undefined,
): Promise<readonly BlameEntry[]> {
  let left: readonly BlameEntry[] = origin.suspects;
  for (const source of sources) {
    if (!source) continue;
    origin.previous ??= source;
    const lines = await board.linesOf(origin);
    const changes = await board.compare(await board.linesOf(source, lines), lines);
    const { kept, passed } = passLines(left, changes);
    board.suspect(source, passed);
    if (source.suspects.length === 0) source.lines = undefined;
    left = kept;
    if (left.length === 0) return left;
  }
  if (!moves) return left;
  const parents = Array.from(sources, (_, nth): GraphPosition => board.graph.parentOf(origin.commit, nth));
  return moves.pass(origin, left, parents, sources);
}

function blamedLines(graph: CommitGraph, origin: Origin, { final, start, count }: BlameEntry): BlamedLines {
  const { commit, path, previous } = origin;
  return {
    start: final,
    count,
    commit: graph.oidOf(commit),
    originalPath: path,
    originalStart: start,
    ...(previous && { previous: { commit: graph.oidOf(previous.commit), path: previous.path } }),
    isBoundary: graph.parentCount(commit) === 0,
  };
}
