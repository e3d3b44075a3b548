import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { DOCUMENTS, printedParts, ROOT, readDocument } from './documents.js';

t.test('tables are what the commands print that they name', async (t) => {
  let count = 0;
  for (const name of DOCUMENTS) {
    for (const { command, found, expected } of await printedParts(name)) {
      count += 1;
      t.equal(found, expected, `${name}: npm run documents prints what ${command} says`);
    }
  }
  t.ok(count >= 4);
});

t.test('the first page is short', async (t) => {
  t.ok(readDocument('README.md').split('\n').length < 150);
});

/** As links to headings are made of them: "## Where to go on" is `#where-to-go-on`. */
function anchorsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/ /g, '-'),
  );
}

t.test('links lead to files and headings that exist', async (t) => {
  for (const name of DOCUMENTS) {
    const text = readDocument(name);
    for (const [, target = ''] of text.matchAll(/\]\((?!https?:)([^)\s]+)\)/g)) {
      const [path = '', anchor] = target.split('#');
      const file = path === '' ? name : join(dirname(name), path);
      const place = existsSync(join(ROOT, file, 'README.md')) ? join(file, 'README.md') : file;
      t.ok(existsSync(join(ROOT, place)), `${name}: ${target}`);
      if (anchor !== undefined) t.ok(anchorsOf(readDocument(place)).includes(anchor), `${name}: ${target}`);
    }
  }
});

t.test('documents name no file that is not there', async (t) => {
  for (const name of DOCUMENTS) {
    for (const [, path = ''] of readDocument(name).matchAll(/`((?:emulator|conformance|bin)\/[\w./-]+\.\w+)`/g)) {
      t.ok(existsSync(join(ROOT, path)), `${name}: ${path}`);
    }
  }
});
