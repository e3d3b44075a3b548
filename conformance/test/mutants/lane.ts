import type { RunContext } from '../../check/run-context.js';
import { GROUP_FIXTURE } from '../../fixtures/repositories.js';
import { callAdmin } from '../../http/admin.js';
import { UNLIMITED } from '../../http/limiter.js';
import type { Report } from '../../report/results.js';
import type { Rule } from '../../rules/rule.js';
import { runRules } from '../../run/runner.js';
import type { Target } from '../../target/target.js';
import { type MutableBuild, type MutableEmulator, startMutable } from './mutable-emulator.js';
import type { Mutant } from './mutant.js';
import { type Rewrite, startProxy, watchRewrite } from './proxy.js';

/** Result of checking one mutant with some rules. A mutant is a server with one deliberate mistake. */
export interface Run {
  readonly report: Report;
  /**
   * Number of requests and responses that the mutant changed. For a mutant that patches the server's code, number of
   * times that the patched code ran.
   */
  readonly met: number;
}

/**
 * Mutant that replaces code of the server with identical code, so the server stays correct. It verifies the test
 * set-up: all rules must pass, and the patched code must run at least once.
 */
export const INERT_PATCH: Mutant = {
  name: 'inert-patch',
  rules: [],
  clauses: [],
  does: 'has the same text in place of its own',
  change: { patch: [{ file: 'auth/claims.js', find: 'return claims.repo;', replace: 'return claims.repo;' }] },
};
export const INERT_PROXY: Mutant = {
  name: 'inert-proxy',
  rules: [],
  clauses: [],
  does: 'passes everything on as it is',
  change: { proxy: { request: () => undefined, response: () => undefined } },
};

/**
 * Emulator process that checks mutants one after another. First prepares fixtures (repositories that several rules
 * read), so that no mutant can break their creation. Restores a snapshot of this state before each mutant.
 */
export class Lane implements AsyncDisposable {
  readonly #fixtures: RunContext['fixtures'] = new Map();
  #snapshot: string | undefined;
  #runs = 0;

  private constructor(readonly emulator: MutableEmulator) {}

  static async start(build: MutableBuild): Promise<Lane> {
    return new Lane(await startMutable(build));
  }

  /**
   * Runs the rules on the correct server. Then takes a snapshot that contains the fixtures of these rules. Later runs
   * begin with this snapshot.
   */
  async prepare(rules: readonly Rule[]): Promise<Run> {
    await this.emulator.switchTo(INERT_PATCH.name);
    const report = await this.#check(this.emulator.target, rules, this.#fixtures);
    const met = await this.emulator.switchTo('');
    this.#snapshot = await this.#admin('/snapshots');
    for (const name of this.#fixtures.keys()) if (name.startsWith(GROUP_FIXTURE)) this.#fixtures.delete(name);
    return { report, met };
  }

  /** Restores the prepared state, switches the mutant on, and runs the rules. */
  async run({ name, change }: Mutant, rules: readonly Rule[]): Promise<Run> {
    await this.#admin(`/snapshots/${this.#snapshot}/restore`);
    const fixtures = new Map(this.#fixtures);
    if ('proxy' in change) return this.#runProxied(change.proxy, rules, fixtures);
    await this.emulator.switchTo(name);
    const report = await this.#check(this.emulator.target, rules, fixtures);
    return { report, met: await this.emulator.switchTo('') };
  }

  async #runProxied(rewrite: Rewrite, rules: readonly Rule[], fixtures: RunContext['fixtures']): Promise<Run> {
    let met = 0;
    const watched = watchRewrite(rewrite, () => {
      met += 1;
    });
    await using proxy = await startProxy(this.emulator.target, watched);
    const report = await this.#check(proxy.target, rules, fixtures);
    return { report, met };
  }

  #check(target: Target, rules: readonly Rule[], fixtures: RunContext['fixtures']): Promise<Report> {
    this.#runs += 1;
    return runRules(target, {
      rules,
      strict: false,
      limiter: UNLIMITED,
      width: 8,
      timeout: 15_000,
      signal: new AbortController().signal,
      prefix: `mutant-${this.#runs}`,
      onRepository: () => Promise.resolve(),
      onResult: () => undefined,
      now: Date.now,
      fixtures,
    });
  }

  async #admin(path: string): Promise<string> {
    const { adminUrl = '' } = this.emulator.target;
    const { status, text, json } = await callAdmin({ url: `${adminUrl}${path}`, method: 'POST', json: {} });
    if (status > 299) throw new Error(`POST ${adminUrl}${path} is ${status}: ${text}`);
    return String((json as { id?: string }).id);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.emulator.close();
  }
}
