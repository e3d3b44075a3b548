/** Random number generator. Returns an integer from 0 to `below - 1`. */
export type Random = (below: number) => number;

const SYLLABLES = [
  ['re', 'un', 'in', 'con', 'de', 'ex', 'sub', 'pre', 'out', 'over', 'co', 'im', 'dis', 'en'],
  ['pack', 'fer', 'tain', 'form', 'ceiv', 'port', 'solv', 'duc', 'scrib', 'mit', 'vert', 'flat', 'spect', 'lin', 'mod'],
  ['er', 'ion', 'able', 'ing', 'ment', 'ed', 'or', 'ive', 'al', 'ity', 'ure', 'ant'],
] as const;
/** Number of different invented words. A word combines one syllable from each list. */
const WORDS = SYLLABLES.reduce((product, { length }) => product * length, 1);
/**
 * Distance between the syllable combinations of consecutive words. It is coprime to the number of words, so that each
 * index gives a different word. It also keeps the frequent words (low indexes) from sharing many syllables.
 */
const STRIDE = 1009;

const ENDINGS = ['.ts', '.ts', '.ts', '.js', '.md', '.json', '.css'];

export function pick<T>(random: Random, list: readonly T[]): T {
  return list[random(list.length)]!;
}

/**
 * Returns a random integer from 0 to `below` (exclusive). If `power` is above 1, small integers are more frequent; a
 * higher `power` makes them still more frequent.
 */
export function pickEarly(random: Random, below: number, power: number): number {
  return Math.floor((random(2 ** 30) / 2 ** 30) ** power * below);
}

function wordAt(index: number): string {
  let rest = (index * STRIDE) % WORDS;
  return SYLLABLES.map((syllables) => {
    const syllable = syllables[rest % syllables.length]!;
    rest = Math.floor(rest / syllables.length);
    return syllable;
  }).join('');
}

/** Returns `count` invented words. As in real text, some words are frequent and most are rare. */
function words(random: Random, count: number): string[] {
  return Array.from({ length: count }, () => wordAt(pickEarly(random, WORDS, 3)));
}

function identifier(random: Random): string {
  const [first, ...others] = words(random, 2 + random(2));
  return [first, ...others.map(capitalized)].join('');
}

function capitalized(word: string): string {
  return word[0]!.toUpperCase() + word.slice(1);
}

/**
 * Returns an invented path of a source file. As in a real project, the file is one to four folders deep within `src`.
 */
export function inventPath(random: Random): string {
  const folders = Array.from({ length: 1 + random(4) }, () => wordAt(random(12)));
  return ['src', ...folders, `${words(random, 2).join('-')}-${random(1_000_000)}${pick(random, ENDINGS)}`].join('/');
}

function inventLine(random: Random): string {
  const name = identifier(random);
  const [word] = words(random, 1);
  const shapes = [
    () => `// ${words(random, 3 + random(10)).join(' ')}.`,
    () => `if (${name}.${word}(${random(1000)}) > ${identifier(random)}.length) {`,
    () => '}',
    () => `return ${name}(${identifier(random)}, '${word} ${random(10_000)}');`,
    ...Array(3).fill(() => `const ${word} = await ${name}(${identifier(random)}, ${random(1_000_000)});`),
  ];
  return random(8) === 0 ? '' : '  '.repeat(random(4)) + pick(random, shapes)();
}

/** Returns invented lines of code for a new file. Most files are short. A few have up to about 600 lines. */
export function inventLines(random: Random): string[] {
  return Array.from({ length: 10 + pickEarly(random, 600, 3) }, () => inventLine(random));
}

const MAX_LINES = 1500;

/** Returns a copy of a file's lines with one to four edits. Each edit replaces, inserts or deletes some lines. */
export function editLines(random: Random, lines: readonly string[]): string[] {
  const edited = [...lines];
  for (let edits = 1 + random(4); edits > 0; edits--) {
    const added = Array.from({ length: random(9) }, () => inventLine(random));
    edited.splice(random(edited.length + 1), random(7), ...added);
  }
  // Append a line with a random number. The random edits may have no effect, but each edit must change the file.
  edited.push(`// ${words(random, 1)} ${random(1_000_000_000)}`);
  return edited.slice(0, MAX_LINES);
}

export function inventMessage(random: Random, serial: number): string {
  const subject = `${capitalized(words(random, 3).join(' '))} (#${serial})\n`;
  return random(10) < 7 ? subject : `${subject}\n${words(random, 20).join(' ')}.\n`;
}
