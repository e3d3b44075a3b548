import type { CutPoint, Ending } from '../faults/kinds/cut.js';
import { callByKind, type KindName, type KindValues, type ResponseKindName } from '../faults/kinds/index.js';
import type { Lost } from '../faults/kinds/lost.js';
import type { Ng } from '../faults/kinds/ng.js';
import type { ChosenAction, GitFacts } from '../faults/request-facts.js';
import type { Stage } from '../faults/stage.js';
import type { CutPlace } from '../http/broken-bytes.js';
import { breakReply } from '../http/broken-response.js';
import { bytes, type Pace, type Reply, stream } from '../http/reply.js';
import { ResponseCut } from '../http/response-cut.js';

export type GitStage = Extract<Stage, `git.${string}`>;

/** Faults (errors and delays) that a test injects into one Git request. A request without faults has no such object. */
export interface GitFaults {
  /** Tells the faults which command and refs the request body contains. Conditions of faults may compare them. */
  learn(facts: GitFacts): void;
  /**
   * Returns the actions of all faults that fire at a stage, and counts these faults as fired. A stage is a point of the
   * request at which a fault can take effect.
   */
  take(stage: GitStage): readonly ChosenAction[];
  /**
   * Waits until all delays among the actions are over. Throws if an action replaces Git's response by another response.
   */
  wait(chosen: readonly ChosenAction[]): Promise<void>;
}

/** Combined effect of a stage's fault actions on the bytes that the client receives or sends. */
export interface WireFaults {
  cut?: { readonly at: CutPoint | undefined; readonly how: Ending };
  flip?: { readonly offset: number | undefined };
  /** Index of the blob to omit, among the blobs of the pack. If the pack has no blob, a tree is omitted. */
  dropObject?: number;
  bytesPerSecond?: number;
  /** Progress texts for the user's terminal, each with the number of times to send it. */
  readonly progress: { readonly text: string; readonly times: number }[];
  /**
   * Text of a fatal error that replaces the rest of the response. It is sent on side-band channel 3, or as an `ERR`
   * packet without side-band.
   */
  fatal?: string;
  report?: Ng;
  lost?: Lost;
}

/** Default number of progress lines for a fault of the kind `flood`. */
const FLOOD_LINES = 1000;

/**
 * Takes the faults that fire at a stage and waits for their delays. Returns their effect on the bytes; undefined if no
 * fault fires. Throws if an action replaces the response.
 */
export async function takeStageFaults(faults: GitFaults | undefined, stage: GitStage): Promise<WireFaults | undefined> {
  if (faults === undefined) return undefined;
  const chosen = faults.take(stage);
  if (chosen.length === 0) return undefined;
  await faults.wait(chosen);
  return wireFaultsOf(chosen);
}

/**
 * Functions that convert a fault's value to its effect on the bytes, by kind of fault. Kinds that only delay or replace
 * the response are missing.
 */
const ON_WIRE: {
  readonly [Name in Exclude<KindName, ResponseKindName>]: (value: KindValues[Name]) => Partial<WireFaults>;
} = {
  cut: ({ at, how = 'fin' }) => ({ cut: { at, how } }),
  corrupt: ({ flip }) => ({ flip: { offset: flip } }),
  drop_object: ({ bytes = 0 }) => ({ dropObject: bytes }),
  throttle: ({ bps }) => ({ bytesPerSecond: bps }),
  sideband: ({ band, text }) => (band === 3 ? { fatal: text } : { progress: [{ text, times: 1 }] }),
  flood: ({ text = 'injected progress', lines = FLOOD_LINES }) => ({ progress: [{ text, times: lines }] }),
  ng: (report) => ({ report }),
  lost: (lost) => ({ lost }),
};

/**
 * Combines actions into their effect on the bytes. If several actions set the same property, the last one wins.
 * Progress texts are collected.
 */
export function wireFaultsOf(chosen: readonly ChosenAction[]): WireFaults {
  const parts = chosen.map(({ action }) => callByKind(ON_WIRE, action) ?? {});
  return Object.assign({}, ...parts, { progress: parts.flatMap(({ progress = [] }) => progress) }) as WireFaults;
}

/**
 * Returns the position at which to cut a payload; by default the middle. `trailerBytes` is the length of the trailer at
 * the payload's end, for a fault that cuts before it.
 */
export function placeOf(at: CutPoint | undefined, trailerBytes: number): CutPlace {
  if (at?.bytes !== undefined) return { bytes: at.bytes };
  if (at?.beforeTrailer) return { beforeEnd: trailerBytes };
  return { fraction: at?.fraction ?? 0.5 };
}

/**
 * Applies faults that change bytes to a response of packets that ends with a flush packet. `errorBody` encodes an error
 * message as the protocol prescribes for this response.
 */
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

/**
 * Applies faults to the HTTP response to a push. Its body, the status report, may already be truncated. `whole` is the
 * length in bytes of the complete body, which `Content-Length` still announces.
 */
export function breakReportReply(
  reply: Reply,
  { cut, lost, bytesPerSecond }: WireFaults,
  whole: number,
  pace: Pace,
): Reply {
  if (typeof lost === 'object') return bytes(lost.status, Buffer.from('The response was lost.\n'), PLAIN);
  if (lost !== undefined) return { ...reply, cut: { how: lost } };
  const slow = bytesPerSecond === undefined ? reply : breakReply(reply, { bytesPerSecond }, undefined, pace);
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
