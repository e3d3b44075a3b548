import { COST } from '../../schedule/cost.js';
import { PIECE, PIECE_COST, type Steps } from '../../schedule/steps.js';
import { requestLimit } from '../limits/request-limits.js';
import { type ByteString, bytesOf, concatBytes, NO_BYTES, sliceBytes } from '../object/bytes.js';
import { commitLinks } from '../object/commit.js';
import { MalformedObject } from '../object/malformed-object.js';
import {
  COMMIT,
  isOid,
  MissingObject,
  type ObjectReader,
  type Oid,
  TAG,
  TREE,
  type TypeCode,
  typeCode,
} from '../object/object.js';
import { findEntry } from '../object/read-tree.js';
import { findCommit, findTree, peelTags } from '../object/tag.js';
import { refNameIssue } from '../refs/ref-name.js';
import type { Refs } from '../refs/refs.js';
import type { CommitGraph, GraphPosition } from '../revwalk/commit-graph.js';

/**
 * Reason why a revision cannot be resolved. `malformed` means invalid syntax. `missing` means that the name or object
 * does not exist. `ambiguous` means that several objects have the abbreviated id.
 */
export type RevisionIssue = 'malformed' | 'missing' | 'ambiguous';

export type RevisionOutcome =
  /** Object that the revision names. If the revision is only the name of a ref, `ref` is the full name of this ref. */
  | { readonly oid: Oid; readonly ref?: ByteString | undefined; readonly issue?: undefined }
  | { readonly issue: RevisionIssue; readonly oid?: undefined };

export interface RevisionOptions {
  /** Kind of ref to choose if a branch and a tag have one name. The default is the tag, as in Git. */
  readonly prefer?: 'branch' | 'tag';
  /** Type of object that an abbreviated id should name. Objects of other types do not make the id ambiguous. */
  readonly want?: 'commit' | 'tree';
  /** Prefix of the refs to look up, such as `refs/namespaces/ephemeral/`. The revision does not contain this prefix. */
  readonly namespace?: ByteString;
  /** Graph of parsed commits, which makes `~n` fast. Commits outside the graph are read from the object store. */
  readonly graph?: CommitGraph;
}

/**
 * Prefix of refs that a revision cannot name. Without this rule, full ref names would give access to other namespaces.
 */
const NAMESPACES = 'refs/namespaces/';

/**
 * Prefixes that complete a short ref name, in the order in which they are tried (gitrevisions, `<refname>`). The keys
 * `tag` and `branch` are the preferred kind of ref.
 */
const REF_RULES = {
  tag: ['', 'refs/', 'refs/tags/', 'refs/heads/', 'refs/remotes/'].map(bytesOf),
  branch: ['', 'refs/', 'refs/heads/', 'refs/tags/', 'refs/remotes/'].map(bytesOf),
};
const REMOTES = bytesOf('refs/remotes/');
const REMOTE_HEAD = bytesOf('/HEAD');
const HEAD = bytesOf('HEAD');

const MALFORMED: RevisionOutcome = { issue: 'malformed' };
const MISSING: RevisionOutcome = { issue: 'missing' };

/** Suffix of a revision that leads from one object to another: `^2`, `~3`, `^{tree}`, `:path`. */
type Step =
  | { readonly kind: 'parent' | 'ancestor'; readonly count: number }
  | { readonly kind: 'peel'; readonly type: TypeCode | 'object' | 'any' }
  | { readonly kind: 'path'; readonly path: ByteString };

/**
 * Resolves a revision as `git rev-parse --verify --end-of-options` does.
 *
 * A revision begins with a complete or abbreviated id, HEAD, `@`, a full or short ref name, or `name-12-gabcdef`
 * (output of `git describe`). Any number of `^`, `^n`, `~n`, `^{type}` and `^{}` may follow, and `:path` at the end.
 * Revisions that need a reflog, an index or a search (`@{1}`, `:0:x`, `:/text`, `^{/text}`) are reported as `missing`.
 */
export function* resolveRevision(
  objects: ObjectReader,
  refs: Refs,
  text: ByteString,
  options: RevisionOptions = {},
): Steps<RevisionOutcome> {
  if (text === '' || text.length > requestLimit('revisionBytes')) return MALFORMED;
  if (text.startsWith(':') || text.includes('@{') || text.includes('^{/')) return MISSING;
  const end = text.search(/[~^:]/);
  const name = end < 0 ? text : sliceBytes(text, 0, end);
  const steps = parseSteps(end < 0 ? NO_BYTES : sliceBytes(text, end));
  if (!steps || (name !== '@' && refNameIssue(name, { oneLevel: true }) !== undefined)) return MALFORMED;
  const first = yield* resolveName(objects, refs, name, { ...options, ...wantOf(steps) });
  if (first.issue !== undefined || steps.length === 0) return first;
  return yield* followSteps(objects, first.oid, steps, options.graph);
}

