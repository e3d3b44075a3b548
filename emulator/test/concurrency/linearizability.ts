/**
 * Checks whether a recorded history of refs is linearizable. Each ref is a compare-and-swap register. Some sequential
 * order of the calls must explain all responses.
 *
 * No search is needed, because every new value is unique and every write names the value that it replaced. The
 * successful writes of a ref therefore form one chain. The checker follows the chain, assigns each write the earliest
 * possible time, and checks that all reads and conflicts fit these times. The result is exact, and takes linear time.
 */

interface Span {
  readonly ref: string;
  /**
   * Times between which the call took effect, on one monotonic clock. `start` is before the request was sent, and `end`
   * is after its response arrived.
   */
  readonly start: number;
  readonly end: number;
}

/**
 * Write of a ref as a client saw it. The outcome is `ok` if it succeeded, and `fail` if it was refused as a conflict.
 * It is `info` if no response arrived, so that the write may or may not have taken effect.
 */
export interface Write extends Span {
  readonly kind: 'write';
  readonly outcome: 'ok' | 'fail' | 'info';
  /** Value that the write replaced. For a conflict, the value that the client expected. */
  readonly old: string;
  /** Value that the write stored. Ignored for a conflict, which stores nothing. */
  readonly new: string;
}

export interface Read extends Span {
  readonly kind: 'read';
  readonly value: string;
}

export type Event = Write | Read;

export type FindingKind =
  | 'double-win'
  | 'lost-update'
  | 'order'
  | 'stale-read'
  | 'future-read'
  | 'phantom'
  | 'spurious-conflict';

export interface Finding {
  readonly kind: FindingKind;
  readonly ref: string;
  readonly event: Event;
}

/** Value that a ref had, and the write that stored it. `earliest` and `latest` limit the time of this write. */
interface Version {
  readonly value: string;
  /** Write that stored the value. Undefined for the ref's initial value. */
  readonly write: Write | undefined;
  readonly reads: Read[];
  earliest: number;
  latest: number;
}

/** Returns the events that no sequential order of the calls can explain. `initial` has the first value of each ref. */
export function findViolations(events: readonly Event[], initial: ReadonlyMap<string, string>): Finding[] {
  const byRef = new Map<string, Event[]>();
  for (const event of events) {
    const known = byRef.get(event.ref);
    if (known) known.push(event);
    else byRef.set(event.ref, [event]);
  }
  return [...byRef].flatMap(([ref, own]) => checkRegister(ref, own, initial.get(ref)!));
}

function checkRegister(ref: string, events: readonly Event[], start: string): Finding[] {
  const findings: Finding[] = [];
  const report = (kind: FindingKind, event: Event) => findings.push({ kind, ref, event });
  const reads = events.filter((event) => event.kind === 'read');
  const writes = events.filter((event) => event.kind === 'write');
  const chain = buildChain(writes, reads, start, report);
  const places = new Map(chain.map(({ value }, index) => [value, index]));
  for (const read of reads) {
    const place = places.get(read.value);
    if (place === undefined) report('phantom', read);
    else chain[place]!.reads.push(read);
  }
  placeWrites(chain, report);
  for (const write of writes) {
    if (write.outcome !== 'fail') continue;
    const place = places.get(write.old);
    if (place === undefined) continue;
    const end = chain[place + 1]?.earliest ?? Number.POSITIVE_INFINITY;
    // Report this conflict as wrong. The ref had the expected value during the whole call, whatever the exact times of
    // the other writes are.
    if (chain[place]!.latest < write.start && write.end < end) report('spurious-conflict', write);
  }
  return findings;
}

/**
 * Orders the writes of one ref: each write of the chain replaced the value of the write before it. The chain begins
 * with the initial value. A write without a response is part of it only if a read returned its value.
 */
function buildChain(
  writes: readonly Write[],
  reads: readonly Read[],
  start: string,
  report: (kind: FindingKind, event: Event) => void,
): Version[] {
  const seen = new Set([...reads.map(({ value }) => value), ...writes.map(({ old }) => old)]);
  const successors = new Map<string, Write>();
  for (const write of writes) {
    if (write.outcome !== 'ok') continue;
    if (successors.has(write.old)) report('double-win', write);
    else successors.set(write.old, write);
  }
  for (const write of writes) {
    if (write.outcome !== 'info' || !seen.has(write.new)) continue;
    if (successors.has(write.old)) report('double-win', write);
    else successors.set(write.old, write);
  }
  const chain: Version[] = [versionOf(start, undefined)];
  const placed = new Set<Write>();
  for (let write = successors.get(start); write && !placed.has(write); write = successors.get(write.new)) {
    placed.add(write);
    chain.push(versionOf(write.new, write));
  }
  for (const write of writes) if (write.outcome === 'ok' && !placed.has(write)) report('lost-update', write);
  return chain;
}

function versionOf(value: string, write: Write | undefined): Version {
  return { value, write, reads: [], earliest: Number.NEGATIVE_INFINITY, latest: Number.POSITIVE_INFINITY };
}

/**
 * Assigns each write of a ref the earliest possible time. This time is within its call and after the previous write. It
 * is after the start of each read of the replaced value, and before the end of each read of its own value.
 */
function placeWrites(chain: readonly Version[], report: (kind: FindingKind, event: Event) => void): void {
  for (const [index, version] of chain.entries()) {
    const { write, reads } = version;
    const before = chain[index - 1];
    if (write && before) {
      const readsBefore = Math.max(Number.NEGATIVE_INFINITY, ...before.reads.map((read) => read.start));
      version.earliest = Math.max(before.earliest, write.start, readsBefore);
      if (write.outcome === 'ok' && version.earliest > write.end) {
        const late = before.reads.find((read) => read.start > write.end);
        report(late ? 'stale-read' : 'order', late ?? write);
        // Continue as if the write had been in time, so that later checks do not report this violation again.
        version.earliest = Math.max(write.start, Math.min(version.earliest, write.end));
      }
    }
    for (const read of reads) {
      if (version.earliest <= read.end) continue;
      report(write && read.end < write.start ? 'future-read' : 'stale-read', read);
    }
  }
  let limit = Number.POSITIVE_INFINITY;
  for (const version of [...chain].reverse()) {
    const end = version.write?.outcome === 'ok' ? version.write.end : Number.POSITIVE_INFINITY;
    version.latest = version.write
      ? Math.min(limit, end, ...version.reads.map((read) => read.end))
      : Number.NEGATIVE_INFINITY;
    limit = version.latest;
  }
}
