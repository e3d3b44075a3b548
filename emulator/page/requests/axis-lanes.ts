/*
 * Layout of requests on a time axis: one lane per client. A lane has several tracks (lines of bars), because a client
 * can send requests concurrently. Requests of one track do not overlap in time.
 */

import type { Row } from './entry.js';

/**
 * Groupings of requests into lanes, as values of the parameter `axis` of the page's URL. `client` has a lane per
 * subject (claim `sub` of the token), and a lane per user agent for requests without a subject. `agent` has a lane per
 * user agent.
 */
export const LANES = ['client', 'agent'] as const;
export type LaneKind = (typeof LANES)[number];

/** Reads the parameter `axis` of the page's URL. Throws an error for an unknown value. */
export function readLaneKind(axis: string | undefined): LaneKind | undefined {
  const kind = LANES.find((one) => one === axis);
  if (kind !== undefined || axis === undefined) return kind;
  throw new Error(`The time axis ${JSON.stringify(axis)} is unknown. Use ${LANES.join(' or ')}.`);
}

/** Client that sent the requests of a lane. Either its subject or its user agent is known, or neither. */
export interface Client {
  readonly subject: string | undefined;
  /** User agent of a client without a subject; undefined if the client has a subject or sent no user agent. */
  readonly userAgent: string | undefined;
}

export interface Lane {
  readonly key: string;
  readonly client: Client;
  /** Number of requests. */
  readonly size: number;
  /** Requests of each track, in order of their starts. */
  readonly tracks: readonly (readonly Row[])[];
}

/** Period of real time, in milliseconds since the emulator was started. */
export interface Period {
  readonly start: number;
  readonly end: number;
}

/**
 * Maximum number of tracks of a lane. If more requests of a client overlap, the last track has all others. Its bars are
 * then merged where they overlap.
 */
export const MAX_TRACKS = 5;

export function endOf({ started, duration }: Row): number {
  return started + duration;
}

/** Sorts requests by start. Requests with equal starts keep their order. */
export function byStart(rows: readonly Row[]): Row[] {
  return rows.toSorted((a, b) => a.started - b.started);
}

/** Lane to which further requests are added. `ends` has the end of the last response of each track. */
interface OpenLane {
  readonly client: Client;
  size: number;
  readonly tracks: Row[][];
  readonly ends: number[];
}

/** Distributes requests, in order of their starts, to lanes. The lane whose client sent a request first comes first. */
export function lanesOf(rows: readonly Row[], kind: LaneKind): Lane[] {
  const lanes = new Map<string, OpenLane>();
  for (const row of rows) {
    const client = clientOf(row, kind);
    const key = keyOf(client);
    const lane = lanes.get(key) ?? { client, size: 0, tracks: [], ends: [] };
    lanes.set(key, lane);
    lane.size += 1;
    const free = lane.ends.findIndex((end) => end <= row.started);
    const track = free >= 0 ? free : Math.min(lane.tracks.length, MAX_TRACKS - 1);
    if (track === lane.tracks.length) lane.tracks.push([]);
    lane.tracks[track]!.push(row);
    lane.ends[track] = Math.max(lane.ends[track] ?? 0, endOf(row));
  }
  return Array.from(lanes, ([key, { client, size, tracks }]) => ({ key, client, size, tracks }));
}

function keyOf({ subject, userAgent }: Client): string {
  if (subject !== undefined) return `subject ${subject}`;
  return userAgent === undefined ? 'unknown' : `agent ${userAgent}`;
}

function clientOf({ sender, userAgent }: Row, kind: LaneKind): Client {
  const subject = kind === 'client' ? sender : undefined;
  return { subject, userAgent: subject === undefined ? userAgent : undefined };
}

/**
 * Returns the periods in which no client waits for a response, between the first and the last of these requests. The
 * requests are in order of their starts.
 */
export function pausesOf(rows: readonly Row[]): Period[] {
  const pauses: Period[] = [];
  let end = rows[0]?.started ?? 0;
  for (const row of rows) {
    if (row.started > end) pauses.push({ start: end, end: row.started });
    end = Math.max(end, endOf(row));
  }
  return pauses;
}

/** A pause is shortened if it is longer than this many times the median time from one start to the next. */
const LONG = 50;

/** Maximum number of shortened pauses. Each of them takes a fixed part of the width of the axis. */
const MAX_BREAKS = 40;

/**
 * Returns the pauses that the axis shortens. The requests are in order of their starts. If there are more than
 * `MAX_BREAKS` long pauses, returns those that are at least twice as long as the others.
 */
export function longPauses(rows: readonly Row[]): Period[] {
  const distances = rows.slice(1).map(({ started }, at) => started - rows[at]!.started);
  const median = distances.sort((a, b) => a - b)[Math.floor((distances.length - 1) / 2)] ?? 0;
  const pauses = pausesOf(rows).filter((pause) => lengthOf(pause) > LONG * median);
  const others = pauses.map(lengthOf).sort((a, b) => b - a)[MAX_BREAKS] ?? 0;
  return pauses.filter((pause) => lengthOf(pause) > 2 * others);
}

export function lengthOf({ start, end }: Period): number {
  return end - start;
}
