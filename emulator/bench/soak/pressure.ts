import type { Oid } from '../../git/object/object.js';
import type { Remote } from '../remote.js';
import { commitBody } from './user.js';

const REPO = 'pressure';
const LINES = 60_000;

/** A repository whose content is chosen to be hard to search and to compare. */
export async function seedPressure(remote: Remote): Promise<void> {
  await remote.create(REPO, 'main');
  for (const turn of [0, 1]) {
    const shuffled = Array.from({ length: LINES }, (_, line) => String((line * (turn === 0 ? 7919 : 104_729)) % 977));
    const files = new Map([
      ['lines.txt', Buffer.from(`${shuffled.join('\n')}\n`)],
      ['long.txt', Buffer.from(`${'a'.repeat(1_000_000)}${turn}\n`)],
      [`${'a'.repeat(200)}.txt`, Buffer.from(`${turn}\n`)],
    ]);
    const { status } = await remote.api(REPO, `/api/repos/${REPO}/commit-pack`, { body: commitBody(files) });
    if (status !== 201) throw new Error(`the repository for pressure was not written: ${status}`);
  }
}

/** Requests that keep a server busy, by name; each resolves to its status. */
export function pressures(remote: Remote, pack: { oid: Oid; pack: Buffer }): Record<string, () => Promise<number>> {
  const ask = async (target: string, json?: unknown) => {
    const options = json === undefined ? {} : { json };
    return (await remote.api(REPO, `/api/repos/${REPO}${target}`, options)).status;
  };
  let pushes = 0;
  return {
    'a large push': async () => {
      const repo = `heavy-${++pushes}`;
      await remote.create(repo, 'main');
      await remote.pushPack(repo, [{ name: 'refs/heads/main', oid: pack.oid }], pack.pack);
      await remote.delete(repo);
      return 200;
    },
    'a hostile expression': () => ask('/grep', { query: { pattern: '(a*)*(a|aa)+(a?){40}b' } }),
    'a hostile glob': () =>
      ask('/grep', { query: { pattern: '1' }, file_filters: { include_globs: [`${'*a'.repeat(60)}b`] } }),
    'a hostile diff': () => ask('/diff?ref=main'),
  };
}
