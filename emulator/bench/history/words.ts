import { Random } from './random.js';

const SYLLABLES = [
  ['re', 'un', 'in', 'con', 'de', 'ex', 'sub', 'pre', 'out', 'over', 'co', 'im', 'dis', 'en'],
  ['pack', 'fer', 'tain', 'form', 'ceiv', 'port', 'solv', 'duc', 'scrib', 'mit', 'vert', 'flat', 'spect', 'lin', 'mod'],
  ['er', 'ion', 'able', 'ing', 'ment', 'ed', 'or', 'ive', 'al', 'ity', 'ure', 'ant'],
] as const;

/** Every word that can be made of the syllables, in an order of their own. */
export function inventWords(): readonly string[] {
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