function parseSteps(text: ByteString): Step[] | undefined {
  const steps: Step[] = [];
  const pattern = /\^\{(?<type>\w*)\}|(?<sign>[~^])(?<count>\d*)|:(?<path>.*)/sy;
  while (pattern.lastIndex < text.length) {
    const groups = pattern.exec(text)?.groups;
    if (!groups) return undefined;
    const { type, sign, count, path = '' } = groups;
    if (type !== undefined) {
      const peeled = peelType(type);
      if (peeled === undefined) return undefined;
      steps.push({ kind: 'peel', type: peeled });
    } else if (sign !== undefined) {
      steps.push({ kind: sign === '~' ? 'ancestor' : 'parent', count: count === '' ? 1 : Number(count) });
    } else {
      const end = pattern.lastIndex;
      steps.push({ kind: 'path', path: sliceBytes(text, end - path.length, end) });
    }
  }
  return steps;
}

function peelType(name: string): TypeCode | 'object' | 'any' | undefined {
  if (name === '') return 'any';
  if (name === 'object') return 'object';
  return name === 'commit' || name === 'tree' || name === 'blob' || name === 'tag' ? typeCode(name) : undefined;
}

/**
 * Returns the type of object that the first suffix of a revision applies to. With a known type, an abbreviated id is
 * less often ambiguous.
 */
function wantOf([step]: Step[]): Pick<RevisionOptions, 'want'> {
  if (!step) return {};
  if (step.kind === 'path') return { want: 'tree' };
  if (step.kind !== 'peel') return { want: 'commit' };
  if (step.type === COMMIT) return { want: 'commit' };
  return step.type === TREE ? { want: 'tree' } : {};
}

function* resolveName(
  objects: ObjectReader,
  refs: Refs,
  name: ByteString,
  options: RevisionOptions,
): Steps<RevisionOutcome> {
  const lower = name.toLowerCase();
  if (isOid(lower)) return objects.find(lower) < 0 ? MISSING : { oid: lower };
  const found = lookUpRef(refs, name === '@' ? HEAD : name, options);
  if (found !== undefined) return found;
  const described = /-\d+-g([0-9a-f]{4,40})$/i.exec(name)?.[1];
  if (described !== undefined) return yield* resolveShortOid(objects, described.toLowerCase(), 'commit');
  return /^[0-9a-f]{4,39}$/.test(lower) ? yield* resolveShortOid(objects, lower, options.want) : MISSING;
}

type FoundRef = { readonly oid: Oid; readonly ref?: ByteString | undefined };

function lookUpRef(
  refs: Refs,
  name: ByteString,
  { prefer = 'tag', namespace = NO_BYTES }: RevisionOptions,
): FoundRef | undefined {
  if (name === 'HEAD' && namespace === '') return headOf(refs);
  const rules = REF_RULES[prefer].map((rule) => concatBytes(rule, name)).filter((full) => !full.startsWith(NAMESPACES));
  for (const ref of [...rules, concatBytes(REMOTES, name, REMOTE_HEAD)]) {
    const oid = refs.get(concatBytes(namespace, ref));
    if (oid !== undefined) return { oid, ref };
  }
  return undefined;
}

function headOf(refs: Refs): FoundRef | undefined {
  const oid = refs.headOid;
  return oid === undefined ? undefined : { oid, ref: 'symref' in refs.head ? refs.head.symref : undefined };
}

function* followSteps(
  objects: ObjectReader,
  start: Oid,
  steps: Step[],
  graph: CommitGraph | undefined,
): Steps<RevisionOutcome> {
  let oid: Oid | undefined = start;
  try {
    for (const step of steps) {
      oid = yield* followStep(objects, oid, step, graph);
      yield COST.operation;
      // A tree entry may name a missing object: a gitlink (submodule) names a commit of another repository.
      if (oid === undefined || objects.find(oid) < 0) return MISSING;
    }
  } catch (error) {
    // A malformed object can be stored only if it was received without checks (fsck is off). Git could not read it
    // either.
    if (error instanceof MalformedObject) return MISSING;
    throw error;
  }
  return { oid };
}

