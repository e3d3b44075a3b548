import fc from 'fast-check';
import { oidOf, type RawObject } from './raw-push.js';

/** Content of a random push: Git objects, and refs that point to them. */
export interface RandomPush {
  readonly objects: readonly RawObject[];
  readonly tips: readonly { readonly ref: string; readonly oid: string }[];
}

type Type = RawObject['type'];

/** Random numbers from which one Git object is built. `picks` selects the earlier objects to which it links. */
interface Plan {
  readonly type: Type;
  readonly picks: readonly number[];
  readonly odd: number;
}

const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';
const IDENTITIES = [
  'A <a@e> 1700000000 +0000',
  'A <a@e> 1700000001 -1130',
  'Gr\xf6\xdfe <g@e> 1 +0000',
  'A <a@e> 9999999999999 +0000',
  'A <a@e> 18446744073709551614 +9999',
  'A <a@e> -5 -0000',
  'A <a@e> 2000000000 +14',
  '<> 0 +0000',
  'A',
  '',
  'A > < 1 1',
  'A <a@e>',
];
const HEADERS = [
  '',
  'encoding ISO-8859-1\n',
  'encoding x-unknown\n',
  'encoding UTF-16\n',
  'gpgsig -----BEGIN\n x\n  \n',
  'mergetag object\n y\n',
  'change-id q\n',
  'parent zz\n',
  ' folded\n',
  'author B <b@e> 3 +0000\n',
];
const MESSAGES = ['\nm\n', '\n', '', '\n\xff\xfe', '\n\0m\n', '\nm', '\n\n\n'];
const NAMES = [
  'a',
  'b.txt',
  'd',
  'x y',
  '\xff\xfe',
  '\xc3\xa4',
  'A',
  'tab\tname',
  '.gitattributes',
  '.gitmodules',
  'z'.repeat(300),
  '"q"',
  '.git',
  '..',
  '.',
  'a/b',
];
const MODES = {
  file: ['100644', '100755', '100664', '100600', '0100644'],
  link: ['120000'],
  tree: ['40000', '040000'],
};
const GITLINKS = ['160000', '170000', '60000', '0', '10644'];
const BLOBS = [
  '',
  'a',
  'line\nline\n',
  'a\0b',
  '\xff\xfe',
  '../..',
  '* text=auto\n',
  '[submodule "x"]\n\tpath = a\n',
  '\r\n',
];

const plans = fc.array(
  fc.record({
    type: fc.constantFrom<Type>('blob', 'tree', 'tree', 'commit', 'commit', 'tag'),
    picks: fc.array(fc.nat(1000), { minLength: 3, maxLength: 9 }),
    odd: fc.nat(1_000_000),
  }),
  { minLength: 3, maxLength: 14 },
);

/**
 * Generates random pushes. Objects link only to earlier objects of the right type. Each ref in `names` points to a
 * random object. If `isOdd` is true, some objects are valid only for a receiver without fsck.
 */
export function randomPushes(names: readonly string[], isOdd: boolean): fc.Arbitrary<RandomPush> {
  return fc.tuple(plans, fc.array(fc.nat(1000), { minLength: names.length, maxLength: names.length })).map((args) => {
    const made = build(args[0], isOdd);
    return { objects: [...made.objects.values()], tips: pickTips(made, names, args[1]) };
  });
}

interface Made {
  readonly objects: Map<string, RawObject>;
  readonly ids: Record<Type, string[]>;
}

function build(wanted: readonly Plan[], isOdd: boolean): Made {
  const made: Made = { objects: new Map(), ids: { blob: [], tree: [EMPTY_TREE], commit: [], tag: [] } };
  const add = (type: Type, body: Buffer) => {
    const object = { type, body };
    const oid = oidOf(object);
    made.objects.set(oid, object);
    if (!made.ids[type].includes(oid)) made.ids[type].push(oid);
    return oid;
  };
  add('blob', Buffer.from('first'));
  add('commit', commitBody(made, { type: 'commit', picks: [0, 0, 0], odd: 0 }, isOdd));
  for (const plan of wanted) {
    if (plan.type === 'blob') add('blob', latin1(pick(BLOBS, plan.odd)));
    else if (plan.type === 'tree') add('tree', treeBody(made, plan, isOdd));
    else if (plan.type === 'commit') add('commit', commitBody(made, plan, isOdd));
    else add('tag', tagBody(made, plan, isOdd));
  }
  return made;
}

