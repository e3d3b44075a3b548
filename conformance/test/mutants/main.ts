import { allRules } from '../../rules/registry.js';
import { readArguments } from './arguments.js';
import { checkAll, complaintsOf } from './check-all.js';
import { CONTROL_SERVERS, complaintsAbout } from './controls.js';
import { FullRun } from './full-run.js';
import { type Mutant, WrongRow } from './mutant.js';
import type { Outcome } from './outcome.js';
import { allMutants } from './rows/index.js';
import { runMutants } from './run-mutants.js';
import { findStaleRows, mergeRows, readTable, rowOf, TABLE_FILE, type TableRow, writeTable } from './table.js';

// npm run mutants [-- --lanes N] [--write] [part of a mutant's name or of a rule's id …]
//
// npm run mutants -- --full [--fresh]
//
// A mutant is a server with one deliberate mistake. This program checks each mutant with the rules that must detect it.
// It also runs `conformance run` against servers that the command must recognize as wrong.
//
// Exits with 1 if a mutant stays undetected, if a server is judged wrongly, or if the stored table of outcomes is
// outdated.
//
// - --lanes N runs N emulators in parallel.
// - --write updates the table.
// - --full checks each mutant with every rule, which takes hours, and writes the table. It resumes an earlier full run
//   that was stopped.
// - --fresh makes a full run start from the beginning.

const { parts, lanes, full, fresh, write } = readArguments(process.argv.slice(2));
const started = performance.now();

function isMeant({ name, rules }: Mutant): boolean {
  return parts.length === 0 || parts.some((part) => [name, ...rules].some((one) => one.includes(part)));
}

function describe({ mutant, rule, fate, verdict, reason }: Outcome): string {
  return `${fate}: ${mutant.name} (a server that ${mutant.does}), by ${rule}: ${verdict} ${reason}`.trimEnd();
}

/** Prints one line for each problem and each undetected mutant, then the counts of all outcomes. */
function conclude(outcomes: readonly Outcome[], complaints: readonly string[]): void {
  const survivors = outcomes.filter(({ fate }) => fate !== 'killed');
  for (const sentence of [...complaints, ...survivors.map(describe)]) console.log(sentence);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  const killed = outcomes.length - survivors.length;
  console.log(`${killed} killed, ${survivors.length} not killed, ${complaints.length} complaints, ${seconds} s`);
  if (survivors.length + complaints.length > 0) process.exitCode = 1;
}

function bringUpToDate(outcomes: readonly Outcome[]): TableRow[] {
  const rows = mergeRows(readTable(), allMutants(), outcomes.map(rowOf));
  writeTable(rows);
  return rows;
}

async function checkSome(mutants: readonly Mutant[]): Promise<void> {
  const outcomes: Outcome[] = [];
  const control = await runMutants(mutants, { lanes, onChecked: (_mutant, found) => outcomes.push(...found) });
  if (write) bringUpToDate(outcomes);
  conclude(outcomes, complaintsOf(control));
}

async function checkEach(): Promise<void> {
  const tableOf = (found: readonly Outcome[]) => (write ? bringUpToDate(found) : readTable());
  const { outcomes, complaints } = await checkAll(allMutants(), { lanes, onChecked: () => undefined }, tableOf);
  const ofServers: string[] = [];
  for (const server of CONTROL_SERVERS) ofServers.push(...(await complaintsAbout(server)));
  conclude(outcomes, [...complaints, ...ofServers]);
}

async function checkByEveryRule(): Promise<void> {
  const run = new FullRun(fresh);
  const mutants = allMutants().filter(isMeant);
  const left = mutants.filter((mutant) => !run.isDone(mutant));
  let done = mutants.length - left.length;
  if (done > 0) console.log(`${done} of ${mutants.length} are known from an earlier run`);
  if (left.length > 0) {
    await runMutants(left, {
      lanes,
      rules: allRules(),
      check: (lane, mutant) => run.check(lane, mutant),
      onChecked: ({ name }, outcomes) => {
        done += 1;
        const killed = outcomes.filter(({ fate }) => fate === 'killed').length;
        console.log(`${done} of ${mutants.length}: ${name} is killed by ${killed} rules`);
      },
    });
  }
  const names = new Set(mutants.map(({ name }) => name));
  const others = readTable().filter(({ mutant }) => !names.has(mutant));
  const rows = mergeRows(
    others,
    allMutants(),
    mutants.flatMap((mutant) => run.rowsOf(mutant)),
  );
  writeTable(rows);
  for (const sentence of findStaleRows(rows, allMutants(), allRules())) {
    console.log(`${TABLE_FILE}: ${sentence}`);
    process.exitCode = 1;
  }
}

try {
  if (full) await checkByEveryRule();
  else await (parts.length === 0 ? checkEach() : checkSome(allMutants().filter(isMeant)));
} catch (error) {
  if (!(error instanceof WrongRow)) throw error;
  for (const sentence of error.sentences) console.log(sentence);
  process.exitCode = 1;
}
