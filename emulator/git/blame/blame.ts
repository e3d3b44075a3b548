import type { ByteString } from '../bytes.js';
import type { ObjectReader, Oid } from '../object.js';
import { MODE_GITLINK, MODE_TREE } from '../tree.js';
import { Turn, type TurnOptions } from '../turn.js';
import { type LineRange, parseLineRanges } from './line-ranges.js';
import { MoveFinder } from './moved-lines.js';
import type { Origin, Stretch } from './origin.js';
import { passLines } from './pass-lines.js';
import { type CommitGraph, Scoreboard } from './scoreboard.js';

export interface BlameRequest extends TurnOptions {
  readonly commit: Oid;
  readonly path: ByteString;
  /** As `git blame -L`, each; all lines if there are none. */
  readonly ranges?: readonly string[] | undefined;
  /** As `git blame -M -C -C`: follow lines moved within the file, or copied from others. */
  readonly detectMoves?: boolean | undefined;
}

/** Lines in a row that came into a file by one commit. Lines count from 0. */
export interface BlamedLines {
  readonly start: number;
  readonly count: number;
  readonly commit: Oid;
  /** The file in that commit, and where the lines are in it. */
  readonly originalPath: ByteString;
  readonly originalStart: number;
  /** The parent's file that did not have the lines yet. */
  readonly previous?: { readonly commit: Oid; readonly path: ByteString };
  /** The commit has no parents: the lines may be older than the history. */
  readonly isBoundary: boolean;
}

/** Thrown when there is no file at the path. */
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
 * Who brought in each line of a file: what `git blame --porcelain` tells, line by line, in their order.
 * Throws `NoSuchFile`, `BadLineRange`, `DeadlineExceeded`, `MissingObject`.
 */
export async function blame(objects: ObjectReader, graph: CommitGraph, request: BlameRequest): Promise<BlamedLines[]> {
  const board = new Scoreboard(objects, graph, new Turn(request));
  const found = board.at(request.commit, request.path);
  if (!found || found.mode === MODE_TREE || found.mode === MODE_GITLINK) {
    throw new NoSuchFile(request.path, request.commit);
  }
  const file = board.origin(request.commit, request.path, found.mode, found.oid);
  const lines = board.linesOf(file);
  const ranges = await parseLineRanges(request.ranges ?? [], lines);
  board.suspect(file, ranges.map(wholeStretch));
  const moves = request.detectMoves ? new MoveFinder(board, lines) : undefined;

  const blamed: BlamedLines[] = [];
  for (let origin = board.next(); origin; origin = board.next()) {
    const guilty = await passBlame(board, origin, moves);
    for (const stretch of guilty) blamed.push(blamedLines(graph, origin, stretch));
    origin.suspects = [];
    origin.lines = undefined;
    if (board.turn.isOver) await board.turn.pass();
  }
  return blamed.sort((a, b) => a.start - b.start);
}

function wholeStretch({ start, end }: LineRange): Stretch {
  return { final: start, start, count: end - start };
}

/** Passes what it can on to the commit's parents; the rest it returns. */
async function passBlame(
  board: Scoreboard,
  origin: Origin,
  moves: MoveFinder | undefined,
): Promise<readonly Stretch[]> {
  const { parents } = board.graph.commit(origin.commit);
  const sources: (Origin | undefined)[] = parents.map(() => undefined);
  // A file of the same path in any parent goes before a renamed one; an equal file takes all.
  for (const isRenamed of [false, true]) {
    for (const [index, parent] of parents.entries()) {
      if (sources[index]) continue;
      const source = isRenamed ? await board.renamed(origin, parent) : board.samePath(origin, parent);
      if (!source) continue;
      if (source.blob === origin.blob) {
        source.lines ??= origin.lines;
        board.suspect(source, origin.suspects);
        return [];
      }
      if (!sources.some((other) => other?.blob === source.blob)) sources[index] = source;
    }
  }
  let left: readonly Stretch[] = origin.suspects;
  for (const source of sources) {
    if (!source) continue;
    origin.previous ??= source;
    const lines = board.linesOf(origin);
    const changes = await board.compare(board.linesOf(source, lines), lines);
    const { kept, passed } = passLines(left, changes);
    board.suspect(source, passed);
    if (source.suspects.length === 0) source.lines = undefined;
    left = kept;
    if (left.length === 0) return left;
  }
  return moves ? moves.pass(origin, left, parents, sources) : left;
}

function blamedLines(graph: CommitGraph, origin: Origin, { final, start, count }: Stretch): BlamedLines {
  const { commit, path, previous } = origin;
  return {
    start: final,
    count,
    commit,
    originalPath: path,
    originalStart: start,
    ...(previous && { previous: { commit: previous.commit, path: previous.path } }),
    isBoundary: graph.commit(commit).parents.length === 0,
  };
}
