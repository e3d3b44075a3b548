import { Random } from './random.js';

const SYLLABLES = [
  ['re', 'un', 'in', 'con', 'de', 'ex', 'sub', 'pre', 'out', 'over', 'co', 'im', 'dis', 'en'],
  ['pack', 'fer', 'tain', 'form', 'ceiv', 'port', 'solv', 'duc', 'scrib', 'mit', 'vert', 'flat', 'spect', 'lin', 'mod'],
  ['er', 'ion', 'able', 'ing', 'ment', 'ed', 'or', 'ive', 'al', 'ity', 'ure', 'ant'],
] as const;

/** Returns every combination of the syllables, in a fixed order. */
function inventWords(): readonly string[] {
  const words = SYLLABLES.reduce<string[]>(
    (starts, syllables) => starts.flatMap((start) => syllables.map((syllable) => start + syllable)),
    [''],
  );
  const random = new Random(words.length);
  return words
    .map((word) => [random.next(), word] as const)
    .sort(([a], [b]) => a - b)
    .map(([, word]) => word);
}

const WORDS = inventWords();
const ENDINGS = ['.ts', '.ts', '.ts', '.js', '.md', '.json', '.css'];

/** Returns a word. Some are frequent and most are rare, as in real text. */
function word(random: Random): string {
  return WORDS[Math.floor(random.next() ** 3 * WORDS.length)]!;
}

function capitalized(random: Random): string {
  const chosen = word(random);
  return chosen[0]!.toUpperCase() + chosen.slice(1);
}

function identifier(random: Random): string {
  return random.chance(0.5)
    ? word(random) + capitalized(random)
    : word(random) + capitalized(random) + capitalized(random);
}

/** Returns a path of one to four folders, similar to those of a real project. */
export function inventPath(random: Random, serial: number): string {
  const folders = Array.from({ length: random.between(1, 4) }, () => WORDS[random.below(12)]!);
  return ['src', ...folders, `${word(random)}-${word(random)}-${serial}${random.pick(ENDINGS)}`].join('/');
}

function inventLine(random: Random): string {
  const indent = '  '.repeat(random.between(0, 3));
  switch (random.below(8)) {
    case 0:
      return '';
    case 1:
      return `${indent}// ${Array.from({ length: random.between(3, 12) }, () => word(random)).join(' ')}.`;
    case 2:
      return `${indent}if (${identifier(random)}.${word(random)}(${random.below(1000)}) > ${identifier(random)}.length) {`;
    case 3:
      return `${indent}}`;
    case 4:
      return `${indent}return ${identifier(random)}(${identifier(random)}, '${word(random)} ${random.below(10_000)}');`;
    default:
      return `${indent}const ${word(random)} = await ${identifier(random)}(${identifier(random)}, ${random.below(1_000_000)});`;
  }
}

/** Returns the lines of a new file: mostly short files, some long. */
export function inventLines(random: Random): string[] {
  const length = 10 + Math.floor(random.next() ** 3 * 600);
  return Array.from({ length }, () => inventLine(random));
}

const MAX_LINES = 1500;

/** Returns a copy with one to four edits: lines replaced, inserted or deleted. */
export function editLines(random: Random, lines: readonly string[]): string[] {
  const edited = [...lines];
  for (let place = random.between(1, 4); place > 0; place--) {
    const added = Array.from({ length: random.below(9) }, () => inventLine(random));
    edited.splice(random.below(edited.length + 1), random.below(7), ...added);
  }
  // Append a line, so that the file always differs.
  edited.push(`// ${word(random)} ${random.below(1_000_000_000)}`);
  return edited.slice(0, MAX_LINES);
}

export function inventMessage(random: Random, serial: number): string {
  const subject = `${capitalized(random)} the ${word(random)} ${word(random)} (#${serial})`;
  if (random.chance(0.7)) return `${subject}\n`;
  return `${subject}\n\n${capitalized(random)} ${Array.from({ length: 20 }, () => word(random)).join(' ')}.\n`;
}
