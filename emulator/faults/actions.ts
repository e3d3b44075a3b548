import type { Action } from './fault.js';
import type { FaultedOperation } from './operation-shape.js';
import type { Stage } from './stage.js';

/** A union's member names. */
type NamesOf<T> = T extends unknown ? keyof T : never;

export type ActionKind = NamesOf<Action>;

interface ActionRow {
  readonly about: string;
  /** Where it can be carried out. */
  readonly stages: readonly Stage[];
  /** Where it is carried out unless a stage is given: for operations of Git by id, for the others under `api`. */
  readonly byDefault: Readonly<Partial<Record<'api' | 'gitInfoRefs' | 'gitUploadPack' | 'gitReceivePack', Stage>>>;
  /** Whether nothing else can happen at its stage behind it. */
  readonly endsStage: (action: Action) => boolean;
}

const GIT: readonly Stage[] = ['git.advertise', 'git.pack', 'git.receive', 'git.report'];
const ANSWER: readonly Stage[] = ['headers', 'auth', 'before', 'body', 'after', 'response.head', ...GIT];
const RATE: readonly Stage[] = [...ANSWER, 'response.body'];
const DELAY: readonly Stage[] = ['accept', ...RATE];
const BEFORE = everywhere('before');
/** Of a fetch the pack, of everything else that is sent the body. */
const SENT = { api: 'response.body', gitUploadPack: 'git.pack' } as const;
const SIDE_BAND = { gitUploadPack: 'git.pack', gitReceivePack: 'git.report' } as const;

function everywhere(stage: Stage): ActionRow['byDefault'] {
  return { api: stage, gitInfoRefs: stage, gitUploadPack: stage, gitReceivePack: stage };
}

const always = () => true;
const never = () => false;

/** What a fault can do, by the member of `Action` that asks for it. */
export const ACTIONS: Readonly<Record<ActionKind, ActionRow>> = {
  error: { about: 'an error by its code', stages: ANSWER, byDefault: BEFORE, endsStage: always },
  unknownCode: {
    about: 'an error with a code that the specification does not know',
    stages: ANSWER,
    byDefault: BEFORE,
    endsStage: always,
  },
  raw: { about: 'this answer', stages: ANSWER, byDefault: BEFORE, endsStage: always },
  latency: { about: 'a delay', stages: DELAY, byDefault: BEFORE, endsStage: never },
  throttle: { about: 'so many bytes a second', stages: RATE, byDefault: BEFORE, endsStage: never },
  hold: { about: 'held until its latch is released', stages: DELAY, byDefault: BEFORE, endsStage: never },
  cut: {
    about: 'what is sent or received ends early',
    stages: ['accept', 'headers', 'body', 'response.head', 'response.body', ...GIT],
    byDefault: SENT,
    endsStage: always,
  },
  corrupt: {
    about: 'one byte is another, or one object is missing',
    stages: ['response.body', 'git.advertise', 'git.pack', 'git.report'],
    byDefault: SENT,
    endsStage: never,
  },
  sideband: {
    about: 'a text on a side-band; a fatal one as an ERR packet where there is no side-band',
    stages: GIT,
    byDefault: SIDE_BAND,
    endsStage: (action) => 'sideband' in action && action.sideband.band === 3,
  },
  flood: {
    about: 'much progress on the side-band',
    stages: ['git.pack', 'git.report'],
    byDefault: SIDE_BAND,
    endsStage: never,
  },
  report: {
    about: 'the report refuses refs',
    stages: ['git.report'],
    byDefault: { gitReceivePack: 'git.report' },
    endsStage: never,
  },
  lostResponse: {
    about: 'the answer is lost after the effect was made',
    stages: ['after', 'git.report'],
    // Not of an advertisement: a push would never come to its effect.
    byDefault: { api: 'after', gitUploadPack: 'after', gitReceivePack: 'after' },
    endsStage: always,
  },
};

/** Actions that one request meets, or `pass` for none. */
export type Entry = readonly Action[] | 'pass';

export function actionsOf({ entries }: { readonly entries: readonly Entry[] }): Action[] {
  return entries.flatMap((entry) => (entry === 'pass' ? [] : entry));
}

export function kindOf(action: Action): ActionKind {
  return Object.keys(action)[0] as ActionKind;
}

/** Where what is sent has a trailer: a pack its checksum, lines the flush. */
const TRAILED: ReadonlySet<Stage> = new Set<Stage>(['git.advertise', 'git.pack', 'git.report']);

/** Where something goes beside what is sent. */
const SIDE_BANDED: ReadonlySet<Stage> = new Set<Stage>(Object.values(SIDE_BAND));

/** Where `action` can be carried out: what speaks of objects only where a pack is sent. */
export function stagesFor(action: Action): readonly Stage[] {
  const { stages } = ACTIONS[kindOf(action)];
  const isOfPack =
    ('corrupt' in action && action.corrupt.dropObject !== undefined) ||
    ('cut' in action && action.cut.at?.objects !== undefined);
  if ('sideband' in action && action.sideband.band === 2) return stages.filter((stage) => SIDE_BANDED.has(stage));
  if (isOfPack) return stages.filter((stage) => stage === 'git.pack');
  return 'cut' in action && action.cut.at?.beforeTrailer ? stages.filter((stage) => TRAILED.has(stage)) : stages;
}

/** The stage at which an operation's request meets `action`; `asked` is the stage that the fault names, if it names one. */
export function stageOf(action: Action, asked: Stage | undefined, operation: FaultedOperation): Stage | undefined {
  if (asked !== undefined) return asked;
  const { byDefault } = ACTIONS[kindOf(action)];
  const stage =
    byDefault[operation.id as keyof ActionRow['byDefault']] ?? (isGit(operation) ? undefined : byDefault.api);
  return stage !== undefined && stagesFor(action).includes(stage) ? stage : undefined;
}

const GIT_OPERATIONS: ReadonlySet<string> = new Set(['gitInfoRefs', 'gitUploadPack', 'gitReceivePack']);

function isGit({ id }: FaultedOperation): boolean {
  return GIT_OPERATIONS.has(id);
}

const STATUSES: ReadonlySet<ActionKind> = new Set<ActionKind>(['error', 'unknownCode', 'raw']);

/**
 * The stage at which the service carries out an action. A response with another status replaces the report of a push as a
 * whole, after the refs have moved.
 */
export function carriedOutAt(action: Action, stage: Stage): Stage {
  return stage === 'git.report' && STATUSES.has(kindOf(action)) ? 'after' : stage;
}
