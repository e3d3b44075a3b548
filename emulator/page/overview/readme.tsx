import type { BlobRecord, RepositoryRecord, TreeEntry } from '@emulator/admin/repositories.js';
import { all, get, route } from '../api/client.js';
import { GivenBlock } from '../components/given.js';
import { useLoaded } from '../components/loaded.js';
import { ScrollBox } from '../components/scroll-box.js';
import { bytes, count } from '../components/time.js';
import { writePlace } from '../place.js';
import { textOf } from '../repositories/file.js';
import { Part } from './part.js';
import { findReadme, firstLines } from './readme-text.js';

/** Maximum number of lines of the README that are shown. */
const MAX_LINES = 200;

/**
 * Maximum number of characters that are shown at first. It matters only for very long lines; a button shows more
 * characters.
 */
const MAX_CHARACTERS = 20_000;

/** Part of the overview with the text of the README in the root folder of HEAD. Markdown is not rendered. */
export function Readme({ name, head }: Pick<RepositoryRecord, 'name' | 'head'>) {
  const loaded = useLoaded(
    async (signal) => {
      if (head === null) return { file: undefined };
      const tree = route`repositories/${name}/tree/${head}`;
      const file = findReadme(await all<TreeEntry>(tree, { query: { limit: 1000 }, signal }));
      if (file === undefined) return { file };
      return { file, blob: await get<BlobRecord>(route`repositories/${name}/blob/${file.oid}`, { signal }) };
    },
    [name, head],
  );
  const { file } = loaded.value ?? {};
  const href = file && writePlace('repository', { name, tab: 'files', path: file.name });
  return (
    <Part title="README" loaded={loaded} {...(href !== undefined && { link: [href, file!.name] })}>
      {({ blob }) =>
        blob === undefined ? (
          <p class="quiet">The root folder has no README.</p>
        ) : (
          <Text blob={blob} href={href!} name={file!.name} />
        )
      }
    </Part>
  );
}

interface TextProps {
  readonly blob: BlobRecord;
  readonly href: string;
  readonly name: string;
}

function Text({ blob, href, name }: TextProps) {
  const text = textOf(blob);
  if (text === undefined) return <p class="quiet">Binary, {bytes(blob.size)}: not shown.</p>;
  if (text === '') return <p class="quiet">The file is empty.</p>;
  const shown = firstLines(text, MAX_LINES);
  // A line feed after the last shown line does not count as a further line.
  const isCut = blob.is_truncated || shown.length < text.replace(/\n$/, '').length;
  return (
    <div class="readme">
      <ScrollBox label={`Text of ${name}`}>
        <GivenBlock text={shown} most={MAX_CHARACTERS} />
      </ScrollBox>
      {isCut && (
        <p class="quiet">
          At most {count(MAX_LINES)} lines are shown. <a href={href}>Show the file</a> ({bytes(blob.size)}).
        </p>
      )}
    </div>
  );
}
