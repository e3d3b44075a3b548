import { ScratchGit } from '../../test/scratch-git.js';

/**
 * A repository with `commits` commits on `main`, each changing some of `files` files in folders, so that
 * packs of it have delta chains of blobs and trees; and an annotated tag.
 */
export function generateHistory(commits: number, files = 12): ScratchGit {
  const git = new ScratchGit('--bare');
  const stream: string[] = [];
  const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`;
  const contents = Array.from({ length: files }, (_, file) => lines(file, 60));
  for (let commit = 0; commit < commits; commit++) {
    stream.push('commit refs/heads/main\n', `mark :${commit + 1}\n`);
    stream.push(`committer C O Mitter <committer@example.com> ${1_700_000_000 + commit * 60} +0000\n`);
    stream.push(data(`commit number ${commit}\n`));
    for (let file = 0; file < files; file++) {
      if (commit > 0 && (commit + file) % 5 !== 0) continue;
      const text = contents[file]!;
      text[(commit * 7 + file) % text.length] = `line changed by ${commit} in ${file}`;
      if (commit % 3 === 0) text.push(`added by ${commit}`);
      stream.push(`M 100644 inline folder${file % 3}/deep${file % 2}/file${file}.txt\n`, data(`${text.join('\n')}\n`));
    }
  }
  stream.push(`tag v1\nfrom :${commits}\ntagger T <t@example.com> 1700000000 +0000\n`, data('a tag\n'));
  git.run(['fast-import', '--quiet'], stream.join(''));
  return git;
}

/** Text that does not compress to nothing and differs between files. */
function lines(seed: number, count: number): string[] {
  let state = seed + 1;
  return Array.from({ length: count }, () => {
    state = Math.imul(state, 1_103_515_245) + 12_345;
    return `${(state >>> 0).toString(36)} ${((state >>> 7) * 31).toString(36)} some words`;
  });
}
