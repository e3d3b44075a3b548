import iconv from 'iconv-lite';
import t from 'tap';
import { sample } from '../../test/sample.js';
import { MemoryObjects } from '../test/memory-objects.js';
import { ScratchGit } from '../test/workbench.js';
import { bytesIn, splitBytes } from './bytes.js';
import { readCommit } from './commit.js';
import { decodeText } from './text-encoding.js';

// Compares how commits are decoded with the output of `git log`. Git converts with glibc's iconv, and shows the bytes
// unchanged if the conversion fails.

const SINGLE_BYTE = [
  ...['1', '2', '3', '4', '5', '6', '7', '8', '9', '10', '13', '14', '15', '16'].map((part) => `ISO-8859-${part}`),
  ...['latin1', 'LATIN-1', 'iso8859-1', 'L2', 'US-ASCII', 'KOI8-R', 'KOI8-U', 'TIS-620', 'ARMSCII-8', 'HP-ROMAN8'],
  ...[1250, 1251, 1252, 1253, 1254, 1256, 1257].flatMap((page) => [`windows-${page}`, `cp${page}`]),
  ...[437, 737, 775, 850, 852, 855, 857, 858, 860, 861, 862, 863, 865, 866, 869].map((page) => `cp${page}`),
  ...['IBM437', 'ibm850', '866', 'WINDOWS-874', 'PT154', 'RK1048', 'ISO_8859-15', 'latin9'],
];
const UTF8 = ['', 'UTF-8', 'utf8', 'UTF8', 'Utf-8', 'utf_8', 'nonsense', 'constructor', '__proto__', 'hex', 'base64'];
const TEXTS: Readonly<Record<string, string>> = {
  'ISO-2022-JP': '日本語〜 ascii ~\\',
  CP932: '日本語のテキスト～①髙 ｱｲｳ ~\\',
  'WINDOWS-31J': '表示 ソース',
  Shift_JIS: '日本語のテキスト ｱｲｳ 表示 ソース',
  SJIS: '漢字',
  'EUC-JP': '日本語のテキスト ｱｲｳ',
  GBK: '简体中文繁體',
  CP936: '简体中文€',
  GB2312: '简体中文',
  GB18030: '简体中文😀é',
  Big5: '繁體中文',
  CP950: '繁體中文',
  'EUC-KR': '한국어',
  CP949: '한국어 똠방각하',
};
/** Encodes a text. ISO-2022-JP has literal bytes, because iconv-lite cannot encode it. */
const encode = (text: string, label: string) =>
  label === 'ISO-2022-JP' ? Buffer.from('\x1b$BF|K\\8l!A\x1b(B ascii ~\\', 'latin1') : iconv.encode(text, label);
const LABELS = [...SINGLE_BYTE, ...Object.keys(TEXTS)];

interface Sample {
  readonly label: string;
  readonly author: Buffer;
  readonly message: Buffer;
}

/**
 * Decodes commits with these samples. Returns the samples whose author or message differs from the output of `git log`.
 */
function differences(samples: readonly Sample[]): string[] {
  using git = new ScratchGit();
  const objects = new MemoryObjects();
  const tree = objects.add('tree', '');
  const oids = samples.map(({ label, author, message }) =>
    objects.add(
      'commit',
      Buffer.concat([
        Buffer.from(`tree ${tree}\nauthor `),
        author,
        Buffer.from(` <a@example.com> 1 +0000\ncommitter C <c@example.com> 1 +0000\n`),
        Buffer.from(label === '' ? '\n' : `encoding ${label}\n\n`),
        message,
      ]),
    ),
  );
  git.copy(objects);
  const { stdout } = git.try(
    ['log', '--no-walk=unsorted', '--stdin', '--format=%x1d%an%x1d%B%x1d'],
    `${oids.join('\n')}\n`,
  );
  const shown = splitBytes(bytesIn(stdout), '\x1d');
  return samples.flatMap(({ label }, index) => {
    const [author, message] = [shown[index * 3 + 1]!, shown[index * 3 + 2]!];
    const commit = readCommit(objects, oids[index]!);
    const [own, theirs] = [
      [commit.author.name, commit.message.trimEnd()],
      [decodeText(author), decodeText(message).trimEnd()],
    ].map((texts) => JSON.stringify(texts));
    return own === theirs ? [] : [`${label}: ${own} instead of ${theirs}`];
  });
}

const chunks = (from: number, to: number, size: number) =>
  Array.from({ length: (to - from) / size }, (_, index) =>
    Buffer.from(Array.from({ length: size }, (_, at) => from + index * size + at)),
  );
const ascii = Buffer.from('ascii');

t.test('each byte of single-byte encodings is decoded as by git log', async (t) => {
  const samples = sample(t, SINGLE_BYTE, 6).flatMap((label) =>
    chunks(0x80, 0x100, 4).map((message) => ({ label, author: ascii, message })),
  );
  t.same(differences(samples), []);
});

t.test('texts in multi-byte encodings are decoded as by git log', async (t) => {
  const samples = Object.entries(TEXTS).flatMap(([label, text]) => {
    const message = encode(text, label);
    return [
      { label, author: ascii, message },
      { label, author: message, message: ascii },
      { label: label.toLowerCase(), author: message, message },
      { label, author: ascii, message: message.subarray(0, -1) },
    ];
  });
  t.same(differences(samples), []);
});

t.test('text that is invalid in its encoding is kept unchanged as a whole', async (t) => {
  const utf8 = Buffer.from('Grüße, 日本語, 한국어, €');
  const samples = [...UTF8, ...LABELS].flatMap((label) => [
    { label, author: utf8, message: utf8 },
    { label, author: Buffer.from('\xe9', 'latin1'), message: utf8 },
    { label, author: utf8, message: Buffer.from('\xe9 ', 'latin1') },
    { label, author: ascii, message: Buffer.from('\x1b$B', 'latin1') },
  ]);
  t.same(differences(samples), []);
});
