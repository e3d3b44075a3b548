import { availableParallelism } from 'node:os';
import type { Judgement } from './judge.js';
import { allMutants } from './rows/index.js';
import { runMutants } from './run-mutants.js';

// npm run mutants [-- part of a name or of a rule's id …]

const parts = process.argv.slice(2);
const mutants = allMutants().filter(
  ({ name, rules }) => parts.length === 0 || parts.some((part) => [name, ...rules].some((one) => one.includes(part))),
);
const started = performance.now();
const survivors: Judgement[] = [];
const control = await runMutants(mutants, {
  lanes: Math.max(1, Math.min(availableParallelism(), Math.ceil(mutants.length / 8))),
  onJudged: (_mutant, judgements) => survivors.push(...judgements.filter(({ fate }) => fate !== 'killed')),
});
for (const { rule, reason } of control.judgements.filter(({ fate }) => fate === 'killed' || fate === 'inconclusive')) {
  console.log(`inert: ${rule} is not kept without a mutant: ${reason}`);
}
for (const { mutant, rule, fate, reason } of survivors) {
  console.log(`${fate}: ${mutant.name} (a server that ${mutant.does}), by ${rule}: ${reason}`);
}
console.log(
  `${mutants.length} mutants, ${survivors.length} not killed, ${((performance.now() - started) / 1000).toFixed(1)} s`,
);
process.exitCode = survivors.length === 0 ? 0 : 1;
