import { type Action, stageOf, stagesFor } from './kinds/index.js';
import type { FaultedOperation, NamedGitData } from './operation-shape.js';
import type { RequestShape } from './request-shape.js';
import type { Stage } from './stage.js';

/** All stages, in the order in which a request reaches them. */
const WAY: readonly Stage[] = [
  'accept',
  'headers',
  'auth',
  'body',
  'before',
  'git.advertise',
  'git.receive',
  'git.pack',
  'git.report',
  'after',
  'response.head',
  'response.body',
];

/**
 * Conditions (members of `match`) that compare facts which become known at the same stage of a request. For example,
 * the user is known only after the token is verified.
 */
interface KnownRow {
  readonly members: readonly string[];
  readonly from: Stage;
  /** Requests to which the row applies, and the words that describe them. Undefined means all requests. */
  readonly of?: { readonly words: string; readonly holds: (shape: RequestShape) => boolean };
}

const ofGit = (shape: RequestShape): boolean => shape.git !== undefined;
const ofCommand = (command: string, words = `of ${command}`) => ({
  words,
  holds: ({ git }: RequestShape) => git?.command === command,
});

const ofWrite = (data: keyof NamedGitData, words: string) => ({
  words,
  holds: ({ operation }: RequestShape) => operation.names?.[data] !== undefined,
});
const OF_PUSH = { words: 'of a push', holds: ({ operation }: RequestShape) => operation.id === 'gitReceivePack' };

/** Returns true if requests to the operation have a body of JSON or NDJSON. */
export function readsJson({ reads, group }: FaultedOperation): boolean {
  return reads === 'json' || (reads === 'stream' && group !== 'Git');
}

/**
 * Table of the stages at which the facts behind the conditions of `match` become known. The first row that contains the
 * condition and applies to the request counts. If no row does, such requests never have the fact, so the fault could
 * not fire.
 */
export const KNOWN_FACTS: readonly KnownRow[] = [
  { members: ['op', 'org', 'scenario', 'http.method', 'http.header', 'http.query'], from: 'headers' },
  { members: ['git.service', 'git.phase', 'git.protocol'], from: 'headers', of: { words: 'of Git', holds: ofGit } },
  {
    members: ['repo'],
    from: 'headers',
    of: { words: 'if the path names it', holds: ({ namesRepository }) => namesRepository },
  },
  // The next rows say `body`, not `auth`, because faults at `auth` fire before the token is verified. The token is
  // verified before the body is read.
  { members: ['repo'], from: 'body' },
  { members: ['token.sub', 'token.kid', 'token.alg', 'token.scopes', 'token.claims'], from: 'body' },
  {
    members: ['http.body'],
    from: 'before',
    of: { words: 'of JSON or NDJSON', holds: ({ operation }) => readsJson(operation) },
  },
  { members: ['git.ref'], from: 'before', of: ofWrite('refs', 'of a write through the API') },
  { members: ['git.path'], from: 'before', of: ofWrite('paths', 'of a commit of files through the API') },
  { members: ['git.message'], from: 'before', of: ofWrite('messages', 'of a commit through the API') },
  { members: ['git.content'], from: 'before', of: ofWrite('contents', 'of a commit of files through the API') },
  { members: ['git.command'], from: 'git.advertise', of: ofCommand('ls-refs') },
  { members: ['git.command', 'git.ref'], from: 'git.pack', of: ofCommand('fetch') },
  { members: ['git.command'], from: 'after', of: ofCommand('object-info') },
  { members: ['git.ref', 'git.path', 'git.message', 'git.content'], from: 'git.receive', of: OF_PUSH },
];

/** Returns the first stage at which a condition can be checked for this kind of request; undefined if it never can. */
export function knownFrom(member: string, shape: RequestShape): Stage | undefined {
  return KNOWN_FACTS.find(({ members, of }) => members.includes(member) && (of?.holds(shape) ?? true))?.from;
}

/**
 * Returns the stage at which an action of a fault acts on requests of one kind. It is the stage `asked`, or the default
 * stage of the action. If `members` (the conditions of the fault) compare facts that are not known at the default stage,
 * it is the first later stage at which they are. Returns undefined if the action has no default stage for the request.
 */
export function stageOfAction(
  action: Action,
  asked: Stage | undefined,
  members: readonly string[],
  shape: RequestShape,
): Stage | undefined {
  const usual = stageOf(action, asked, shape.operation);
  if (asked !== undefined || usual === undefined) return usual;
  const known = members.map((member) => knownFrom(member, shape) ?? usual);
  if (known.every((stage) => isNoLater(stage, usual))) return usual;
  const possible = stagesFor(action).filter((stage) => shape.stages.has(stage));
  const isKnownAt = (stage: Stage) => [usual, ...known].every((first) => isNoLater(first, stage));
  return WAY.find((stage) => possible.includes(stage) && isKnownAt(stage)) ?? usual;
}

/** Returns true if `first` equals `second` or comes before it in the course of a request. */
export function isNoLater(first: Stage, second: Stage): boolean {
  return WAY.indexOf(first) <= WAY.indexOf(second);
}

/** Returns the facts that become known at each stage, as text for readers: `repo (if the path names it)`. */
export function factsByStage(): ReadonlyMap<Stage, readonly string[]> {
  const wordsOf = ({ members, of }: KnownRow) => `${members.join(', ')}${of ? ` (${of.words})` : ''}`;
  return new Map(WAY.map((stage) => [stage, KNOWN_FACTS.filter(({ from }) => from === stage).map(wordsOf)]));
}
