import type { RequestShape } from './request-shape.js';
import type { Stage } from './stage.js';

/** Stages in the order in which a request reaches them. */
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

/** Members of `match`, and the stage from which on they are known. */
interface KnownRow {
  readonly members: readonly string[];
  readonly from: Stage;
  /** Requests that the row is for; undefined for all. */
  readonly of?: { readonly words: string; readonly holds: (shape: RequestShape) => boolean };
}

const ofGit = (shape: RequestShape): boolean => shape.git !== undefined;
const ofCommand = (command: string, words = `of ${command}`) => ({
  words,
  holds: ({ git }: RequestShape) => git?.command === command,
});

/**
 * What is known of a request at which stage. The first row that has the member and holds for the request decides. A request
 * that no row of a member holds for never has the fact.
 */
export const KNOWN_FACTS: readonly KnownRow[] = [
  { members: ['op', 'org', 'scenario', 'http.method', 'http.header', 'http.query'], from: 'headers' },
  { members: ['git.service', 'git.phase', 'git.protocol'], from: 'headers', of: { words: 'of Git', holds: ofGit } },
  {
    members: ['repo'],
    from: 'headers',
    of: { words: 'where the path names it', holds: ({ namesRepository }) => namesRepository },
  },
  // The token was verified before any of the body is read.
  { members: ['repo'], from: 'body' },
  { members: ['token.sub', 'token.kid', 'token.alg', 'token.scopes', 'token.claims'], from: 'body' },
  {
    members: ['http.body'],
    from: 'before',
    of: { words: 'of JSON', holds: ({ operation }) => operation.reads === 'json' },
  },
  { members: ['git.command'], from: 'git.advertise', of: ofCommand('ls-refs') },
  { members: ['git.command', 'git.ref'], from: 'git.pack', of: ofCommand('fetch') },
  { members: ['git.command'], from: 'after', of: ofCommand('object-info') },
  {
    members: ['git.ref'],
    from: 'git.receive',
    of: { words: 'of a push', holds: ({ operation }) => operation.id === 'gitReceivePack' },
  },
];

/** Returns the stage from which on the member is known of such a request; undefined if never. */
export function knownFrom(member: string, shape: RequestShape): Stage | undefined {
  return KNOWN_FACTS.find(({ members, of }) => members.includes(member) && (of?.holds(shape) ?? true))?.from;
}

/** Returns true if a request reaches `first` no later than `second`. */
export function isNoLater(first: Stage, second: Stage): boolean {
  return WAY.indexOf(first) <= WAY.indexOf(second);
}

/** Describes what becomes known at each stage, such as `repo (where the path names it)`. */
export function factsByStage(): ReadonlyMap<Stage, readonly string[]> {
  const wordsOf = ({ members, of }: KnownRow) => `${members.join(', ')}${of ? ` (${of.words})` : ''}`;
  return new Map(WAY.map((stage) => [stage, KNOWN_FACTS.filter(({ from }) => from === stage).map(wordsOf)]));
}