function treeBody({ ids }: Made, { picks, odd }: Plan, isOdd: boolean): Buffer {
  const entries = picks.map((at, index) => {
    const kind = at % 10;
    const name = pick(NAMES.slice(0, isOdd ? NAMES.length : 8), at + index);
    const mode = (modes: readonly string[]) => (isOdd ? pick(modes, at >> 3) : modes[0]!);
    if (kind < 3) return { name: `${name}${isOdd ? '' : 't'}`, mode: mode(MODES.tree), oid: pick(ids.tree, at >> 2) };
    if (kind < 8) return { name, mode: mode(MODES.file), oid: pick(ids.blob, at >> 2) };
    if (kind === 8) return { name: `${name}l`, mode: '120000', oid: pick(ids.blob, at >> 2) };
    const gitlink = at & 64 ? pick(ids.commit, at) : String(1 + (at % 9)).repeat(40);
    return { name: `${name}s`, mode: mode(GITLINKS), oid: gitlink };
  });
  // Build a tree like that of git notes, in which each file name is an object id. With fan-out, the first two digits of
  // the id are the name of a folder.
  if (odd % 3 === 0) {
    const target = pick(ids.commit, odd);
    const isFanned = odd % 2 === 0;
    const isTree = isOdd && odd % 5 === 0;
    entries.push(
      isFanned && !isTree
        ? { name: target.slice(0, 2), mode: '40000', oid: pick(ids.tree, odd) }
        : { name: target, mode: isTree ? '40000' : '100644', oid: pick(isTree ? ids.tree : ids.blob, odd >> 2) },
    );
  }
  const unique = new Map(entries.map((entry) => [entry.name, entry]));
  const sorted = [...unique.values()].sort((a, b) => (key(a) < key(b) ? -1 : 1));
  const kept = isOdd && odd % 2 === 0 ? entries : sorted;
  return Buffer.concat(
    kept.map(({ name, mode, oid }) => Buffer.concat([latin1(`${mode} ${name}\0`), Buffer.from(oid, 'hex')])),
  );
}

function key({ name, mode }: { name: string; mode: string }): string {
  return mode.endsWith('40000') ? `${name}/` : name;
}

function commitBody({ ids }: Made, { picks, odd }: Plan, isOdd: boolean): Buffer {
  const parents = picks.slice(1, 1 + (odd % 4)).flatMap((at) => (ids.commit.length > 0 ? [pick(ids.commit, at)] : []));
  const author = pick(isOdd ? IDENTITIES : IDENTITIES.slice(0, 3), odd);
  const committer = pick(isOdd ? IDENTITIES : IDENTITIES.slice(0, 3), odd >> 3);
  const people = isOdd && odd % 7 === 0 ? '' : `author ${author}\ncommitter ${committer}\n`;
  const header = pick(isOdd ? HEADERS : HEADERS.slice(0, 7), odd >> 5);
  const message = pick(isOdd ? MESSAGES : MESSAGES.slice(0, 2), odd >> 8);
  const lines = [`tree ${pick(ids.tree, picks[0]!)}\n`, ...parents.map((parent) => `parent ${parent}\n`)];
  return latin1(`${lines.join('')}${people}${header}${message}`);
}

function tagBody({ ids }: Made, { picks, odd }: Plan, isOdd: boolean): Buffer {
  const type = pick(
    (['commit', 'tree', 'blob', 'tag'] as const).filter((one) => ids[one].length > 0),
    picks[0]!,
  );
  const tagger = isOdd && odd % 3 === 0 ? '' : `tagger ${pick(isOdd ? IDENTITIES : IDENTITIES.slice(0, 3), odd)}\n`;
  const name = pick(isOdd ? ['v1', '', '..', '\xff', 'a b'] : ['v1', 'v2'], odd >> 4);
  const message = pick(isOdd ? MESSAGES : MESSAGES.slice(0, 1), odd >> 8);
  return latin1(`object ${pick(ids[type], picks[1]!)}\ntype ${type}\ntag ${name}\n${tagger}${message}`);
}

/** Chooses a target object for each ref. A branch must point to a commit, and any other ref may point to any object. */
function pickTips({ ids }: Made, names: readonly string[], picks: readonly number[]): RandomPush['tips'] {
  const all = [...ids.tag, ...ids.tree, ...ids.blob, ...ids.commit];
  return names.map((ref, index) => ({
    ref,
    oid: pick(ref.startsWith('refs/heads/') ? ids.commit : all, picks[index]!),
  }));
}

function latin1(text: string): Buffer {
  return Buffer.from(text, 'latin1');
}

function pick<T>(from: readonly T[], at: number): T {
  return from[at % from.length]!;
}
