import type { CutPoint, Ending } from '../faults/kinds/cut.js';
import {
  type ConnectionKindName,
  callByKind,
  type KindName,
  type KindValues,
  type ResponseKindName,
} from '../faults/kinds/index.js';
import type { Lost } from '../faults/kinds/lost.js';
import type { Ng } from '../faults/kinds/ng.js';
import type { ChosenAction, GitFacts } from '../faults/request-facts.js';
import type { Stage } from '../faults/stage.js';
import type { CutPlace, Slices } from '../http/broken-bytes.js';
import { breakReply } from '../http/broken-response.js';
import { bytes, type Pace, type Reply, stream } from '../http/reply.js';
import { ResponseCut } from '../http/response-cut.js';

export type GitStage = Extract<Stage, `git.${string}`>;

/**
 * Access to the faults (errors and delays) that a test injects into one Git request. Exists only for requests with
 * faults.
 */
export interface GitFaults {
  /** True if a fault has a condition on the commits of a push, so that `learn` must get their paths and messages. */
  readonly needsCommits: boolean;
  /** True if a fault has a condition on the contents of files in these commits. */
  readonly needsContents: boolean;
  /** Tells the faults about the content of the request body, because their conditions may depend on it. */
  learn(facts: GitFacts): void;
  /**
   * Returns the actions of all faults that fire at a stage, and counts these faults as fired. A stage is a point of the
   * request at which faults can take effect.
   */
  take(stage: GitStage): readonly ChosenAction[];
  /** Waits for the delays among the actions. Throws an error if an action replaces Git's response. */
  wait(chosen: readonly ChosenAction[]): Promise<void>;
}

/** Combined effect of all fault actions of one stage that change the transferred bytes. */
export interface WireFaults {
  cut?: { readonly at: CutPoint | undefined; readonly how: Ending };
  flip?: { readonly offset: number | undefined };
  /**
   * Index of the blob to leave out, counted among the blobs of the pack. If the pack has no blob, a tree is left out.
   */
  dropObject?: number;
  bytesPerSecond?: number;
  slices?: Slices;
  /** Progress texts that Git shows on the user's terminal, with the number of times that each is sent. */
  readonly progress: { readonly text: string; readonly times: number }[];
  /**
   * Text of a fatal error that replaces the rest of the response. It is sent on side-band channel 3, or as an `ERR`
   * packet if the client does not use the side-band.
   */
  fatal?: string;
  report?: Ng;
  lost?: Lost;
}

/** Default number of progress lines of a `flood` fault. */
const FLOOD_LINES = 1000;

/**
 * Takes the actions of all faults that fire at a stage, and waits for their delays. Returns the combined effect of the
 * actions that change bytes; undefined if no fault fires. Throws if an action replaces the response.
 */
export async function takeStageFaults(faults: GitFaults | undefined, stage: GitStage): Promise<WireFaults | undefined> {
  if (faults === undefined) return undefined;
  const chosen = faults.take(stage);
  if (chosen.length === 0) return undefined;
  await faults.wait(chosen);
  return wireFaultsOf(chosen);
}

/**
 * Converts the value of a fault to its effect on the transferred bytes. There is one function for each kind of fault
 * that does not delay or replace the response.
 */
const ON_WIRE: {
  readonly [Name in Exclude<KindName, ResponseKindName | ConnectionKindName>]: (
    value: KindValues[Name],
  ) => Partial<WireFaults>;
} = {
  cut: ({ at, how = 'fin' }) => ({ cut: { at, how } }),
  corrupt: ({ flip }) => ({ flip: { offset: flip } }),
  drop_object: ({ bytes = 0 }) => ({ dropObject: bytes }),
  throttle: ({ bps }) => ({ bytesPerSecond: bps }),
  slice: ({ size, pause = 0 }) => ({ slices: { size, pause } }),
  sideband: ({ band, text }) => (band === 3 ? { fatal: text } : { progress: [{ text, times: 1 }] }),
  flood: ({ text = 'injected progress', lines = FLOOD_LINES }) => ({ progress: [{ text, times: lines }] }),
  ng: (report) => ({ report }),
  lost: (lost) => ({ lost }),
};

/**
 * Combines actions into their effect on the transferred bytes. If several actions set one member, the last one counts.
 * Progress texts are collected from all actions.
 */
export function wireFaultsOf(chosen: readonly ChosenAction[]): WireFaults {
  const parts = chosen.map(({ action }) => callByKind(ON_WIRE, action) ?? {});
  return Object.assign({}, ...parts, { progress: parts.flatMap(({ progress = [] }) => progress) }) as WireFaults;
}

/**
 * Returns the position at which a payload is cut. Default: the middle. `trailerBytes` is the length of the payload's
 * trailer, for a fault that cuts just before it.
 */
export function placeOf(at: CutPoint | undefined, trailerBytes: number): CutPlace {
  if (at?.bytes !== undefined) return { bytes: at.bytes };
  if (at?.beforeTrailer) return { beforeEnd: trailerBytes };
  return { fraction: at?.fraction ?? 0.5 };
}

/**
 * Applies faults that change bytes to a response of packets that ends with a flush packet. `errorBody` encodes an error
 * message as the protocol requires for this response.
 */
export function breakPackets(
  reply: Reply,
  { fatal, cut, flip, bytesPerSecond, slices }: WireFaults,
  errorBody: (message: string) => Buffer,
  pace: Pace,
): Reply {
  if (fatal !== undefined) return { ...reply, bytes: errorBody(fatal) };
  const breakage = {
    cut: cut && { at: placeOf(cut.at, FLUSH_BYTES), how: cut.how },
    flip,
    bytesPerSecond,
    slices,
  };
  return breakReply(reply, breakage, undefined, pace);
}

const FLUSH_BYTES = 4;

/**
 * Applies faults to the HTTP response to a push. Its body (the status report) may already be truncated. `whole` is the
 * length in bytes of the complete body, which `Content-Length` still announces.
 */
export function breakReportReply(
  reply: Reply,
  { cut, lost, bytesPerSecond, slices }: WireFaults,
  whole: number,
  pace: Pace,
): Reply {
  if (typeof lost === 'object') return bytes(lost.status, Buffer.from('The response was lost.\n'), PLAIN);
  if (lost !== undefined) return { ...reply, cut: { how: lost } };
  const isSlow = bytesPerSecond !== undefined || slices !== undefined;
  const slow = isSlow ? breakReply(reply, { bytesPerSecond, slices }, undefined, pace) : reply;
  if (cut === undefined || cut.how === 'end') return slow;
  const { how } = cut;
  const { status, headers, bytes: sent, stream: source } = slow;
  const body = (async function* () {
    if (source !== undefined) yield* source;
    else yield sent!;
    throw new ResponseCut(how);
  })();
  return stream(status, body, { ...headers, 'content-length': String(whole) });
}

const PLAIN = { 'content-type': 'text/plain; charset=utf-8' };
