import t from 'tap';
import { randomNumbers } from '../../git/test/random-numbers.js';
import { type Event, type FindingKind, findViolations, type Read, type Write } from './linearizability.js';

// Tests the checker that decides whether a history of calls is linearizable. It must find every violation that a test
// adds, and report none in a valid history.

const RUNS = 100;
const INITIAL = new Map([['r', 'v0']]);

interface Recorded {
  readonly events: Event[];
  readonly writes: Write[];
  readonly reads: Read[];
  readonly random: (below: number) => number;
}

/**
 * Generates a valid history of calls that read and change one ref. Each call takes effect at one moment between its
 * start and its end, so the checker must accept the history.
 */
function record(seed: number): Recorded {
  const random = randomNumbers(seed);
  const events: Event[] = [];
  let value = 'v0';
  for (let moment = 100, made = 0; made < 40; moment += 1 + random(5)) {
    const span = { ref: 'r', start: moment - 1 - random(20), end: moment + 1 + random(20) };
    const way = random(10);
    if (way < 5) events.push({ kind: 'read', ...span, value });
    else if (way < 7) events.push({ kind: 'write', ...span, outcome: 'fail', old: `v${random(made + 2)}x`, new: '' });
    else {
      made += 1;
      const next = `v${made}`;
      const outcome = random(5) === 0 ? 'info' : 'ok';
      const isDone = outcome === 'ok' || random(2) === 0;
      events.push({ kind: 'write', ...span, outcome, old: value, new: next });
      if (isDone) value = next;
    }
  }
  return {
    events,
    writes: events.filter((event) => event.kind === 'write' && event.outcome === 'ok') as Write[],
    reads: events.filter((event) => event.kind === 'read') as Read[],
    random,
  };
}

/** Returns the events of a history with `old` replaced by `next`. If `old` is undefined, adds `next`. */
function change({ events }: Recorded, next: Event, old?: Event): Event[] {
  return [...events.filter((event) => event !== old), next];
}

function pick<T>({ random }: Recorded, from: readonly T[]): T {
  return from[random(from.length)]!;
}

/**
 * Changes that each make a valid history invalid in one way, with the findings that the checker must report. `mutate`
 * returns undefined if the history has no event that can be changed in this way.
 */
const MUTATIONS: Readonly<
  Record<string, { kinds: FindingKind[]; mutate: (history: Recorded) => Event[] | undefined }>
> = {
  'a read of a value that was replaced before it began': {
    kinds: ['stale-read'],
    mutate(history) {
      const places = history.reads.flatMap((read) => {
        const over = history.writes.filter((write) => write.end < read.start);
        return over.map((write) => ({ ...read, value: write.old, was: read }));
      });
      if (places.length === 0) return undefined;
      const { was, ...read } = pick(history, places);
      return change(history, read, was);
    },
  },
  'a read of a value that was written after it ended': {
    kinds: ['future-read'],
    mutate(history) {
      const places = history.reads.flatMap((read) => {
        const later = history.writes.filter((write) => write.start > read.end);
        return later.map((write) => ({ ...read, value: write.new, was: read }));
      });
      if (places.length === 0) return undefined;
      const { was, ...read } = pick(history, places);
      return change(history, read, was);
    },
  },
  'a success whose value nobody built on': {
    kinds: ['lost-update'],
    mutate(history) {
      const built = history.writes.filter(({ new: made }) => history.writes.some(({ old }) => old === made));
      if (built.length === 0) return undefined;
      const write = pick(history, built);
      return change(history, { ...write, new: 'lost' }, write);
    },
  },
  'two successes over the same value': {
    kinds: ['double-win'],
    mutate: (history) => change(history, { ...pick(history, history.writes), new: 'twin' }),
  },
  'a read of a value nobody wrote': {
    kinds: ['phantom'],
    mutate(history) {
      const read = pick(history, history.reads);
      return change(history, { ...read, value: 'never' }, read);
    },
  },
};

t.test('histories that happened have no violations', async (t) => {
  for (let seed = 1; seed <= RUNS; seed++) {
    const findings = findViolations(record(seed).events, INITIAL);
    if (findings.length > 0) t.fail(`seed ${seed}: ${JSON.stringify(findings)}`);
  }
  t.pass(`${RUNS} of ${RUNS}`);
});

for (const [what, { kinds, mutate }] of Object.entries(MUTATIONS)) {
  t.test(`${what}: found in each of ${RUNS} histories`, async (t) => {
    let found = 0;
    for (let seed = 1, tried = 0; tried < RUNS; seed++) {
      const events = mutate(record(seed));
      if (!events) continue;
      tried += 1;
      const seen = findViolations(events, INITIAL).map(({ kind }) => kind);
      if (kinds.some((kind) => seen.includes(kind))) found += 1;
      else t.fail(`seed ${seed}: ${seen.join(', ') || 'nothing found'}`);
    }
    t.equal(found, RUNS);
  });
}

t.test('a conflict where the expected value was there all along, and a write out of order', async (t) => {
  const write = (old: string, made: string, start: number, end: number, outcome: Write['outcome'] = 'ok'): Write => ({
    kind: 'write',
    ref: 'r',
    outcome,
    old,
    new: made,
    start,
    end,
  });
  const kinds = (events: Event[]) => findViolations(events, INITIAL).map(({ kind }) => kind);
  const chain = [write('v0', 'v1', 0, 10), write('v1', 'v2', 50, 60)];
  t.same(kinds([...chain, write('v1', '', 20, 40, 'fail')]), ['spurious-conflict']);
  t.same(kinds([...chain, write('v1', '', 20, 55, 'fail')]), [], 'it may have moved before the end');
  t.same(kinds([...chain, write('v1', '', 5, 40, 'fail')]), [], 'it may have come after the start');
  t.same(kinds([write('v0', 'v1', 30, 40), write('v1', 'v2', 0, 10)]), ['order']);
  t.same(kinds([write('v0', 'v1', 0, 10, 'info')]), [], 'what was never answered need not have happened');
  const read = (value: string, start: number, end: number): Read => ({ kind: 'read', ref: 'r', value, start, end });
  const open = [write('v0', 'v1', 0, 100)];
  t.same(
    kinds([...open, read('v1', 10, 20), read('v0', 30, 40)]),
    ['stale-read'],
    'time does not go back between reads',
  );
  t.same(kinds([...open, read('v0', 10, 20), read('v1', 30, 40)]), []);
});
