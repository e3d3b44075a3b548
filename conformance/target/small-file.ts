import { open } from 'node:fs/promises';

/** A file that cannot be read; the message is the rest of a sentence that its name begins: `… cannot be read: …`. */
export class UnreadableFile extends Error {
  override readonly name = 'UnreadableFile';
}

const MEBIBYTE = 2 ** 20;

/** Why a file cannot be read, in words; the codes are those of the system. */
const WHY: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'a part of its path is no folder',
  EISDIR: 'it is a folder',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ENAMETOOLONG: 'its name is too long',
  ELOOP: 'its links go in circles',
  ERR_INVALID_ARG_VALUE: 'its name is none',
};

/** The text of a file that people write, of at most a mebibyte. Throws `UnreadableFile`. */
export async function readSmallFile(path: string): Promise<string> {
  try {
    const handle = await open(path, 'r');
    try {
      const parts: Buffer[] = [];
      for (let size = 0; ; ) {
        const part = Buffer.alloc(64 * 1024);
        const { bytesRead } = await handle.read(part, 0, part.length, null);
        if (bytesRead === 0)
          return Buffer.concat(parts)
            .toString('utf8')
            .replace(/^\uFEFF/, '');
        size += bytesRead;
        if (size > MEBIBYTE) throw new UnreadableFile('cannot be read: it is larger than 1 MiB');
        parts.push(part.subarray(0, bytesRead));
      }
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (error instanceof UnreadableFile) throw error;
    const { code = '', message } = error as NodeJS.ErrnoException;
    throw new UnreadableFile(`cannot be read: ${Object.hasOwn(WHY, code) ? `${WHY[code]} (${code})` : message}`);
  }
}
