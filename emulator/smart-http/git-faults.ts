import type { CutPoint, Ending } from '../faults/kinds/cut.js';
import { callByKind, type KindName, type KindValues } from '../faults/kinds/index.js';
import type { Lost } from '../faults/kinds/lost.js';
import type { Ng } from '../faults/kinds/ng.js';
import type { ChosenAction, GitFacts } from '../faults/request-facts.js';
import type { Stage } from '../faults/stage.js';
import { AnswerCut } from '../http/answer-cut.js';
import { breakReply } from '../http/broken-answer.js';
import type { CutPlace } from '../http/broken-bytes.js';
import { bytes, type Pace, type Reply, stream } from '../http/reply.js';

export type GitStage = Extract<Stage, `git.${string}`>;

/** What was asked to go wrong with one request. A request that asked for nothing has none. */
export interface GitFaults {
  /** Records facts from the body of the request. */
  learn(facts: GitFacts): void;
  /** What happens at the stage. It counts as having happened. */
  take(stage: GitStage): readonly ChosenAction[];
  /** Waits as long as the actions say; throws where they put another answer in the place of Git's. */
  wait(chosen: readonly ChosenAction[]): Promise<void>;
}

/** The actions of one stage that are carried out on the wire. */
export interface WireFaults {
  cut?: { readonly at: CutPoint | undefined; readonly how: Ending };
  flip?: { readonly offset: number | undefined };
  /** Which blob of a pack is left out; a tree where it has none. */
  dropObject?: number;
  bytesPerSecond?: number;
  /** Texts for the user's terminal, each so many times. */
  readonly progress: { readonly text: string; readonly times: number }[];
  /** Told on band 3 of the side-band, or by an `ERR` packet where there is none, in place of what was to come. */
  fatal?: string;
  report?: Ng;
  lost?: Lost;
}

/** Lines of a flood that does not say how many. */
const FLOOD_LINES = 1000;

/** Takes a stage's actions and carries out those that are not for the wire. Undefined where nothing is left. */
export async function meetStage(faults: GitFaults | undefined, stage: GitStage): Promise<WireFaults | undefined> {
  if (faults === undefined) return undefined;
  const chosen = faults.take(stage);
  if (chosen.length === 0) return undefined;
  await faults.wait(chosen);
  return wireFaultsOf(chosen);
}

/** How each kind breaks the wire. */
const ON_WIRE: { readonly [Name in KindName]?: (value: KindValues[Name]) => Partial<WireFaults> } = {
  cut: ({ at, how = 'fin' }) => ({ cut: { at, how } }),
  corrupt: ({ flip }) => ({ flip: { offset: flip } }),
  drop_object: ({ bytes = 0 }) => ({ dropObject: bytes }),
  throttle: ({ bps }) => ({ bytesPerSecond: bps }),
  sideband: ({ band, text }) => (band === 3 ? { fatal: text } : { progress: [{ text, times: 1 }] }),
  flood: ({ text = 'injected progress', lines = FLOOD_LINES }) => ({ progress: [{ text, times: lines }] }),
  ng: (report) => ({ report }),
  lost: (lost) => ({ lost }),
};

export function wireFaultsOf(chosen: readonly ChosenAction[]): WireFaults {
  const parts = chosen.map(({ action }) => callByKind(ON_WIRE, action) ?? {});
  return Object.assign({}, ...parts, { progress: parts.flatMap(({ progress = [] }) => progress) }) as WireFaults;
}

/** Where a payload is cut whose last bytes are its trailer; without a place, in the middle. */
export function placeOf(at: CutPoint | undefined, trailerBytes: number): CutPlace {
  if (at?.bytes !== undefined) return { bytes: at.bytes };
  if (at?.beforeTrailer) return { beforeEnd: trailerBytes };
  return { fraction: at?.fraction ?? 0.5 };
}

/** A reply of packets whose last one is a flush, broken as bytes. `errorBody` says an error in the words of its protocol. */
export function breakPackets(
  reply: Reply,
  { fatal, cut, flip, bytesPerSecond }: WireFaults,
  errorBody: (message: string) => Buffer,
  pace: Pace,
): Reply {
  if (fatal !== undefined) return { ...reply, bytes: errorBody(fatal) };
  const breakage = {
    cut: cut && { at: placeOf(cut.at, FLUSH_BYTES), how: cut.how },
    flip,
    bytesPerSecond,
  };
  return breakReply(reply, breakage, undefined, pace);
}

const FLUSH_BYTES = 4;

/** The answer to a push whose report was written, as it leaves. `whole`: bytes of the report that is not cut. */
export function breakReportReply(
  reply: Reply,
  { cut, lost, bytesPerSecond }: WireFaults,
  whole: number,
  pace: Pace,
): Reply {
  if (typeof lost === 'object') return bytes(lost.status, Buffer.from('The answer was lost.\n'), PLAIN);
  if (lost !== undefined) return { ...reply, cut: { how: lost } };
  const slow = bytesPerSecond === undefined ? reply : breakReply(reply, { bytesPerSecond }, undefined, pace);
  if (cut === undefined || cut.how === 'end') return slow;
  const { how } = cut;
  const { status, headers, bytes: sent, stream: source } = slow;
  const body = (async function* () {
    if (source !== undefined) yield* source;
    else yield sent!;
    throw new AnswerCut(how);
  })();
  return stream(status, body, { ...headers, 'content-length': String(whole) });
}

const PLAIN = { 'content-type': 'text/plain; charset=utf-8' };
