import type { Random } from './random.js';

const VERBS = ['read', 'write', 'parse', 'find', 'open', 'close', 'merge', 'split', 'check', 'count', 'move', 'fetch'];
const NOUNS = ['Header', 'Packet', 'Branch', 'Commit', 'Record', 'Stream', 'Cursor', 'Socket', 'Buffer', 'Window'];
const FOLDERS = ['core', 'http', 'store', 'client', 'server', 'render', 'parser', 'tools', 'auth', 'queue'];
const ENDINGS = ['.ts', '.ts', '.ts', '.js', '.md', '.json', '.css'];

function identifier(random: Random): string {
  return `${random.pick(VERBS)}${random.pick(NOUNS)}${random.pick(NOUNS)}`;
}

/** A path of one to four folders that look like a project's. */
export function inventPath(random: Random, serial: number): string {
  const folders = Array.from({ length: random.between(1, 4) }, () => random.pick(FOLDERS));
  const name = `${random.pick(VERBS)}-${random.pick(NOUNS).toLowerCase()}-${serial}${random.pick(ENDINGS)}`;
  return ['src', ...folders, name].join('/');
}

function inventLine(random: Random): string {
  const indent = '  '.repeat(random.between(0, 3));
  switch (random.below(8)) {
    case 0:
      return '';
    case 1:
      return `${indent}// ${random.pick(VERBS)} the ${random.pick(NOUNS).toLowerCase()} before ${identifier(random)}`;
    case 2:
      return `${indent}if (${identifier(random)}(${random.below(1000)}) > ${identifier(random)}.length) {`;
    case 3:
      return `${indent}}`;
    case 4:
      return `${indent}return ${identifier(random)}(${identifier(random)}, '${random.pick(FOLDERS)}-${random.below(10_000)}');`;
    default:
      return `${indent}const ${identifier(random)} = ${identifier(random)}(${random.below(100_000)});`;
  }
}

/** The lines of a new file: mostly short files, some long. */
export function inventLines(random: Random): string[] {
  const length = 10 + Math.floor(random.next() ** 3 * 400);
  return Array.from({ length }, () => inventLine(random));
}

/** A copy with one to three places changed: lines replaced, put in or taken out. */
export function editLines(random: Random, lines: readonly string[]): string[] {
  const edited = [...lines];
  for (let place = random.between(1, 3); place > 0; place--) {
    const at = random.below(edited.length + 1);
    const added = Array.from({ length: random.below(5) }, () => inventLine(random));
    edited.splice(at, random.below(4), ...added);
  }
  // An edit always shows.
  edited.push(`// revision ${random.below(1_000_000_000)}`);
  return edited.length > 1200 ? edited.slice(-600) : edited;
}

export function inventMessage(random: Random, serial: number): string {
  const subject = `${random.pick(['Add', 'Fix', 'Move', 'Rename', 'Speed up', 'Explain'])} ${identifier(random)} (#${serial})`;
  return random.chance(0.3) ? `${subject}\n\nBecause of ${identifier(random)}.\n` : `${subject}\n`;
}
