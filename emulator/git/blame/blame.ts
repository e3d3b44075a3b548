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
  /** Line ranges, each in the syntax of `git blame -L`. All lines if empty or undefined. */
  readonly ranges?: readonly string[] | undefined;
  /** Follows lines that were moved within the file or copied from other files, as `git blame -M -C -C` does. */
  readonly detectMoves?: boolean | undefined;
  /** Cached blames of files of the repository. Not used with `detectMoves`. */
  readonly known?: KnownBlames | undefined;
}

/** Error thrown when the path is not a file. */
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
 * Finds the commit that introduced each line of a file. Returns the information of `git blame --porcelain`, ordered by
 * line. Throws `NoSuchFile`, `BadLineRange`, `WorkLimitExceeded` or `MissingObject`.
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
  // Oldest known origin with the unchanged content of the whole file. Its blame is equal in all commits from there to
  // the requested one.
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
 * Returns the source of the file in each parent, undefined if absent. If a parent has an equal file, passes all
 * suspected lines on to it and returns only that origin.
 */
async function findSources(board: Scoreboard, origin: Origin): Promise<Origin | (Origin | undefined)[]> {
  const { graph } = board;
  const count = graph.parentCount(origin.commit);
  const sources: (Origin | undefined)[] = new Array(count).fill(undefined);
  // A file of the same path in any parent has priority over a renamed one. An equal file takes all lines.
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

/** Passes lines on to the commit's parents as far as possible. Returns the remaining entries. */
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
