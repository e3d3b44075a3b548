import { forgePrefix } from '../../config/option-values.js';
import type { CodeReference, FaultReference, NameReference } from '../../faults/reference.js';
import type { Stage } from '../../faults/stage.js';
import { specifiedCode } from '../../http/problem.js';
import { defineCommand } from '../command.js';
import { code, writeMarkdownTable, writeTable } from '../table.js';
import { UsageError } from '../usage-error.js';

/**
 * Command `emulator faults`: lists the kinds of faults (deliberate failures of requests), and how to cause each error
 * code. It needs no running emulator.
 */
export const faultsCommand = defineCommand({
  name: 'faults',
  describe: 'List the kinds of faults (failures on demand) and the error codes; with a name, show only that fault',
  flags: {
    json: { describe: 'As JSON' },
    markdown: { describe: 'Print the Markdown table of the reference documentation' },
    'forge-prefix': {
      read: forgePrefix,
      describe:
        'Prefix of error codes about the forge, as in `emulator start --forge-prefix`; a name may have either prefix',
    },
  },
  positionals: { name: 'Name of a fault, such as cut or repository_thawing' },
  exclusive: [['json', 'markdown']],
  run: async ({ name, json, markdown, 'forge-prefix': prefix }, { terminal }) => {
    const { faultReference } = await import('../../faults/reference.js');
    const all = faultReference(prefix ?? prefixOf(name));
    const wanted = name === undefined ? all : only(all, name);
    if (json) return terminal.print(`${JSON.stringify(wanted, undefined, 2)}\n`);
    if (markdown) return terminal.print(writeMarkdown(wanted));
    terminal.print(name === undefined ? writeOverview(all) : writeOne(wanted));
  },
});

/**
 * Returns the vendor prefix of an error code about the external forge: `github` for `github_app_not_configured`.
 * Returns undefined if the code has the default prefix `forge`, or no such prefix.
 */
function prefixOf(name: string | undefined): string | undefined {
  const code = specifiedCode(name ?? '');
  return code === name || name === undefined ? undefined : name.slice(0, name.length - code.length + 'forge'.length);
}

function only(all: FaultReference, name: string): FaultReference {
  const names = all.names.filter((row) => row.name === name);
  if (names.length === 0) {
    throw new UsageError(`Unknown fault ${JSON.stringify(name)}. \`emulator faults\` lists all faults.`);
  }
  return { ...all, names, codes: all.codes.filter(({ code }) => code === name) };
}

/** Formats the keys (parameters) of a fault: `reason= [retry-after=]`. Optional keys are in brackets. */
function keysOf({ keys }: NameReference): string {
  return keys.map(({ key, needed }) => (needed ? `${key}=` : `[${key}=]`)).join(' ');
}

function isCode({ status }: NameReference): boolean {
  return status !== undefined;
}

/**
 * Describes the keys (parameters of a fault) of error codes. Names each code that has keys in addition to those of all
 * codes.
 */
function aboutCodes(all: FaultReference): string {
  const codes = all.names.filter(isCode);
  const own = codes.flatMap(({ name, keys }) =>
    keys
      .filter(({ key }) => !codes[0]!.keys.some((each) => each.key === key))
      .map(({ key }) => `${name} also has ${key}=`),
  );
  return ['responds with this error code, in the error format of the operation', ...own].join('; ');
}

function writeOverview(all: FaultReference): string {
  const names = all.names.filter((row) => !isCode(row));
  const rows = names.map((row) => [row.name, keysOf(row), row.defaultStages.join(' '), row.about]);
  const first = all.names.find(isCode)!;
  return [
    `${all.grammar}, separated by commas if several; for X-Emulator-Fault, emulator token --fault and emulator fault add\n\n`,
    writeTable([
      ['NAME', 'KEYS', 'STAGE', 'WHAT'],
      ['any code', keysOf(first), first.defaultStages.join(' '), aboutCodes(all)],
      ...rows,
    ]),
    '\n',
    writeTable([['STAGE', 'WHEN'], ...Object.entries(all.stages).map(([stage, about]) => [stage, about])]),
    '\n',
    writeTable([['CODE', 'STATUS', 'WAY'], ...all.codes.map(({ code, status, way }) => [code, String(status), way])]),
    '\nemulator faults CODE prints commands that result in the code.\n',
  ].join('');
}

function writeOne({ names, codes }: FaultReference): string {
  const lines = names.flatMap((row) => [
    `${row.name}: ${row.about}`,
    `stages: ${row.stages.join(', ')}; default ${row.defaultStages.join(', ')}`,
    ...row.keys.map(({ key, about, wants, needed }) => `  ${key}=  ${about}: ${wants}${needed ? ' (required)' : ''}`),
  ]);
  for (const { status, way, commands } of codes) lines.push('', `# ${status}, ${WAYS[way]}`, ...commands);
  return lines.map((line) => `${line}\n`).join('');
}

const WAYS: Readonly<Record<CodeReference['way'], string>> = {
  natural: 'caused by requests only',
  state: 'caused by a simulated state',
  quota: 'caused by a quota',
  fault: 'caused by a fault',
};

function writeMarkdown(all: FaultReference): string {
  const names = all.names.filter((each) => !isCode(each));
  const first = all.names.find(isCode);
  const stages = ({ defaultStages, stages: allowed }: NameReference) =>
    [...defaultStages, ...allowed.filter((stage) => !defaultStages.includes(stage))].map(code).join(', ');
  const row = (name: string, each: NameReference, about: string) => [name, code(keysOf(each)), stages(each), about];
  const parts = [
    writeMarkdownTable([
      ['Name', 'Keys', 'Stages, default first', 'What'],
      ...(first ? [row('any code of the list below', first, aboutCodes(all))] : []),
      ...names.map((each) => row(code(each.name), each, each.about)),
    ]),
    writeMarkdownTable([
      ['Stage', 'When', 'Members of `match` that are known from this stage on'],
      ...Object.entries(all.known).map(([stage, known]) => [code(stage), all.stages[stage as Stage], known.join('; ')]),
    ]),
  ];
  const byFault = all.codes.filter(({ way }) => way === 'fault');
  if (byFault[0]) parts.push(writeFaultRecipes([byFault[0], ...byFault.slice(1)]));
  for (const { code: name, status, way, commands } of all.codes) {
    if (way !== 'fault') parts.push(`### ${status} ${name}\n\n${sentence(WAYS[way])}\n\n${writeScript(commands)}`);
  }
  return parts.join('\n');
}

/**
 * Formats one table of all error codes that only a fault can cause. It has one example, because the commands for these
 * codes differ only in the code.
 */
function writeFaultRecipes(rows: readonly [CodeReference, ...CodeReference[]]): string {
  const [first] = rows;
  return [
    '### Codes that a fault returns\n',
    `Send the code in \`X-Emulator-Fault\`. This is ${code(first.code)}; every code of the table works in its place:\n`,
    writeScript(first.commands),
    writeMarkdownTable([['Status', 'Code'], ...rows.map((row) => [String(row.status), code(row.code)])]),
  ].join('\n');
}

function writeScript(commands: readonly string[]): string {
  return `\`\`\`sh\n${commands.join('\n')}\n\`\`\`\n`;
}

function sentence(words: string): string {
  return `${words[0]!.toUpperCase()}${words.slice(1)}:`;
}
