import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { randomNumbers } from '../git/test/random-numbers.js';
import { runCommand } from './command.js';
import { askSettled, askVitals } from './lone-ingest.js';
import { Remote, type Server } from './remote.js';
import { markdown, shorten } from './report.js';
import { type Findings, PRESSURES, pressWith, runCases, spawnSmall } from './soak/cases.js';
import { Tally } from './soak/tally.js';
import { User } from './soak/user.js';
import type { Vitals } from './soak/vitals.js';

const USAGE = `Keeps the emulator busy for a while and checks that nothing breaks, leaks or is lost.

  --minutes N   how long, in minutes (default 1)
  --seed N      seed of what the clients do (default 1)
  --cases NAME  instead, the hostile cases whose names hold this text ('' for all), each alone

Exits with 1 when an invariant was broken; how fast answers came is shown and never checked.
`;

const CLIENTS = 8;
/** Maximum number of messages about failed checks that are printed. */
const MAX_FINDINGS = 50;
/** Share of each phase in the total duration of the soak test. */
const SHARES = { mixed: 0.4, faults: 0.25, pressure: 0.25, drain: 0.05 };
/**
 * Memory that the server may use after all repositories were deleted. Each limit is the memory after the warm-up times
 * `share`, plus the given bytes.
 *
 * - `heap`: JavaScript heap, which grows by the journal of requests and by compiled code
 * - `held`: heap and buffers, which grow by packs cached for the next clone; the number of cached packs is limited
 */
const TOLERATED = { share: 1.05, heap: 16 * 2 ** 20, held: 80 * 2 ** 20 };

/** Result of one phase of the soak test, with the figures for the table. */
interface Phase {
  readonly name: string;
  readonly tally: Tally;
  readonly delayP99: number;
  readonly delayMax: number;
  readonly held: number;
}

class Soak {
  readonly phases: Phase[] = [];
  readonly #users: User[];

  constructor(
    private readonly server: Server,
    private readonly milliseconds: number,
    seed: number,
  ) {
    const random = randomNumbers(seed);
    const userOf = (_: unknown, index: number) =>
      new User(server.origin, `soak-${index}`, randomNumbers(random(2 ** 32)), new Tally());
    this.#users = Array.from({ length: CLIENTS }, userOf);
  }

  async run(): Promise<void> {
    const start = await this.#warmUp();
    await this.#phase('mixed', SHARES.mixed, (user) => user.act());
    await this.#phase('faults', SHARES.faults, (user) => user.misbehave());
    await this.#underPressure();
    await this.#phase('verify', 0, (user) => user.verify());
    await this.#emptied(start);
    await this.#drained();
  }

