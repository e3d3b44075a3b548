import t from 'tap';
import { repositoryFolder } from './file-names.js';

t.test('names of folders', async (t) => {
  const rows: [string, string][] = [
    ['team/app', 'demo/team/app.git'],
    ['a.b_c-1', 'demo/a.b_c-1.git'],
    ['App', 'demo/%41pp.git'],
    ['a.git/b', 'demo/a%2egit/b.git'],
    ['.hidden', 'demo/%2ehidden.git'],
    ['a./b', 'demo/a%2e/b.git'],
    ['con', 'demo/%63on.git'],
    ['nul.txt/lpt1', 'demo/%6eul.txt/%6cpt1.git'],
    ['console', 'demo/console.git'],
    ['ä b%', 'demo/%c3%a4%20b%25.git'],
  ];
  for (const [name, folder] of rows) t.equal(repositoryFolder('demo', name), folder);
});

t.test('different names have different files inside their folder, on any file system', async (t) => {
  const parts = [
    'a',
    'A',
    'a.git',
    'á',
    'a\u0301',
    '.',
    '..x',
    'con',
    'CON',
    'a~',
    'x'.repeat(255),
    'X'.repeat(255),
    'ä'.repeat(100),
    'a b',
    'a+b',
    'a:b',
    'a|b',
    '%41',
  ];
  const names = [...parts, ...parts.flatMap((one) => parts.map((other) => `${one}/${other}`))].filter(
    (name) => !/(^|\/)\.($|\/)/.test(name),
  );
  const seen = new Map<string, string>();
  for (const name of names) {
    const folder = repositoryFolder('demo', name);
    t.equal(seen.get(folder.toLowerCase().normalize('NFC')), undefined, `${name.slice(0, 40)} has its own`);
    seen.set(folder.toLowerCase().normalize('NFC'), name);
    t.ok(
      folder
        .split('/')
        .every(
          (part) => /^[a-z0-9_%-][a-z0-9._%~-]*$/.test(part) && Buffer.byteLength(part) <= 255 && !part.endsWith('.'),
        ),
      folder,
    );
  }
  // Check that the folder of one repository is never inside the folder of another repository.
  for (const folder of seen.keys())
    for (const other of [...seen.keys()].slice(0, 40)) t.notOk(folder.startsWith(`${other}/`));
});
