/**
 * Checks a recorded history of compare-and-swap registers (refs) for linearizability.
 *
 * Every new value is unique and every write names the value it replaced, so the writes that took effect form one
 * chain per register and no search is needed: the checker walks the chain, gives each write the earliest moment it
 * can have happened, and sees whether all the rest fits. That is exact, and takes linear time.
 */

interface Span {
  readonly ref: string;
  /** Moments on one monotonic clock: before the request was sent, after its answer had arrived. */
  readonly start: number;
  readonly end: number;
}

/** `ok`: answered as done. `fail`: answered as a conflict. `info`: no answer came, it may have happened or not. */
export interface Write extends Span {
  readonly kind: 'write';
  readonly outcome: 'ok' | 'fail' | 'info';
  /** The value replaced; of a conflict, the value that was expected. */
  readonly old: string;
  /** Of a conflict it does not matter. */
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

/** One value of a register, the write that made it, and when that can have been. */
interface Version {
  readonly value: string;
  /** Undefined for the value at the start. */
  readonly write: Write | undefined;
  readonly reads: Read[];
  earliest: number;
  latest: number;
}

/** Everything in `events` that no sequential execution explains. Registers start with their value in `initial`. */
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
    // The register held what was expected from before the call until after it, however the writes are placed.
    if (chain[place]!.latest < write.start && write.end < end) report('spurious-conflict', write);
  }
  return findings;
}

/** From the first value on, the write that replaced it, and so forth. A write without answer counts if its value was seen. */
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
 * A write happens within its call, after the write before it, and not before any read of what it replaced began;
 * and before every read of its value ended.
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
        // What follows is checked as if this one had been on time.
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