function* followStep(
  objects: ObjectReader,
  oid: Oid,
  step: Step,
  graph: CommitGraph | undefined,
): Steps<Oid | undefined> {
  switch (step.kind) {
    case 'parent':
      return yield* parentOf(objects, oid, step.count);
    case 'ancestor':
      return yield* ancestorOf(objects, oid, step.count, graph);
    case 'path': {
      const tree = yield* findTree(objects, oid);
      return tree === undefined ? undefined : (yield* findEntry(objects, tree, step.path))?.oid;
    }
    case 'peel':
      return yield* peelTo(objects, oid, step.type);
  }
}

function* parentOf(objects: ObjectReader, oid: Oid, count: number): Steps<Oid | undefined> {
  const commit = yield* findCommit(objects, oid);
  if (commit === undefined || count === 0) return commit;
  const { parents } = commitLinks(objects.read(objects.find(commit)));
  yield COST.object;
  return parents[count - 1];
}

function* ancestorOf(
  objects: ObjectReader,
  oid: Oid,
  count: number,
  graph: CommitGraph | undefined,
): Steps<Oid | undefined> {
  let commit = yield* findCommit(objects, oid);
  for (let left = count; left > 0 && commit !== undefined; left--) {
    if (graph !== undefined) {
      const position = graph.positionOf(objects.find(commit));
      if (position >= 0) return yield* ancestorInGraph(graph, position, left);
    }
    commit = yield* parentOf(objects, commit, 1);
  }
  return commit;
}

/**
 * Returns the ancestor of a commit after `count` steps to the first parent; undefined if the history is shorter. No
 * objects are read, because the graph contains all ancestors of its commits.
 */
function* ancestorInGraph(graph: CommitGraph, from: GraphPosition, count: number): Steps<Oid | undefined> {
  let position = from;
  for (let left = count; left > 0 && position >= 0; left--) {
    position = graph.parentOf(position, 0);
    if (left % PIECE === 0) yield PIECE_COST;
  }
  return position < 0 ? undefined : graph.oidOf(position);
}

/**
 * Follows annotated tags, and goes from a commit to its tree, until an object of type `type` is found (gitrevisions,
 * `<rev>^{<type>}`). Returns undefined if none is found.
 */
function* peelTo(objects: ObjectReader, oid: Oid, type: TypeCode | 'object' | 'any'): Steps<Oid | undefined> {
  if (type === 'object') return oid;
  if (type === 'any') return yield* peelTags(objects, oid);
  if (type === COMMIT) return yield* findCommit(objects, oid);
  if (type === TREE) return yield* findTree(objects, oid);
  const peeled = type === TAG ? oid : yield* peelTags(objects, oid);
  return objects.typeOf(objects.find(peeled)) === type ? peeled : undefined;
}

/**
 * Maximum number of objects with one id prefix that are examined. In a store of 65 million objects, this many ids have
 * a common prefix of four digits.
 */
const MAX_CANDIDATES = 1000;
/**
 * Cost of comparing one id with a prefix, in work units (about a microsecond each). All ids in the store are compared.
 */
const COST_PER_ID = COST.byteScanned;

/**
 * Returns the id of the object whose id starts with `prefix` (4 to 40 lower-case hexadecimal digits). If several
 * objects match and `want` is given, only objects of this type count, and tags or commits that lead to one. As in Git,
 * exactly one such object must remain.
 */
function* resolveShortOid(
  objects: ObjectReader,
  prefix: string,
  want: 'commit' | 'tree' | undefined,
): Steps<{ oid: Oid; issue?: undefined } | { issue: 'missing' | 'ambiguous' }> {
  yield objects.size * COST_PER_ID;
  const candidates = objects.findPrefix(prefix, MAX_CANDIDATES);
  const [first, ...others] = candidates;
  if (first === undefined) return { issue: 'missing' };
  if (others.length === 0) return { oid: first };
  if (want === undefined) return { issue: 'ambiguous' };
  let fitting: Oid | undefined;
  for (const oid of candidates) {
    if (!(yield* mayBe(objects, oid, want))) continue;
    if (fitting !== undefined) return { issue: 'ambiguous' };
    fitting = oid;
  }
  return fitting === undefined ? { issue: 'ambiguous' } : { oid: fitting };
}

function* mayBe(objects: ObjectReader, oid: Oid, want: 'commit' | 'tree'): Steps<boolean> {
  const type = yield* typeBehind(objects, oid);
  return type === COMMIT || (want === 'tree' && type === TREE);
}

function* typeBehind(objects: ObjectReader, oid: Oid): Steps<number | undefined> {
  yield COST.operation;
  const type = objects.typeOf(objects.find(oid));
  if (type !== TAG) return type;
  try {
    return objects.typeOf(objects.find(yield* peelTags(objects, oid)));
  } catch (error) {
    if (error instanceof MissingObject || error instanceof MalformedObject) return undefined;
    throw error;
  }
}
