import { allRules, selectRules } from '../../rules/registry.js';
import { type Mutant, proxied } from './mutant.js';
import { outcomesOf } from './outcome.js';
import { ARCHIVE, GREP, PACK } from './places.js';
import { changesMember, type Place } from './rewrites.js';
import { runMutants } from './run-mutants.js';
import { changesPack, type FileOperation } from './streams.js';

// node dist/conformance/test/mutants/list-inputs.js
//
// Verifies that the suite notices a server that ignores items of a list in a request. Runs all rules of the operation
// against several mutants (servers with one deliberate mistake), which are derived from a table of list parameters:
//
// - The server uses only the first item.
// - The server ignores the last item.
// - The server ignores the first item.
// - The server uses the first item in place of all others.
//
// Prints the mutants that no rule detects. Exits with 1 if there are any.

/**
 * Request members whose value is a list. Each row has the requests of an operation, a pattern for the ids of its rules,
 * and the names of the members.
 */
const LISTS: readonly (readonly [place: Place, rules: string, ...members: string[]])[] = [
  [GREP, 'grep', 'paths', 'include_globs', 'exclude_globs', 'extension_filters'],
  [ARCHIVE, 'archive', 'include_globs', 'exclude_globs'],
  [PACK, 'pack,write', 'files'],
];

type Change = (list: readonly unknown[]) => readonly unknown[];

const MISTAKES: Readonly<Record<string, readonly [does: string, change: Change]>> = {
  first: ['uses only the first item', (list) => list.slice(0, 1)],
  'no-last': ['ignores the last item', (list) => (list.length > 1 ? list.slice(0, -1) : list)],
  'no-first': ['ignores the first item', (list) => (list.length > 1 ? list.slice(1) : list)],
  repeated: ['uses the first item in place of all others', (list) => list.map(() => list[0])],
};

/**
 * Changes the list of files in a commit request. Also removes the chunks of each file that this change removed from the
 * list.
 */
function changesFiles(change: Change) {
  return changesPack((body) => {
    body.files = change(body.files) as FileOperation[];
    const ids = body.files.map((file) => file.content_id);
    body.chunks = body.chunks.filter((one) => ids.includes(one.content_id));
  });
}

/**
 * Maps each mutant to the pattern of the rules that run against it. A mutant is a server with one deliberate mistake.
 */
const mutants = new Map<Mutant, string>();
for (const [place, rules, ...members] of LISTS) {
  for (const member of members) {
    for (const [name, [does, change]] of Object.entries(MISTAKES)) {
      // Skip this mistake for commits. A commit that names a file twice is refused, so no fixture could be created.
      if (place === PACK && name === 'repeated') continue;
      const changed = changesMember(place, member, (list) => (Array.isArray(list) ? change(list) : list));
      const rewrite = place === PACK ? changesFiles(change) : changed;
      mutants.set(
        proxied(
          `list-${rules.replace(/,.*/, '')}-${member}-${name}`.replaceAll('_', '-'),
          [],
          `${does} of ${member}`,
          rewrite,
        ),
        rules,
      );
    }
  }
}

let survivors = 0;
await runMutants([...mutants.keys()], {
  lanes: 1,
  rules: [...new Set(mutants.values())].flatMap((pattern) => selectRules(allRules(), pattern)),
  check: async (lane, mutant) =>
    outcomesOf(mutant, await lane.run(mutant, selectRules(allRules(), mutants.get(mutant)))),
  onChecked: ({ name, does }, outcomes) => {
    const killers = outcomes.filter(({ fate }) => fate === 'killed').map(({ rule }) => rule);
    if (killers.length === 0) survivors += 1;
    console.log(`${name} (a server that ${does}): ${killers.length === 0 ? 'NOT DETECTED' : killers.join(' ')}`);
  },
});
console.log(`${mutants.size - survivors} of ${mutants.size} are detected`);
if (survivors > 0) process.exitCode = 1;
