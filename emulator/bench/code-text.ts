/** Returns an integer from 0 to `below` (exclusive). */
export type Random = (below: number) => number;

const SYLLABLES = [
  ['re', 'un', 'in', 'con', 'de', 'ex', 'sub', 'pre', 'out', 'over', 'co', 'im', 'dis', 'en'],
  ['pack', 'fer', 'tain', 'form', 'ceiv', 'port', 'solv', 'duc', 'scrib', 'mit', 'vert', 'flat', 'spect', 'lin', 'mod'],
  ['er', 'ion', 'able', 'ing', 'ment', 'ed', 'or', 'ive', 'al', 'ity', 'ure', 'ant'],
] as const;
/** Number of words: every combination of the syllables. */
const WORDS = SYLLABLES.reduce((product, { length }) => product * length, 1);
/** Coprime to the number of words, so that frequent words share few syllables. */
const STRIDE = 1009;

const ENDINGS = ['.ts', '.ts', '.ts', '.js', '.md', '.json', '.css'];

export function pick<T>(random: Random, list: readonly T[]): T {
  return list[random(list.length)]!;
}

/** Returns an integer from 0 to `below` (exclusive): small ones are the more frequent, the higher `power` is. */
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

/** Returns words. Some are frequent and most are rare, as in real text. */
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

/** Returns a path of one to four folders, similar to those of a real project. */
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

/** Returns the lines of a new file: mostly short files, some long. */
export function inventLines(random: Random): string[] {
  return Array.from({ length: 10 + pickEarly(random, 600, 3) }, () => inventLine(random));
}

const MAX_LINES = 1500;

/** Returns a copy with one to four edits: lines replaced, inserted or deleted. */
export function editLines(random: Random, lines: readonly string[]): string[] {
  const edited = [...lines];
  for (let edits = 1 + random(4); edits > 0; edits--) {
    const added = Array.from({ length: random(9) }, () => inventLine(random));
    edited.splice(random(edited.length + 1), random(7), ...added);
  }
  // Append a line, so that the file always differs.
  edited.push(`// ${words(random, 1)} ${random(1_000_000_000)}`);
  return edited.slice(0, MAX_LINES);
}

export function inventMessage(random: Random, serial: number): string {
  const subject = `${capitalized(words(random, 3).join(' '))} (#${serial})\n`;
  return random(10) < 7 ? subject : `${subject}\n${words(random, 20).join(' ')}.\n`;
}
