import { readFile, writeFile } from 'node:fs/promises';
import { packageFile } from '../system/package-root.js';

const DOCUMENT = 'emulator/bench/README.md';

/** A part of the document that a command prints: all between two markers. */
export interface PrintedPart {
  readonly name: string;
  readonly command: string;
}

export const FIGURES: PrintedPart = { name: 'figures', command: 'npm run bench -- --write' };
export const PEERS: PrintedPart = { name: 'peers', command: 'npm run bench:peers -- --write' };

/** The document with another text in its part. Throws when it does not hold the markers, once each, in order. */
export function replacePart(document: string, { name, command }: PrintedPart, text: string): string {
  const begin = `<!-- ${name}: printed by ${command} -->`;
  const end = `<!-- end of ${name} -->`;
  const [before, rest, ...more] = document.split(begin);
  const [, behind, ...others] = rest?.split(end) ?? [];
  if (behind === undefined || more.length + others.length > 0)
    throw new Error(`${DOCUMENT} lacks the markers of ${name}.`);
  return `${before}${begin}\n\n${text.trim()}\n\n${end}${behind}`;
}

/** Writes a printed part of `emulator/bench/README.md` anew. */
export async function writePart(part: PrintedPart, text: string): Promise<void> {
  const file = packageFile(DOCUMENT);
  await writeFile(file, replacePart(await readFile(file, 'utf8'), part, text));
}