  /**
   * Creates, uses and deletes repositories once, so that the server compiles its code and fills its caches. Returns the
   * memory in use, as the baseline for later comparisons.
   */
  async #warmUp(): Promise<Vitals> {
    await this.#phase('warm-up', 0, async (user) => {
      await user.create();
      for (let action = 0; action < 100; action++) await user.misbehave();
      await user.cloneAndPush();
      await user.delete();
    });
    const vitals = await askSettled(this.server);
    await Promise.all(this.#users.map((user) => user.create()));
    return vitals;
  }

  /**
   * Runs one phase. Each simulated user calls `act` at least once, and repeats it until the phase's `share` of the
   * total duration is over.
   */
  async #phase(
    name: string,
    share: number,
    act: (user: User) => Promise<void>,
    beside?: (tally: Tally) => Promise<void>,
  ) {
    const tally = new Tally();
    const end = performance.now() + share * this.milliseconds;
    const repeat = async (user: User) => {
      user.tally = tally;
      do {
        await act(user).catch((error: Error) => tally.expect(false, `${name}: ${error.message}`));
      } while (performance.now() < end);
    };
    await Promise.all([...this.#users.map(repeat), beside?.(tally)]);
    this.phases.push({ name, tally, ...(await askVitals(this.server)) });
  }

  /** Measures the response times of ordinary readers while another client sends expensive requests. */
  async #underPressure(): Promise<void> {
    await using remote = new Remote(this.server.origin);
    const share = SHARES.pressure / Object.keys(PRESSURES).length;
    for (const [name, row] of Object.entries(PRESSURES)) {
      const press = async (tally: Tally) => {
        const end = performance.now() + share * this.milliseconds;
        do {
          const start = performance.now();
          const statuses = await pressWith(remote, row);
          tally.time('pressure', performance.now() - start);
          const isServed = statuses.every((status) => [200, 201, 504].includes(status));
          tally.expect(isServed, `${name} was answered with ${statuses.join(' ')}`);
        } while (performance.now() < end);
      };
      await this.#phase(`beside ${name}`, share, (user) => user.read(), press);
    }
  }

  /** Deletes all repositories, then checks that the server's memory has returned to the baseline. */
  async #emptied(start: Vitals): Promise<void> {
    await Promise.all(this.#users.map((user) => user.delete()));
    const vitals = await askSettled(this.server);
    const tally = new Tally();
    for (const kind of ['heap', 'held'] as const) {
      const [now, first] = [vitals[kind], start[kind]];
      const max = first * TOLERATED.share + TOLERATED[kind];
      tally.expect(now <= max, `${kind}: ${mebibytes(now)} MiB with everything deleted, ${mebibytes(first)} at first`);
    }
    this.phases.push({ name: 'everything deleted', tally, ...vitals });
  }

  /**
   * Stops the server while requests are running. Checks that the server completes the responses it has started, refuses
   * new requests, and exits successfully.
   */
  async #drained(): Promise<void> {
    const tally = new Tally();
    const { child } = this.server;
    const exit = once(child, 'exit') as Promise<[number | null, string | null]>;
    let isStopping = false;
    const { held } = await askVitals(this.server);
    const load = this.#users.map(async (user) => {
      user.tally = tally;
      await user.create();
      for (let turn = 0; ; turn++) {
        try {
          await (turn % 2 === 0 ? user.read() : user.commit());
        } catch (error) {
          tally.expect(isStopping, `drain: ${(error as Error).message}`);
          // Ignores refused new connections and closed idle connections, which are correct for a stopping server. Only
          // the error "aborted" means that a response was truncated.
          tally.expect((error as Error).message !== 'aborted', 'an answer broke off while the server stopped');
          return;
        }
        if (isStopping) return;
      }
    });
    await sleep(SHARES.drain * this.milliseconds);
    isStopping = true;
    const start = performance.now();
    child.kill('SIGTERM');
    const [code, signal] = await exit;
    tally.time('pressure', performance.now() - start);
    await Promise.all(load);
    tally.expect(code === 0, `the server ended with ${code ?? signal}`);
    for (const user of this.#users) await user.remote[Symbol.asyncDispose]();
    this.phases.push({ name: 'drain after SIGTERM', tally, held, delayP99: Number.NaN, delayMax: Number.NaN });
  }
}

function mebibytes(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(1);
}

const HEADINGS = ['phase', 'requests', 'read p50', 'read p99', 'write p99', 'longest', 'loop p99', 'loop max', 'held'];

function writePhases(phases: readonly Phase[]): string {
  const rows = phases.map(({ name, tally, delayP99, delayMax, held }) => {
    const shares = [
      ['read', 0.5],
      ['read', 0.99],
      ['write', 0.99],
      ['pressure', 1],
    ] as const;
    const quantiles = shares.map(([kind, share]) => tally.quantile(kind, share));
    const times = [...quantiles, delayP99, delayMax].map((time) => (Number.isNaN(time) ? '' : `${shorten(time)} ms`));
    return [name, String(tally.requests), ...times, `${mebibytes(held)} MiB`, String(tally.findings.length)];
  });
  return markdown([...HEADINGS, 'broken'], rows);
}

async function main(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      minutes: { type: 'string', default: '1' },
      seed: { type: 'string', default: '1' },
      cases: { type: 'string' },
    },
  });
  const minutes = Number(values.minutes);
  if (!(minutes > 0)) throw new Error('--minutes takes a number above 0.');
  const { table, findings } =
    values.cases === undefined ? await runSoak(minutes, Number(values.seed)) : await runCases(values.cases);
  process.stdout.write(table);
  for (const finding of findings.slice(0, MAX_FINDINGS)) process.stderr.write(`${finding}\n`);
  return findings.length === 0 ? 0 : 1;
}

async function runSoak(minutes: number, seed: number): Promise<Findings> {
  await using server = await spawnSmall();
  const soak = new Soak(server, minutes * 60_000, seed);
  await soak.run();
  const findings = soak.phases.flatMap(({ name, tally }) => tally.findings.map((finding) => `${name}: ${finding}`));
  return { table: writePhases(soak.phases), findings };
}

await runCommand(USAGE, main);
