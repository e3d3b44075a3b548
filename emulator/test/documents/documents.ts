import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { scenarioJsonSchema } from '../../scenarios/schema.js';
import { biomeConfiguration, folderTable } from './folder-rules.js';
import { PROGRAMS, type Program } from './folders.js';

// The compiled tests are in dist/emulator/test/documents, so the path goes up four folders to the checkout.
export const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));

export const DOCUMENTS: readonly string[] = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'emulator/README.md',
  'emulator/DECISIONS.md',
  ...readdirSync(join(ROOT, 'emulator', 'docs')).map((name) => `emulator/docs/${name}`),
  'emulator/git/README.md',
  'emulator/bench/README.md',
  'conformance/README.md',
  'conformance/SPECIFICATION.md',
];

export function readDocument(name: string): string {
  return readFileSync(join(ROOT, name), 'utf8');
}

/**
 * Matches a part of a document that is the output of a command. It begins with "<!-- printed by `npx NAME …` -->" and
 * ends with "<!-- end -->". `folders PROGRAM`, without `npx`, stands for the result of `folderTable`.
 */
const PRINTED = /(<!-- printed by `(?:npx )?(\w+) ([^`]*)` -->\n)([\s\S]*?)(<!-- end -->)/g;

export interface PrintedPart {
  readonly command: string;
  readonly found: string;
  readonly expected: string;
}

/**
 * Runs the commands whose output a document contains. Returns the text in the document, which may be outdated, and the
 * current output of each command.
 */
export async function printedParts(name: string): Promise<PrintedPart[]> {
  const parts = [...readDocument(name).matchAll(PRINTED)];
  return Promise.all(
    parts.map(async ([, , program, args, found = '']) => ({
      command: `${program} ${args}`,
      found,
      expected: await print(program!, args!),
    })),
  );
}

async function print(program: string, args: string): Promise<string> {
  if (program === 'folders') return folderTable(PROGRAMS.find(({ name }) => name === args)!);
  const file = join(ROOT, 'bin', `${program}.js`);
  const { stdout } = await promisify(execFile)(process.execPath, [file, ...args.split(' ')], { maxBuffer: 2 ** 24 });
  return stdout;
}

/** Updates the command output in a document. Returns true if the document has changed. */
export async function printAnew(name: string): Promise<boolean> {
  const parts = (await printedParts(name)).values();
  const before = readDocument(name);
  const text = before.replace(PRINTED, (_all, begin: string, _program, _args, _found, end: string) => {
    return `${begin}${parts.next().value!.expected}${end}`;
  });
  if (text !== before) writeFileSync(join(ROOT, name), text);
  return text !== before;
}

/** Commands whose output is stored in `fixtures/`, by file name. */
const FIXTURES: Readonly<Record<string, string>> = {
  'conformance-baseline.schema.json': 'schema baseline',
  'conformance-report.schema.json': 'schema report',
  'conformance-target.schema.json': 'schema target',
  'rules.tsv': 'list --tsv',
};

export interface GeneratedFile {
  /** Path relative to the checkout. */
  readonly file: string;
  readonly text: string;
}

/**
 * Returns the files that are completely generated, with their current text: Biome's configurations, and schemas and
 * lists in `fixtures/`.
 */
export async function generatedFiles(): Promise<GeneratedFile[]> {
  const configurations = PROGRAMS.map((program: Program) => ({
    file: `${program.name}/biome.json`,
    text: biomeConfiguration(program),
  }));
  const schema = `${JSON.stringify(scenarioJsonSchema(), undefined, 2)}\n`;
  const printed = Object.entries(FIXTURES).map(async ([name, args]) => ({
    file: `fixtures/${name}`,
    text: await print('conformance', args),
  }));
  return [...configurations, { file: 'fixtures/scenario.schema.json', text: schema }, ...(await Promise.all(printed))];
}

export interface Block {
  readonly language: string;
  readonly text: string;
}

/** Returns the code blocks of a document, except those inside command output. */
export function blocksOf(name: string): Block[] {
  const text = readDocument(name).replace(PRINTED, '');
  return [...text.matchAll(/^ *```(\w*)\n([\s\S]*?)^ *```$/gm)].map(([, language = '', block = '']) => ({
    language,
    text: block,
  }));
}
